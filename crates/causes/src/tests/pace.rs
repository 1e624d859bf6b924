//! Causes about how the device keeps pace: limits, sleep, discards, errors, merging, an idle device below a scheduler.

use super::*;

/// Eight reads are there at all times, the n-th completed at `done(n)` us; before that some that took `own` us alone.
fn held(own: u64, done: impl Fn(u64) -> u64) -> Story {
    let mut story = Story::default();
    for i in 0..40 {
        story.read(i * 20_000, i * 20_000, i * 20_000 + own);
    }
    let begin = 1_000_000;
    for i in 0..400u64 {
        let (issued, done) = (begin + done(i), begin + done(i + 8));
        story.read(issued, issued, done);
    }
    story
}

#[test]
fn a_rate_limit_is_even_and_below_it_requests_are_fast() {
    let v = held(300, |n| n * 2000).verdict("rate-limit");
    assert!(found(&v) > 0.7, "{v:?}");
    assert!(v.evidence[0].contains("500 a second"), "{v:?}");
    // Nothing is faster than the pace: then it is the device.
    assert!(rejected(&held(1100, |n| n * 2000).verdict("rate-limit")).contains("no request was much faster"));
    found(&held(900, |n| n * 2000).verdict("rate-limit"));
    // Every other one is seen late, but no later in the long run.
    let late = held(300, |n| n * 2000 + n % 2 * 1500).verdict("rate-limit");
    assert!(found(&late) > 0.7, "{late:?}");
    assert!(
        late.evidence[0].contains("16 of them took 32 ms") && late.evidence[0].contains("500 a second"),
        "{late:?}"
    );
    // Fast for a while, then slow for a while.
    let uneven = held(300, |n| n * 2000 + (n % 64).abs_diff(32) * 1500).verdict("rate-limit");
    assert!(rejected(&uneven).contains("no even pace"), "{uneven:?}");
}

#[test]
fn a_pace_of_reads_says_nothing_of_a_few_writes() {
    let mut story = held(1100, |n| n * 2000);
    for i in 0..5 {
        story.sync_write(1_100_000 + i * 100_000, 1_100_000 + i * 100_000, 1_130_000 + i * 100_000);
    }
    let v = story.verdict("rate-limit");
    rejected(&v);
    let mut only_writes = Story::default();
    for i in 0..5 {
        only_writes.sync_write(i * 100_000, i * 100_000, i * 100_000 + 30_000);
    }
    rejected(&only_writes.verdict("rate-limit"));
}

#[test]
fn too_few_completions_are_no_pace() {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 100);
    for i in 0..3 {
        story.read((1000 + i) * MS, (1000 + i) * MS, (1100 + i) * MS);
    }
    assert!(rejected(&story.verdict("rate-limit")).contains("with others waiting"));
}

/// 200 reads 2 ms apart, then ten after a pause of 100 ms, each taking so long.
fn pauses(after_a_pause: u64) -> Story {
    let mut story = Story::default();
    for i in 0..200 {
        story.read(i * 2 * MS, i * 2 * MS, i * 2 * MS + MS);
    }
    for i in 0..10 {
        let at = (1000 + 100 * i) * MS;
        story.read(at, at, at + after_a_pause);
    }
    story
}

#[test]
fn a_step_after_a_pause_is_a_power_state() {
    let v = pauses(20 * MS).verdict("power-state");
    assert!(found(&v) > 0.8, "{v:?}");
    assert!(v.evidence[0].contains("idle for 64 ms or more a request took 20 ms"), "{v:?}");
    found(&pauses(2 * MS + 50).verdict("power-state"));
    rejected(&pauses(2 * MS - 50).verdict("power-state"));
}

/// Reads of 1 ms, and some that have a discard beside them.
fn discards(beside: u64) -> Story {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 300);
    for i in 0..8 {
        let at = (1000 + 200 * i) * MS;
        story.discard(at, at + beside);
        story.read(at + 10, at + 10, at + 10 + beside);
    }
    story
}

#[test]
fn discards_that_hold_others_up() {
    let v = discards(50 * MS).verdict("discard-stall");
    assert!(found(&v) > 0.7, "{v:?}");
    assert!(
        v.evidence[1].contains("8 discards of 512 KiB") || v.evidence[1].contains("8 discards of"),
        "{v:?}"
    );
    rejected(&discards(MS + MS / 2).verdict("discard-stall"));
    let mut none = Story::default();
    quick_reads(&mut none, 0, 300);
    none.read(900 * MS, 900 * MS, 990 * MS);
    rejected(&none.verdict("discard-stall"));
}

/// Reads through a scheduler: while they wait the device is idle, or at work on another.
fn scheduled(idle: bool) -> Story {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 300);
    for i in 0..10 {
        let at = (1000 + 100 * i) * MS;
        if !idle {
            story.read(at, at, at + 20 * MS + 100);
        }
        story.scheduled_read(at + 1, at + 20 * MS, at + 21 * MS);
    }
    story
}

#[test]
fn an_idle_device_below_a_scheduler() {
    let mut story = scheduled(true);
    story.settings("sda/queue/scheduler: mq-deadline [bfq] none\n");
    let v = story.verdict("scheduler-idling");
    assert!(found(&v) > 0.6, "{v:?}");
    assert_eq!(v.remedies[0].command, "echo 0 > /sys/block/sda/queue/iosched/slice_idle");
    assert!(rejected(&scheduled(false).verdict("scheduler-idling")).contains("0 % of the time"));
    // With it slice_idle does not matter.
    story.settings("sda/queue/iosched/strict_guarantees: 1\n");
    let v = story.verdict("scheduler-idling");
    assert_eq!(v.remedies[0].command, "echo 0 > /sys/block/sda/queue/iosched/strict_guarantees", "{v:?}");
}

/// A request stays a moment above a device without a scheduler, too: until a worker comes to run that sends it.
#[test]
fn only_a_scheduler_that_waits_for_somebody_keeps_a_device_idle() {
    for scheduler in ["[none] mq-deadline bfq", "[mq-deadline] none"] {
        let mut story = scheduled(true);
        story.settings(&format!("sda/queue/scheduler: {scheduler}\n"));
        let v = story.verdict("scheduler-idling");
        assert!(rejected(&v).contains("which never waits for a task's next request"), "{v:?}");
    }
    let v = scheduled(true).verdict("scheduler-idling");
    assert!(cannot_tell(&v).contains("queue/scheduler was not recorded"), "{v:?}");
}

#[test]
fn errors_are_told() {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 300);
    rejected(&story.verdict("device-errors"));
    story.failed_read(900 * MS, 900 * MS, 990 * MS);
    let v = story.verdict("device-errors");
    found(&v);
    assert!(v.evidence[0].contains("1 of 301 requests"), "{v:?}");
}

/// What is given back at once was refused; what is given back after half a second was lost.
#[test]
fn lost_commands_are_errors_and_no_busy_device() {
    let of = |aborted_ms: u64| {
        let mut story = Story::default();
        quick_reads(&mut story, 0, 300);
        for i in 0..3 {
            let at = (1000 + 2000 * i) * MS;
            story.lost_read(
                at,
                at + aborted_ms * MS,
                at + (aborted_ms + 300) * MS,
                at + (aborted_ms + 301) * MS,
            );
        }
        story
    };
    let v = of(500).verdict("device-errors");
    found(&v);
    assert!(v.evidence[0].contains("3 commands had been in sda for 500 ms or more"), "{v:?}");
    assert!(rejected(&of(500).verdict("device-busy")).contains("no driver gave a request back"));
    assert!(rejected(&of(499).verdict("device-errors")).contains("none was given up"));
    found(&of(499).verdict("device-busy"));
}

/// Groups of 16 reads at once that lie side by side.
fn neighbours(settings: &str) -> Verdict {
    let mut story = Story::default();
    for group in 0..40u64 {
        let at = group * 20 * MS;
        for i in 0..16 {
            story.read_on(at, at + i, at + (i + 1) * MS);
        }
    }
    story.settings(settings).verdict("lost-merging")
}

#[test]
fn neighbours_that_were_not_joined() {
    let v = neighbours("sda/queue/nomerges: 2\n");
    assert!(found(&v) > 0.5, "{v:?}");
    assert_eq!(v.remedies[0].command, "echo 0 > /sys/block/sda/queue/nomerges");
    assert!(rejected(&neighbours("sda/queue/nomerges: 0\n")).contains("merging is on"));
    assert!(cannot_tell(&neighbours("sda/queue/nr_requests: 64\n")).contains("nomerges was not recorded"));
    let mut apart = Story::default();
    quick_reads(&mut apart, 0, 300);
    apart.settings("sda/queue/nomerges: 2\n");
    rejected(&apart.verdict("lost-merging"));
}
