//! A device whose tags are in use, and waits that have nothing to do with that.

use super::*;
use crate::case::Case;
use stats::Focus;
use trace::{DevId, Quality};

/// Four tags: groups of four reads of 2 ms, each beginning when the one before is done; all are asked for at once.
fn four_tags(recording: &mut TraceBuilder, at_ms: u64, groups: u64, write: bool) {
    for group in 0..groups {
        for i in 0..4 {
            let (queued, got) = (at_ms * MS + 4 * group.min(1) + i, (at_ms + 2 * group) * MS + i);
            let done = (at_ms + 2 * group + 2) * MS + i;
            match write {
                true => recording.write_without_tag(queued, got, done),
                false => recording.read_without_tag(queued, got, done),
            };
        }
    }
}

fn crowded(write: bool) -> TraceBuilder {
    let mut recording = TraceBuilder::of_any_kind();
    quick_reads(&mut recording, 0, 100);
    for i in 0..50 {
        four_tags(&mut recording, 1000 + 100 * i, 8, write);
    }
    recording
}

#[test]
fn found_in_a_full_device() {
    let mut recording = crowded(false);
    recording.settings("sda/queue/scheduler: [none] mq-deadline\nsda/queue/nr_requests: 128\n");
    let v = recording.verdict("tag-exhaustion");
    assert!(found(&v) > 0.7, "{v:?}");
    assert_eq!(v.confidence, Some(Confidence::High));
    assert!(v.evidence[0].sentence().contains("4 requests were in sda then, never more"), "{v:?}");
    assert!(v.evidence.iter().any(|e| e.sentence().contains("nr_requests shows 128")), "{v:?}");
    // The kernel ignores a number that it already shows.
    let hidden = "echo 127 > /sys/block/sda/queue/nr_requests; echo 128 > /sys/block/sda/queue/nr_requests";
    assert_eq!(v.remedies[0].command(), hidden);
}

/// Of a device that was never seen with less in it, the completions tell that it serves one at a time.
#[test]
fn with_more_tags_requests_wait_in_a_device_that_serves_one_at_a_time() {
    let of = |in_turn: bool| {
        let mut recording = TraceBuilder::of_any_kind();
        (0..50).for_each(|i| four_tags(&mut recording, 1000 + 100 * i, 8, false));
        let (mut facts, system) = recording.parts();
        for device in &mut facts.devices {
            device.model.in_turn = in_turn;
            device.contention = Default::default();
        }
        let (focus, quality) = (Focus::of(&facts), Quality { events: 1000, ..Quality::default() });
        let names = |_: DevId| "sda".to_string();
        let all = crate::driver::judge(&mut Case::new(&facts, &focus, &system, &quality, &names));
        all.into_iter().filter(|v| v.verdict == Answer::Found).map(|v| v.cause).collect::<Vec<_>>()
    };
    assert!(of(false).contains(&"tag-exhaustion"), "{:?}", of(false));
    assert!(!of(true).contains(&"tag-exhaustion"), "{:?}", of(true));
}

#[test]
fn what_to_do_depends_on_the_limit() {
    let command = |settings: &str| {
        let v = crowded(false).settings(settings).verdict("tag-exhaustion");
        found(&v);
        v.remedies[0].command()
    };
    let none = "sda/queue/scheduler: [none]\n";
    let set = format!("{none}sda/queue/nr_requests: 4\n");
    assert_eq!(command(&set), "echo mq-deadline > /sys/block/sda/queue/scheduler");
    assert_eq!(
        command(&format!("{set}sda/mq/0/nr_tags: 64\n")),
        "echo 64 > /sys/block/sda/queue/nr_requests"
    );
    let scheduler = "sda/queue/scheduler: [mq-deadline] none\nsda/queue/nr_requests: 64\n";
    assert_eq!(command(scheduler), "echo 256 > /sys/block/sda/queue/nr_requests");
    assert!(command("sda/queue/rotational: 0\n").starts_with("grep -H"));
}

#[test]
fn writes_may_have_waited_for_throttling() {
    let mut recording = crowded(true);
    assert!(cannot_tell(&recording.verdict("tag-exhaustion")).contains("wbt_lat_usec was not recorded"));
    recording.settings("sda/queue/wbt_lat_usec: 2000\n");
    assert!(cannot_tell(&recording.verdict("tag-exhaustion")).contains("writeback throttling"));
    let mut off = crowded(true);
    found(&off.settings("sda/queue/wbt_lat_usec: 0\n").verdict("tag-exhaustion"));
    let mut limit = crowded(true);
    found(
        &limit.settings("sda/queue/wbt_lat_usec: 2000\nsda/queue/nr_requests: 4\n").verdict("tag-exhaustion"),
    );
}

#[test]
fn rejected_where_the_device_had_room() {
    let mut recording = TraceBuilder::default();
    four_tags(&mut recording, 0, 1, false);
    quick_reads(&mut recording, 100, 200);
    for i in 0..5 {
        // Nothing is in the device, and yet the request comes late.
        let at = (1000 + 100 * i) * MS;
        recording.read_without_tag(at, at + 50 * MS, at + 51 * MS);
    }
    assert!(rejected(&recording.verdict("tag-exhaustion"))
        .contains("but for only 0 % of it because sda was full (4 requests)"));
}

/// Four tags, of a device that serves one after the other: with more tags reads would wait in it for as long.
#[test]
fn rejected_where_the_device_is_no_faster_with_more() {
    let mut recording = TraceBuilder::default();
    (0..100).for_each(|i| {
        recording.read(10 * i * MS, 10 * i * MS, (10 * i + 2) * MS);
    });
    for group in 0..20 {
        let at = (2000 + 100 * group) * MS;
        for k in 0..12_u64 {
            let got = at + k + 2 * MS * k.saturating_sub(3);
            recording.read_without_tag(at + k, got, at + k + 2 * MS * (k + 1));
        }
    }
    assert!(rejected(&recording.verdict("tag-exhaustion")).contains("but sda is no faster with more in it"));
    let v = recording.verdict("device-saturated");
    assert!(found(&v) > 0.7 && says(&v, "which is the same queue"), "{v:?}");
}

#[test]
fn rejected_where_requests_come_at_once() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 200);
    for i in 0..5 {
        recording.read((1000 + 100 * i) * MS, (1000 + 100 * i) * MS, (1050 + 100 * i) * MS);
    }
    assert!(rejected(&recording.verdict("tag-exhaustion")).contains("(Q2G p99), 0 % of the time"));
}

/// A hundred reads of 20 ms one after the other: with four at once the device does more.
fn one_by_one(recording: &mut TraceBuilder) {
    for i in 0..100 {
        let at = (10_000 + 100 * i) * MS;
        recording.read(at, at, at + 20 * MS);
    }
}

/// Four tags, and so many reads that came while all were taken; after them so many that waited although none was in the device.
fn waits(full: u64, empty: u64) -> Verdict {
    let mut recording = TraceBuilder::default();
    one_by_one(&mut recording);
    for i in 0..10 {
        let at = (1000 + 200 * i) * MS;
        for k in 0..4 {
            recording.read(at + k, at + k, at + 50 * MS);
        }
        for k in 0..full {
            recording.read_without_tag(at + MS + k, at + 50 * MS + k, at + 51 * MS + k);
        }
        for k in 0..empty {
            let at = at + 60 * MS + k;
            recording.read_without_tag(at, at + 49 * MS, at + 50 * MS);
        }
    }
    recording.verdict("tag-exhaustion")
}

#[test]
fn half_of_the_waits_in_a_full_device_is_the_threshold() {
    assert!(is_found(&waits(3, 2)));
    assert!(rejected(&waits(2, 3)).contains("but for only 40 % of it because sda was full (4 requests)"));
}

#[test]
fn a_device_that_was_full_for_less_than_half_of_the_wait_is_not_why() {
    // Four tags are taken for so long; who waits for one gets it 50 ms after it came.
    let judge = |full: u64| {
        let mut recording = TraceBuilder::default();
        one_by_one(&mut recording);
        for i in 0..10 {
            let at = (1000 + 200 * i) * MS;
            for k in 0..4 {
                recording.read(at + k, at + k, at + full * MS);
            }
            for k in 0..4 {
                recording.read_without_tag(at + 10 + k, at + 50 * MS + k, at + 51 * MS + k);
            }
        }
        recording.verdict("tag-exhaustion")
    };
    assert!(is_found(&judge(26)));
    assert!(rejected(&judge(24)).contains("but for only 48 % of it because sda was full (4 requests)"));
}

/// Of what passes through a scheduler some waits for a tag of the scheduler's.
#[test]
fn a_scheduler_makes_less_sure() {
    let v = crowded(false).scheduled_read(90_000 * MS, 90_001 * MS, 90_002 * MS).verdict("tag-exhaustion");
    assert_eq!((found(&v) > 0.7, v.confidence), (true, Some(Confidence::Medium)));
}

#[test]
fn a_hundredth_is_worth_a_word_and_a_tenth_a_finding() {
    let judge = |waited: u64| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 90);
        recording.read_without_tag(1000 * MS, 1000 * MS + waited, 1100 * MS);
        recording.verdict("tag-exhaustion")
    };
    let (below, above) = (judge(900), judge(1100));
    assert!(below.minor && rejected(&below).contains("0.9 % of the time of the slowest"), "{below:?}");
    assert!(!above.minor && rejected(&above).contains("1.1 % of the time of the slowest"), "{above:?}");
    assert!(rejected(&judge(9900)).contains("9.9 %"));
    assert!(rejected(&judge(11_000)).contains("was full"));
}

#[test]
fn what_a_scsi_device_is_asked_for_may_be_more() {
    let depth = |n: u64| {
        let v = crowded(false)
            .settings(&format!("sda/queue/nr_requests: 64\nsda/device/queue_depth: {n}\n"))
            .verdict("tag-exhaustion");
        found(&v);
        commands(&v).contains(&format!("echo {} > /sys/block/sda/device/queue_depth", 2 * n))
    };
    assert_eq!((depth(4), depth(5)), (true, false));
}
