//! A driver that requeues requests.

use super::*;

/// 200 quick reads, then twenty that wait so long between being given back and being taken, and are in the device for 4 ms; beside
/// each another one that waits in the scheduler meanwhile, and is there alone.
fn refused(requeued: u64) -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 200);
    for i in 0..20 {
        let at = (1000 + 200 * i) * MS;
        recording.read_requeued(at, at + MS, at + MS + requeued, at + 5 * MS + requeued);
        let sent = at + MS + requeued + 10;
        recording.scheduled_read(at, sent, sent + 4 * MS);
    }
    recording
}

#[test]
fn found_with_what_it_took_nothing_for() {
    let v = refused(95 * MS).verdict("device-busy");
    // 95 of 100 ms, of those that were given back and of those behind them.
    assert!((found(&v) - 0.95).abs() < 0.02, "{v:?}");
    assert!(v.evidence[0].sentence().contains("requeued requests 20 times, of 240 in all"), "{v:?}");
}

#[test]
fn a_tenth_is_the_threshold() {
    // 0.6 of 5.6 ms, and 0.5 of 5.5.
    assert!(found(&refused(600).verdict("device-busy")) > 0.1);
    assert!(
        rejected(&refused(500).verdict("device-busy")).contains("requeued requests 20 times, but that was 9")
    );
}

#[test]
fn a_wait_in_the_scheduler_while_it_takes_others_is_not_its_own() {
    let mut recording = refused(10);
    for i in 0..20 {
        let at = (9000 + 200 * i) * MS;
        recording.scheduled_read(at, at + 95 * MS, at + 100 * MS);
    }
    rejected(&recording.verdict("device-busy"));
}

#[test]
fn nothing_was_given_back() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 200);
    assert!(rejected(&recording.verdict("device-busy")).contains("no driver requeued a request"));
    cannot_tell(&refused(95 * MS).lost(500).verdict("device-busy"));
}

/// As many reads alone as in company of three, which take so long.
fn in_company(ms: u64) -> TraceBuilder {
    let mut recording = refused(95 * MS);
    for i in 0..40 {
        let at = (9000 + 50 * i) * MS;
        for k in 0..4 {
            recording.read(at + k, at + k, at + k + ms * MS);
        }
    }
    recording
}

#[test]
fn a_device_that_would_be_no_faster_is_saturated() {
    let mut recording = in_company(8);
    assert!(rejected(&recording.verdict("device-busy")).contains("it would be no faster if it took them"));
    let v = recording.verdict("device-saturated");
    // Those that were given back; nothing was in it meanwhile, so those behind them waited for an idle device.
    assert!(found(&v) > 0.4, "{v:?}");
    assert!(
        v.evidence.iter().any(|e| e.sentence().contains("it was full, and its driver requeued requests")),
        "{v:?}"
    );
    found(&in_company(1).verdict("device-busy"));
}

/// Small reads, alone and in groups, take 1 ms; one beside a large read takes as long as that, and one more is given back meanwhile.
fn beside_large_reads(ms: u64) -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 200);
    for i in 0..40 {
        let at = (1000 + 10 * i) * MS;
        for k in 0..5 {
            recording.read(at + k, at + k, at + k + MS);
        }
        let at = (9000 + 200 * i) * MS;
        recording.large_read(at, at + 95 * MS, 1024);
        recording.read(at + 10, at + 10, at + 10 + ms * MS);
        recording.read_requeued(at + 20, at + 30, at + 95 * MS, at + 96 * MS);
    }
    recording
}

/// By the number of others it takes no longer: many requests in flight are many small ones.
#[test]
fn bytes_fill_a_device_too() {
    let v = beside_large_reads(90).verdict("device-busy");
    assert!(
        rejected(&v).contains("with many bytes in flight reads took 90 ms in the device (mean)"),
        "{v:?}"
    );
    found(&beside_large_reads(1).verdict("device-busy"));
}

#[test]
fn a_scsi_device_is_asked_for_less_at_once() {
    let mut recording = in_company(1);
    recording.settings("sda/device/queue_depth: 32\n");
    let v = recording.verdict("device-busy");
    assert_eq!(v.remedies[0].command(), "echo 4 > /sys/block/sda/device/queue_depth");
    // A limit that it does not exceed anyway is no remedy.
    let mut recording = in_company(1);
    recording.settings("sda/device/queue_depth: 4\n");
    assert!(recording.verdict("device-busy").remedies[0].command().starts_with("dmesg"));
}

/// Large requests take many descriptors of a virtio queue: such that are an eighth leave room for others.
#[test]
fn a_virtio_disk_is_sent_smaller_requests() {
    let of = |disk: &'static str, kib: u64, settings: &str| {
        let mut recording = TraceBuilder::of_any_kind();
        for i in 0..240 {
            recording.large_read(2 * i * MS, (2 * i + 1) * MS, kib);
        }
        for i in 0..20 {
            let at = (1000 + 200 * i) * MS;
            recording.read_requeued(at, at + MS, at + 96 * MS, at + 100 * MS);
        }
        recording.on(disk).document(&format!("queue-{disk}.txt"), settings);
        let v = recording.verdict("device-busy");
        found(&v);
        (commands(&v)[0].replace(&format!(" > /sys/block/{disk}/queue/max_sectors_kb"), ""), v)
    };
    // Beside 20 of 4 KiB: 945, 473 and 591 KiB on average.
    assert_eq!(of("vda", 1024, "").0, "echo 128");
    assert_eq!(of("vda", 512, "").0, "echo 64");
    assert_eq!(of("vda", 128, "").0, "echo 64");
    for (disk, kib) in [("sda", 1024), ("vda", 64), ("vda", 32)] {
        assert!(of(disk, kib, "").0.starts_with("dmesg"), "{disk} {kib}");
    }
    let (_, v) = of("vda", 1024, "vda/queue/max_sectors_kb: 1280\nvda/mq/0/nr_tags: 256\n");
    assert!(
        v.remedies[0].what.starts_with("max_sectors_kb 1280 -> 128 (queue-vda.txt:1): requests were"),
        "{v:?}"
    );
    assert!(says(&v, "; its driver has 256 tags (mq/*/nr_tags)"), "{v:?}");
}
