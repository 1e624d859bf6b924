//! Kyber, and others.

use super::*;

/// Reads that wait in the scheduler for 40 ms and are in the device for 4 ms; so many writes are there when they are sent.
fn waiting(beside: u64) -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 100);
    for i in 0..20 {
        let (at, sent) = ((1000 + 100 * i) * MS, (1040 + 100 * i) * MS);
        for k in 0..beside {
            recording.sync_write(sent - 100 + k, sent - 100 + k, sent + 5 * MS + k);
        }
        recording.scheduled_read(at, sent, sent + 4 * MS);
    }
    recording
}

fn throttled(scheduler: &str, beside: u64) -> TraceBuilder {
    let mut recording = waiting(beside);
    recording.settings(&format!("sda/queue/scheduler: none [{scheduler}]\nsda/mq/0/nr_tags: 32\n"));
    recording
}

#[test]
fn found_with_the_target_that_was_missed() {
    let mut recording = throttled("kyber", 1);
    recording.settings("sda/queue/iosched/read_lat_nsec: 500000\n");
    let v = recording.verdict("scheduler-throttle");
    assert!(found(&v) > 0.3, "{v:?}");
    assert!(v.evidence.iter().any(|e| e.sentence().contains("of at most 32")), "{v:?}");
    assert!(v.evidence.iter().any(|e| e.sentence().contains("the target is 500 us")), "{v:?}");
    let anew = "cd /sys/block/sda/queue && echo none > scheduler && echo kyber > scheduler && echo 8000000 > iosched/read_lat_nsec";
    assert_eq!(v.remedies[0].command(), anew);
}

/// Others' requests are in the device while a read waits for its token: without them it would have one.
#[test]
fn who_is_served_instead_is_told_and_may_be_paused() {
    let of = |by_another: bool| {
        let mut recording = TraceBuilder::default();
        recording.called("app", "dd");
        quick_reads(&mut recording, 0, 100);
        for i in 0..20 {
            let (at, sent) = ((1000 + 100 * i) * MS, (1040 + 100 * i) * MS);
            for k in 0..4 {
                match by_another {
                    true => recording.read_by_another(at + k, at + k, sent + k * MS),
                    false => recording.read(at + k, at + k, sent + k * MS),
                };
            }
            recording.scheduled_read(at, sent, sent + 4 * MS);
        }
        recording.settings("sda/queue/scheduler: none [kyber]\nsda/mq/0/nr_tags: 32\n");
        recording.verdicts().into_iter().find(|v| v.cause == "scheduler-throttle").expect("a verdict")
    };
    let v = of(true);
    assert!(found(&v) > 0.3 && says(&v, "most of that time sda was serving requests of dd"), "{v:?}");
    assert!(matches!(v.remedies[0].action, crate::remedy::Action::Pause { .. }), "{v:?}");
    assert_eq!(v.root, Some("background-task"));
    let v = of(false);
    assert!(found(&v) > 0.3 && !says(&v, "was serving requests of"), "{v:?}");
    assert_ne!(v.root, Some("background-task"));
}

#[test]
fn another_scheduler_throttles_nothing() {
    let v = throttled("mq-deadline", 1).verdict("scheduler-throttle");
    assert!(rejected(&v).contains("is mq-deadline"), "{v:?}");
}

#[test]
fn rejected_where_the_device_is_full() {
    // 28 of 32 are not nine in ten, 29 are.
    found(&throttled("kyber", 27).verdict("scheduler-throttle"));
    assert!(rejected(&throttled("kyber", 28).verdict("scheduler-throttle"))
        .contains("was full when they were sent"));
}

#[test]
fn cannot_tell_without_the_scheduler() {
    let v = waiting(1).verdict("scheduler-throttle");
    assert!(cannot_tell(&v).contains("queue/scheduler was not recorded"), "{v:?}");
    let mut quick = TraceBuilder::default();
    quick_reads(&mut quick, 0, 300);
    rejected(&quick.verdict("scheduler-throttle"));
}

/// Without its tags a device takes as many as it ever had; of its requests nine in ten say how full it was.
#[test]
fn nine_in_ten_say_how_full_it_was() {
    // Twenty reads; so many of them are sent into a device that has 31 others, the rest into an empty one.
    let of = |full: u64| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 100);
        for i in 0..20 {
            let (at, sent) = ((1000 + 100 * i) * MS, (1040 + 100 * i) * MS);
            for k in 0..if i < full { 31 } else { 0 } {
                recording.sync_write(sent - 100 + k, sent - 100 + k, sent + 5 * MS + k);
            }
            recording.scheduled_read(at, sent, sent + 4 * MS);
        }
        recording.settings("sda/queue/scheduler: none [kyber]\n").verdict("scheduler-throttle")
    };
    // Of 120 reads in all.
    assert!(is_found(&of(11)));
    assert!(rejected(&of(13)).contains("sda was full when they were sent: 32 of at most 32"));
}

#[test]
fn a_target_that_is_met_is_not_raised() {
    let of = |target: u64| {
        let mut recording = throttled("kyber", 1);
        recording.settings(&format!("sda/queue/iosched/read_lat_nsec: {target}\n"));
        let v = recording.verdict("scheduler-throttle");
        found(&v);
        commands(&v)[0].rsplit(" && ").next().unwrap().to_string()
    };
    // Nine in ten reads take 4 ms there at most.
    assert_eq!(of(3_900_000), "echo 8000000 > iosched/read_lat_nsec");
    assert_eq!(of(4_100_000), "echo none > /sys/block/sda/queue/scheduler");
    // By default 2 ms, and 10 ms of writes: those that are beside them take 4 ms longer than the reads.
    let mut slow = throttled("kyber", 0);
    for i in 0..20 {
        let at = (5000 + 100 * i) * MS;
        slow.scheduled_write(at, at + 40 * MS, at + if i < 9 { 52 } else { 49 } * MS);
    }
    let v = slow.verdict("scheduler-throttle");
    assert!(
        commands(&v)[0].ends_with(" > iosched/read_lat_nsec && echo 24000000 > iosched/write_lat_nsec"),
        "{v:?}"
    );
    let v = throttled("kyber", 1).verdict("scheduler-throttle");
    assert!(says(&v, "the target is 2 ms (read_lat_nsec, the default; it was not recorded)"), "{v:?}");
}
