//! Reads that writes overtake in the scheduler.

use super::*;

/// A read that waits 50 ms in the scheduler while so many writes are issued, and is done 5 ms later.
fn starved(recording: &mut TraceBuilder, at_ms: u64, overtakers: u64) {
    let at = at_ms * MS;
    for i in 0..overtakers {
        let issue = at + (i + 1) * MS;
        recording.writeback(at, issue, issue + 4 * MS, 4 * KIB);
    }
    recording.scheduled_read(at, at + 50 * MS, at + 55 * MS);
}

#[test]
fn found_and_the_overtakers_are_counted() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 200);
    for i in 0..3 {
        starved(&mut recording, 1000 + 200 * i, 12);
    }
    recording.settings(
        "sda/queue/scheduler: none [mq-deadline]\nsda/queue/iosched/fifo_batch: 16\nsda/queue/iosched/read_expire: 500\n",
    );
    let v = recording.verdict("scheduler-starvation");
    assert!((found(&v) - 50.0 / 55.0).abs() < 0.01, "{v:?}");
    assert!(says(&v, "36 writes of writeback went to sda"), "{v:?}");
    let batch = v.remedies.iter().find(|r| r.command().contains("fifo_batch")).expect("a remedy");
    assert!(
        batch.what.contains("16 -> 1 (queue-sda.txt:2)") && batch.what.contains("fdatasync"),
        "{batch:?}"
    );
}

#[test]
fn rejected_where_nobody_overtook() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 200);
    for i in 0..3 {
        starved(&mut recording, 1000 + 200 * i, 0);
    }
    let v = recording.verdict("scheduler-starvation");
    assert!(rejected(&v).contains("overtook them in 0 %"), "{v:?}");
}

#[test]
fn rejected_where_the_wait_is_short() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 90);
    recording.writeback(999 * MS, 1001 * MS, 1003 * MS, 4).scheduled_read(1000 * MS, 1002 * MS, 1060 * MS);
    let v = recording.verdict("scheduler-starvation");
    assert!(rejected(&v).contains("3.3 %"), "{v:?}");
}

/// Reads that wait in the scheduler for 50 ms: so many are overtaken, by so many writes each, and so many are not.
fn overtaken(these: u64, by: u64, others: u64) -> Verdict {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 200);
    for i in 0..these + others {
        starved(&mut recording, 1000 + 200 * i, if i < these { by } else { 0 });
    }
    recording.verdict("scheduler-starvation")
}

#[test]
fn half_of_the_wait_overtaken_is_the_threshold() {
    assert!(is_found(&overtaken(3, 12, 2)));
    assert!(is_found(&overtaken(3, 12, 3)), "half of it is enough");
    assert!(rejected(&overtaken(2, 12, 3)).contains("overtook them in 40 % of it only"));
}

#[test]
fn a_tenth_in_the_scheduler_is_the_threshold() {
    let judge = |waited: u64| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 200);
        for i in 0..3 {
            let at = (1000 + 200 * i) * MS;
            recording.writeback(at, at + 1, at + MS, 4).scheduled_read(at, at + waited * MS, at + 100 * MS);
        }
        recording.verdict("scheduler-starvation")
    };
    assert!(is_found(&judge(11)));
    assert!(rejected(&judge(9)).contains("9.0 % of the time of the slowest"));
}

#[test]
fn what_is_set_well_already_is_not_proposed() {
    let of = |settings: &str| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 200);
        for i in 0..3 {
            starved(&mut recording, 1000 + 200 * i, 12);
        }
        let v = recording.settings(settings).verdict("scheduler-starvation");
        found(&v);
        let commands = commands(&v);
        let files = commands.iter().filter_map(|c| c.rsplit_once("/sys/block/sda/queue/"));
        (files.map(|(echo, file)| format!("{echo}{file}")).collect::<Vec<_>>(), v)
    };
    let deadline = "sda/queue/scheduler: none [mq-deadline]\n";
    let batch = |n: u64, ms: u64| {
        format!("{deadline}sda/queue/iosched/fifo_batch: {n}\nsda/queue/iosched/read_expire: {ms}\n")
    };
    assert_eq!(of(&batch(2, 101)).0, ["echo 1 > iosched/fifo_batch", "echo 100 > iosched/read_expire"]);
    assert!(of(&batch(1, 100)).0.is_empty());
    assert!(says(
        &of(&batch(16, 500)).1,
        "mq-deadline (queue-sda.txt:1) with read_expire 500, fifo_batch 16"
    ));
    assert!(says(&of(deadline).1, "the scheduler is mq-deadline (queue-sda.txt:1)"));
    // Its tunables are not those of other schedulers.
    assert!(of(&batch(16, 500).replace("[mq-deadline]", "[bfq] mq-deadline")).0.is_empty());
    assert_eq!(of("sda/queue/wbt_lat_usec: 0\n").0, ["echo 2000 > wbt_lat_usec"]);
    assert!(of("sda/queue/wbt_lat_usec: 2000\n").0.is_empty());
}

#[test]
fn synchronous_writes_that_wait_there_too_are_warned_of() {
    let warned = |wait: bool| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 200);
        for i in 0..3 {
            starved(&mut recording, 1000 + 200 * i, 12);
        }
        if wait {
            recording.scheduled_write(2000 * MS, 2007 * MS, 2008 * MS);
        }
        let v = recording
            .settings("sda/queue/scheduler: [mq-deadline]\nsda/queue/iosched/fifo_batch: 16\n")
            .verdict("scheduler-starvation");
        v.remedies.iter().any(|r| r.what.contains(" in the scheduler here)"))
    };
    assert_eq!((warned(true), warned(false)), (true, false));
}
