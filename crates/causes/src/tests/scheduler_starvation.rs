//! Reads that writes overtake in the scheduler.

use super::*;

/// A read that waits 50 ms in the scheduler while so many writes are issued, and is done 5 ms later.
fn starved(story: &mut Story, at_ms: u64, overtakers: u64) {
    let at = at_ms * MS;
    for i in 0..overtakers {
        let issue = at + (i + 1) * MS;
        story.writeback(at, issue, issue + 4 * MS, 4 * KIB);
    }
    story.scheduled_read(at, at + 50 * MS, at + 55 * MS);
}

#[test]
fn found_and_the_overtakers_are_counted() {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 200);
    for i in 0..3 {
        starved(&mut story, 1000 + 200 * i, 12);
    }
    story.settings(
        "sda/queue/scheduler: none [mq-deadline]\nsda/queue/iosched/fifo_batch: 16\nsda/queue/iosched/read_expire: 500\n",
    );
    let v = story.verdict("scheduler-starvation");
    assert!((found(&v) - 50.0 / 55.0).abs() < 0.01, "{v:?}");
    assert!(v.evidence[0].contains("12 background writes"), "{v:?}");
    let batch = v.remedies.iter().find(|r| r.command.contains("fifo_batch")).expect("a remedy");
    assert!(
        batch.what.contains("16 -> 1 (queue-sda.txt:2)") && batch.what.contains("fdatasync"),
        "{batch:?}"
    );
}

#[test]
fn rejected_where_nobody_overtook() {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 200);
    for i in 0..3 {
        starved(&mut story, 1000 + 200 * i, 0);
    }
    let v = story.verdict("scheduler-starvation");
    assert!(rejected(&v).contains("overtook them in 0 %"), "{v:?}");
}

#[test]
fn rejected_where_the_wait_is_short() {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 90);
    story.writeback(999 * MS, 1001 * MS, 1003 * MS, 4).scheduled_read(1000 * MS, 1002 * MS, 1060 * MS);
    let v = story.verdict("scheduler-starvation");
    assert!(rejected(&v).contains("3.3 %"), "{v:?}");
}
