//! An idle device below a scheduler.

use super::*;

/// Reads through a scheduler: while they wait the device is idle, or at work on another.
fn scheduled(idle: bool) -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 300);
    for i in 0..10 {
        let at = (1000 + 100 * i) * MS;
        if !idle {
            recording.read(at, at, at + 20 * MS + 100);
        }
        recording.scheduled_read(at + 1, at + 20 * MS, at + 21 * MS);
    }
    recording
}

#[test]
fn an_idle_device_below_a_scheduler() {
    let mut recording = scheduled(true);
    recording.settings("sda/queue/scheduler: mq-deadline [bfq] none\n");
    let v = recording.verdict("scheduler-idling");
    assert!(found(&v) > 0.6, "{v:?}");
    assert_eq!(v.remedies[0].command(), "echo 0 > /sys/block/sda/queue/iosched/slice_idle");
    assert!(rejected(&scheduled(false).verdict("scheduler-idling")).contains("0 % of the time"));
    // With it slice_idle does not matter.
    recording.settings("sda/queue/iosched/strict_guarantees: 1\n");
    let v = recording.verdict("scheduler-idling");
    assert_eq!(v.remedies[0].command(), "echo 0 > /sys/block/sda/queue/iosched/strict_guarantees", "{v:?}");
}

/// A request stays a moment above a device without a scheduler, too: until a worker comes to run that sends it.
#[test]
fn only_a_scheduler_that_waits_for_somebody_keeps_a_device_idle() {
    for scheduler in ["[none] mq-deadline bfq", "[mq-deadline] none"] {
        let mut recording = scheduled(true);
        recording.settings(&format!("sda/queue/scheduler: {scheduler}\n"));
        let v = recording.verdict("scheduler-idling");
        assert!(rejected(&v).contains("which never waits for a task's next request"), "{v:?}");
    }
    let v = scheduled(true).verdict("scheduler-idling");
    assert!(cannot_tell(&v).contains("queue/scheduler was not recorded"), "{v:?}");
}

/// 20 reads of 100 ms, of which so many were in the scheduler, and in so many of these the device was idle.
fn waited(scheduler: u64, idle: u64) -> Verdict {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 300);
    for i in 0..20 {
        let at = (1000 + 200 * i) * MS;
        if idle < scheduler {
            recording.read(at, at, at + (scheduler - idle) * MS);
        }
        recording.scheduled_read(at + 1, at + scheduler * MS, at + 100 * MS);
    }
    recording.settings("sda/queue/scheduler: [bfq] none\n").verdict("scheduler-idling")
}

#[test]
fn a_tenth_of_the_time_idle_is_the_threshold() {
    assert!(is_found(&waited(11, 11)));
    let v = waited(9, 9);
    assert!(rejected(&v).contains("no slow operation waited in the scheduler") && v.minor, "{v:?}");
    assert!(is_found(&waited(50, 11)));
    assert!(rejected(&waited(50, 9)).contains("sda was idle for 18 % of the time in which reads waited"));
}

#[test]
fn notes_of_bfq_in_the_trace_say_who_it_was() {
    let mut recording = scheduled(true);
    let v = recording
        .note_on_disk(5 * MS, "bfq dispatch")
        .note_on_disk(6 * MS, "bfq idle")
        .verdict("scheduler-idling");
    assert!(
        found(&v) > 0.6 && says(&v, "the scheduler of sda is bfq: 2 of its messages are in the trace"),
        "{v:?}"
    );
    let cfq = scheduled(true).settings("sda/queue/scheduler: noop [cfq]\n").verdict("scheduler-idling");
    assert!(found(&cfq) > 0.6, "{cfq:?}");
    let mut other = scheduled(true);
    cannot_tell(&other.note_on_disk(5 * MS, "throtl dispatch").verdict("scheduler-idling"));
}
