//! Remedies against other tasks' requests in the device.

use super::background_task::{moved, READ, SMALL};
use super::*;
use crate::device::background_remedies::takes_turns;
use crate::device::lower_class;
use crate::op_builder::{OpBuilder, READER};
use crate::slow::Slow;
use ledger::Reason;
use life::Io;
use operation::{Kind, Wait};
use trace::Call;

#[test]
fn a_scheduler_that_knows_priorities_is_kept() {
    let of = |scheduler: &str| {
        let mut built = moved("tar", 100, &format!("sda/queue/scheduler: {scheduler}\n"));
        for _ in 0..3 {
            built.behind(READ, 40, 3, "tar", SMALL);
        }
        let v = built.verdict("background-task");
        found(&v);
        let at = commands(&v).iter().position(|c| c.contains("ionice")).expect("a priority");
        (at, commands(&v)[at].to_string(), v.remedies[at].what.contains(", sda has "))
    };
    let idle = "ionice -c 3 -p $(pgrep -x tar)".to_string();
    // With a scheduler that has priorities, the idle class comes first.
    assert_eq!(of("[bfq] none"), (0, idle.clone(), false));
    assert_eq!(of("[mq-deadline] none"), (0, idle.clone(), false));
    assert_eq!(of("[none] bfq"), (1, format!("echo bfq > /sys/block/sda/queue/scheduler; {idle}"), true));
}

/// Two tasks read sequentially in turn: with more read-ahead the device switches between them less often. It comes first if the device may rotate.
#[test]
fn two_that_read_in_order_read_more_at_a_time() {
    let of = |on: bool, settings: &str| {
        let mut recording = TraceBuilder::default();
        recording.called("(reader)", "tar").settings(settings);
        for i in 0..200 {
            let at = 20 * i * MS;
            recording.read_ahead(at, at + 10 * MS, 128, on).read_on_by_another(at, at + 20 * MS, 128);
        }
        let mut built = OpBuilder::default();
        built.over(recording).quick(READ, 297);
        (0..3).for_each(|_| {
            built.behind(READ, 40, 3, "tar", SMALL);
        });
        let all = commands(&built.verdict("background-task"));
        all.iter().position(|command| command == "echo 4096 > /sys/block/sda/queue/read_ahead_kb")
    };
    let settings =
        |turns: u8, kib: u32| format!("sda/queue/rotational: {turns}\nsda/queue/read_ahead_kb: {kib}\n");
    assert_eq!(of(true, &settings(1, 128)), Some(0));
    assert!(of(true, &settings(0, 128)) > Some(0));
    assert_eq!(of(true, &settings(1, 4096)), None, "it is as much already");
    assert_eq!(of(false, &settings(1, 128)), None, "one reads at random");
}

#[test]
fn what_btrfs_does_is_not_stopped_with_its_program() {
    let mut built = moved("btrfs", 100, "sda/queue/scheduler: none\n");
    (0..3).for_each(|_| {
        built.behind(READ, 40, 3, "btrfs", SMALL);
    });
    let all = commands(&built.verdict("background-task"));
    assert!(
        all.iter().any(|c| c.contains("scrub_speed_max")) && !all.iter().any(|c| c.contains("kill -STOP")),
        "{all:?}"
    );
    // btrfs send reads files, in its own process.
    let mut recording = TraceBuilder::default();
    recording.called("btrfs", "(writer)");
    for i in 0..200 {
        recording.read_ahead(10 * i * MS, 10 * (i + 1) * MS, 128, true);
    }
    let mut built = OpBuilder::default();
    built.over(recording).quick(READ, 297);
    (0..3).for_each(|_| {
        built.behind(READ, 40, 3, "btrfs", SMALL);
    });
    let all = commands(&built.verdict("background-task"));
    assert!(
        all.iter().any(|c| c.contains("kill -STOP")) && !all.iter().any(|c| c.contains("scrub")),
        "{all:?}"
    );
}

/// Each page counts for the control group that changed it, not for the one that syncs it.
#[test]
fn who_only_syncs_is_not_limited() {
    let limits = |writes: bool| {
        let mut built = moved("tar", 100, "");
        (0..3).for_each(|_| {
            built.behind(READ, 40, 3, "tar", SMALL);
        });
        built.by("tar").quick(Kind::Call(Call::Fsync), 20);
        if writes {
            built.by("tar").quick(Kind::Call(Call::Write), 20);
        }
        commands(&built.verdict("background-task")).iter().any(|c| c.contains("IOWriteBandwidthMax"))
    };
    assert!(limits(true) && !limits(false));
}

/// With BFQ, two tasks have the device in turn for 125 ms each, unless it does not idle.
#[test]
fn turns_are_those_of_bfq_where_requests_wait_in_it() {
    let of = |waits: Reason, scheduler: &str| {
        let mut built = moved("tar", 100, &format!("sda/queue/scheduler: {scheduler}\n"));
        for _ in 0..6 {
            built.slow(READ, 120, &[(Wait::PageRead, waits, 115)]);
        }
        built.asked(|case| case.slow().iter().any(|slow| takes_turns(case, slow)))
    };
    assert!(
        of(Reason::Scheduler, "[bfq] none")
            && of(Reason::Scheduler, "[bfq]\nsda/queue/iosched/slice_idle: 8")
    );
    assert!(!of(Reason::Scheduler, "[bfq]\nsda/queue/iosched/slice_idle: 0"));
    assert!(!of(Reason::Device, "[bfq] none") && !of(Reason::Scheduler, "[mq-deadline] none"));
}

/// A scheduler sends what is late: who waits much longer is not of the class of those that are served. BFQ's longest turn is 125 ms.
#[test]
fn who_waits_longer_than_one_class_does_is_of_a_lower_class() {
    let told = |waits: Reason, ms: u64, settings: &str| {
        let mut built = moved("tar", 100, &format!("sda/queue/scheduler: {settings}\n"));
        for _ in 0..6 {
            built.slow(READ, ms, &[(Wait::PageRead, waits, ms - 5)]);
        }
        built.asked(|case| {
            let told = |slow: &Slow| lower_class::told(Verdict::begin("background-task"), case, slow, "tar");
            let all = case.slow().iter().map(told).collect::<Vec<_>>();
            all.iter().any(|v| commands(v).iter().any(|c| c.starts_with("ionice -c 2 -n 4 -p ")))
        })
    };
    let scheduler = |ms, settings| told(Reason::Scheduler, ms, settings);
    assert!(scheduler(300, "[bfq] none") && !scheduler(120, "[bfq] none"));
    assert!(!scheduler(300, "[bfq]\nsda/queue/iosched/timeout_sync: 400"));
    assert!(scheduler(1100, "[mq-deadline] none") && !scheduler(900, "[mq-deadline] none"));
    assert!(scheduler(300, "[mq-deadline]\nsda/queue/iosched/read_expire: 100"));
    assert!(!scheduler(9000, "[kyber] none") && !told(Reason::Device, 9000, "[bfq] none"));
}

/// A task that queues behind its own requests waits for no class.
#[test]
fn who_waits_behind_its_own_requests_is_of_no_lower_class() {
    let told = |ahead: &str| {
        let mut built = moved("tar", 100, "sda/queue/scheduler: [bfq] none\n");
        for _ in 0..3 {
            built.slow(READ, 600, &[(Wait::PageRead, Reason::Scheduler, 595)]);
            built.behind(READ, 3000, 9, ahead, SMALL);
        }
        built.asked(|case| {
            let told = |slow: &Slow| lower_class::told(Verdict::begin("background-task"), case, slow, "tar");
            case.slow().iter().any(|slow| !told(slow).remedies.is_empty())
        })
    };
    assert!(told("tar") && !told(READER));
}

/// Flushes have no priority, no limit of bytes makes them fewer, and no timer starts who syncs for its clients.
#[test]
fn behind_flushes_the_syncs_are_counted() {
    let of = |io: Io| {
        let mut built = moved("ledger", 100, "sda/queue/scheduler: none\n");
        for _ in 0..3 {
            built.behind_io(READ, 100, "ledger", io);
        }
        let all = commands(&built.verdict("background-task"));
        let has = |what: &str| all.iter().any(|c| c.contains(what));
        (all[0].starts_with("strace -fc"), has("kill -STOP"), has("list-timers") || has("ionice"))
    };
    assert_eq!((of(Io::Flush), of(Io::Read)), ((true, true, false), (false, true, true)));
}
