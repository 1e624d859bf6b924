//! Writes with flushes around them.

use super::*;

#[test]
fn found_with_the_part_of_the_flushes() {
    let mut recording = TraceBuilder::default();
    for i in 0..50 {
        recording.flushed_write(20 * i * MS, 4 * MS, 2 * MS);
    }
    recording.settings("sda/queue/write_cache: write back\n");
    let v = recording.verdict("flush-cost");
    assert!((found(&v) - 0.8).abs() < 0.01, "{v:?}");
    assert!(
        v.evidence.iter().any(|e| e.sentence().contains("flushed 100 times for 50 synchronous writes")),
        "{v:?}"
    );
    let risky = v.remedies.iter().find(|r| r.command().contains("write through")).expect("a remedy");
    assert!(risky.what.contains("loses data"), "{risky:?}");
}

#[test]
fn rejected_where_the_data_is_slow() {
    let mut recording = TraceBuilder::default();
    for i in 0..50 {
        recording.flushed_write(200 * i * MS, MS, 100 * MS);
    }
    assert!(rejected(&recording.verdict("flush-cost")).contains("2.0 %"));
}

/// Writes of 100 ms, of which two flushes took so much.
fn flushes(ms: u64, settings: &str, mounts: &str) -> Verdict {
    let mut recording = TraceBuilder::default();
    for i in 0..50 {
        recording.flushed_write(200 * i * MS, ms * MS / 2, (100 - ms) * MS);
    }
    recording.settings(&format!("sda/queue/rotational: 0\n{settings}")).document("mounts.txt", mounts);
    recording.verdict("flush-cost")
}

#[test]
fn a_tenth_in_flushes_is_the_threshold() {
    assert!(is_found(&flushes(11, "", "")));
    let below = flushes(9, "", "");
    assert!(rejected(&below).contains("flushes are 9.0 % of the time"), "{below:?}");
    let mut reads = TraceBuilder::default();
    quick_reads(&mut reads, 0, 200);
    let v = reads.verdict("flush-cost");
    assert!(rejected(&v).contains("no slow operation waited for a flush") && v.minor, "{v:?}");
}

/// Reads of 0.2 ms that meet a flush of 10 ms; without the flushes they are not slow.
#[test]
fn who_is_behind_a_flush_waits_for_it() {
    let verdict = |behind: bool| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 200);
        for i in 0..50 {
            let at = (1000 + 100 * i) * MS;
            let read = if behind { at + MS } else { at + 50 * MS };
            let done = if behind { at + 10 * MS + MS / 5 } else { read + MS / 5 };
            recording.flushed_write(at, 10 * MS, MS).read(read, read, done);
        }
        recording.verdict("flush-cost")
    };
    let v = verdict(true);
    assert!(is_found(&v) && says(&v, "the slowest reads waited for flushes of the device's cache"), "{v:?}");
    assert!(!says(&verdict(false), "reads waited"));
}

#[test]
fn without_a_volatile_cache_there_is_nothing_to_turn_off() {
    let risky = "echo \"write through\" > /sys/block/sda/queue/write_cache";
    let back = flushes(80, "sda/queue/write_cache: write back\n", "");
    assert!(
        says(&back, "sda was flushed 100 times for 50 synchronous writes")
            && says(&back, "a flush took 40 ms (p50"),
        "{back:?}"
    );
    assert!(commands(&back).contains(&risky.to_string()) && back.missing.is_empty(), "{back:?}");
    let through = flushes(80, "sda/queue/write_cache: write through\n", "");
    assert!(!commands(&through).contains(&risky.to_string()), "{through:?}");
    assert!(
        through.refutes[0].sentence().contains("write_cache is \"write through\" already (queue-sda.txt:2)"),
        "{through:?}"
    );
    let unknown = flushes(80, "", "");
    assert!(
        !commands(&unknown).contains(&risky.to_string())
            && unknown.missing[0].sentence().contains("whether sda has a volatile cache"),
        "{unknown:?}"
    );
}

#[test]
fn the_log_of_a_file_system_is_put_elsewhere() {
    let last = |fs: &str| {
        commands(&flushes(80, "", &format!("/dev/sda /mnt {fs} rw 0 0\n"))).last().map(|c| c.to_string())
    };
    assert_eq!(last("xfs").as_deref(), Some("mkfs.xfs -l logdev=/dev/FAST,size=512m /dev/NEW"));
    let ext4 =
        "umount /mnt && mke2fs -O journal_dev /dev/FAST && tune2fs -O ^has_journal /dev/sda && tune2fs -J \
                device=/dev/FAST /dev/sda && mount /dev/sda /mnt";
    assert_eq!(last("ext4").as_deref(), Some(ext4));
    assert!(last("vfat").is_some_and(|c| c.starts_with("strace")));
}

/// A task that only reads sends no synchronous writes.
#[test]
fn who_sends_the_synchronous_writes_is_named() {
    let mut recording = TraceBuilder::default();
    recording.called("db", "flusher");
    for i in 0..50 {
        recording.flushed_write(200 * i * MS, 40 * MS, 20 * MS);
    }
    for i in 0..80 {
        recording.writeback(20_000 * MS + i * MS, 20_000 * MS + i * MS, 20_001 * MS + i * MS, 4);
    }
    let v = recording.verdict("flush-cost");
    assert!(
        v.remedies[0].what.contains("count the fsyncs of db, which sent 100 % of the synchronous writes"),
        "{v:?}"
    );
}
