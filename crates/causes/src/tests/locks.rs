//! File locks, frozen queues and pages that must not change: which task held them, and which remedies follow.

use super::paths::built;
use super::*;
use crate::op_builder::OpBuilder;
use ledger::Reason;
use operation::{Kind, Node, Part, Wait, Wakeup};
use stats::SampledOperation;
use trace::{Call, Nanos, Tid};

const READ: Kind = Kind::Call(Call::Read);
const WRITE: Kind = Kind::Call(Call::Write);

fn over(built: &mut OpBuilder, settings: &str, mounts: &str) -> Verdict {
    let mut recording = quick();
    recording.settings(settings).document("mounts.txt", mounts);
    built.over(recording).verdict(if settings.contains("stable") { "stable-page" } else { "inode-lock" })
}

const LAY_OUT: &str =
    "fio --name=lay --filename=FILE --rw=write --bs=1M --size=SIZE --direct=1 --end_fsync=1";

/// Three writes that waited 80 of 100 ms for their file's lock, and so many ms of that on this stack.
fn in_lock(stack: &str, of_100: u64) -> OpBuilder {
    let mut built = OpBuilder::default();
    built.quick(WRITE, 297);
    let rest = (Wait::InodeLock, Reason::Device, 80);
    for _ in 0..3 {
        built.slow_in(WRITE, 100, &[(Wait::InodeLock, Reason::Lock, of_100)], stack).slow(
            WRITE,
            100,
            &[rest],
        );
    }
    built
}

/// Space written beforehand does not help writes through the page cache: they take the lock exclusively wherever they write.
#[test]
fn buffered_writers_of_a_file_are_not_told_to_lay_it_out() {
    let lays_out = |stack: &str, of_100: u64| {
        let v = over(&mut in_lock(stack, of_100), "sda/queue/rotational: 0\n", "");
        found(&v);
        commands(&v).contains(&LAY_OUT.to_string())
    };
    for buffered in ["ext4_buffered_write_iter", "xfs_file_buffered_write"] {
        let stack = format!("rwsem_down_write_slowpath\n{buffered}\nvfs_write");
        // A tenth of what is kept: the three are kept twice, beside three without, and none of the quick ones counts.
        assert!(!lays_out(&stack, 80), "{buffered}");
        assert!(!lays_out(&stack, 32), "{buffered}");
        assert!(lays_out(&stack, 28), "{buffered}");
    }
    assert!(lays_out("rwsem_down_write_slowpath\next4_dio_write_iter\nvfs_write", 80));
}

#[test]
fn what_a_limit_held_back_in_a_lock_is_the_limits() {
    let held = |reason: Reason| {
        let mut built = OpBuilder::default();
        built.quick(WRITE, 297);
        for _ in 0..6 {
            built.slow(WRITE, 100, &[(Wait::InodeLock, reason, 80)]);
        }
        let mut of = |cause: &str| built.over(quick()).verdict(cause);
        [of("inode-lock"), of("cgroup-limit")].map(|v| v.verdict == Answer::Found)
    };
    assert_eq!(held(Reason::Device), [true, false]);
    assert_eq!(held(Reason::CgroupLimit), [false, true]);
}

/// Six writes of 100 ms, each with these waits, for which a lock of the file is found.
fn waiting(waits: &[(Wait, Reason, u64)]) -> Verdict {
    let mut built = OpBuilder::default();
    built.quick(WRITE, 297);
    for _ in 0..6 {
        built.slow(WRITE, 100, waits);
    }
    let v = built.over(quick()).verdict("inode-lock");
    found(&v);
    v
}

#[test]
fn who_shares_a_descriptor_is_told_to_open_the_file_again() {
    let of = |position: u64, inode: u64| {
        let waits =
            [(Wait::FilePosition, Reason::Device, position), (Wait::InodeLock, Reason::Device, inode)];
        let v = waiting(&waits);
        let is_told = |command: &str| v.remedies.iter().any(|r| r.command().starts_with(command));
        (is_told("strace -fy -e read,write -p"), is_told("fio --name=lay"))
    };
    assert_eq!((of(50, 30), of(30, 50)), ((true, false), (false, true)));
}

/// What a device does for the holder itself is not lost: of the rest, most or half passes in flushes of its cache.
#[test]
fn a_lock_that_is_held_while_the_device_flushes_is_due_to_flushes() {
    let root = |flush: u64, other: u64| {
        let of = |reason, ms| (Wait::InodeLock, reason, ms);
        let v = waiting(&[of(Reason::Preflush, flush), of(Reason::Scheduler, other)]);
        v.root
    };
    assert_eq!((root(45, 35), root(40, 40)), (Some("flush-cost"), None));
}

fn quick() -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 10);
    recording
}

#[test]
fn the_file_and_who_held_it_are_named() {
    let mut built = in_lock("ext4_dio_write_iter", 80);
    let holder = |sampled: &mut SampledOperation| {
        let node =
            |who, from, to| Node { part: Part::Task(Tid(who)), depth: 1, from: Nanos(from), to: Nanos(to) };
        sampled.account.nodes.extend([node(7, 0, 1), node(8, 1, 2), node(8, 2, 3)]);
        sampled.names.extend([(Tid(7), "cat".to_string()), (Tid(8), "tar".to_string())]);
    };
    built.slow_with(WRITE, 100, &[(Wait::InodeLock, Reason::Device, 99)], holder);
    let v = over(&mut built, "sda/queue/rotational: 0\n", "/dev/sda /mnt ext4 rw 0 0\n");
    assert!(says(&v, "100 % of the slowest writes sampled were on one file, inode 12"), "{v:?}");
    assert!(says(&v, "the longest waited for tar"), "{v:?}");
    assert_eq!(commands(&v)[0], "find /mnt -xdev -inum 12");
    let v = over(&mut built, "sda/queue/rotational: 0\n", "");
    assert!(commands(&v)[0].starts_with("strace"), "{v:?}");
    // Of the worst it is not known which file it was.
    let nameless = |sampled: &mut SampledOperation| sampled.operation.inode = 0;
    built.slow_with(WRITE, 200, &[(Wait::InodeLock, Reason::Device, 199)], nameless);
    let v = over(&mut built, "sda/queue/rotational: 0\n", "/dev/sda /mnt ext4 rw 0 0\n");
    assert!(!says(&v, "were on one file") && commands(&v)[0].starts_with("strace"), "{v:?}");
}

/// Reads that slept in a frozen queue and were woken by each of these: name, in an interrupt, how long before it was thawed.
fn woken(by: &[(&str, bool, u64)]) -> Verdict {
    let mut built = OpBuilder::default();
    built.quick(READ, 297);
    for _ in 0..3 {
        built.slow_with(READ, 100, &[(Wait::QueueFreeze, Reason::QueueFreeze, 90)], |sampled| {
            let thawed = sampled.account.nodes.iter().find(|n| n.part == Part::Leaf(Reason::QueueFreeze));
            let thawed = thawed.expect("a wait").to;
            for (tid, (name, interrupt, before)) in (50..).map(Tid).zip(by) {
                let (at, who) = (thawed - Nanos(*before), sampled.operation.tid);
                let hop =
                    Wakeup { at, by: tid, interrupt: *interrupt, who, latency: Nanos(0), crossed: false };
                sampled.account.hops.push(hop);
                sampled.names.insert(tid, name.to_string());
            }
        });
    }
    built.verdict("queue-freeze")
}

#[test]
fn who_thaws_a_queue_had_frozen_it() {
    let v = woken(&[("tuned", false, 0)]);
    assert!(says(&v, "tuned woke the slowest of them 3 times"), "{v:?}");
    assert_eq!(commands(&v)[0], "kill -STOP $(pgrep -x tuned)");
    assert_eq!(commands(&woken(&[("my tune", false, 0)]))[0], "kill -STOP $(pgrep -x 'my tune')");
    // Neither in an interrupt, nor before the end of the wait, nor for another task, nor by a task without a name.
    for nobody in [&[("tuned", true, 0)][..], &[("tuned", false, 1)], &[("kworker/0:1", false, 0)], &[]] {
        let v = woken(nobody);
        assert!(
            found(&v) > 0.8 && commands(&v)[0].starts_with("auditctl -w /sys/block/sda/queue"),
            "{nobody:?}: {v:?}"
        );
        assert!(!says(&v, "woke the slowest"), "{nobody:?}");
    }
    let v =
        woken(&[("kworker/0:1", false, 0), ("udevd", false, 0), ("udevd", false, 0), ("tuned", false, 0)]);
    assert!(says(&v, "udevd woke the slowest of them 6 times"), "{v:?}");
}

/// Writes that slept in a frozen file system and were woken by this task: whom, in an interrupt, how long before they went on.
fn thawed(by: &str, who: Option<Tid>, interrupt: bool, before: u64) -> Verdict {
    let mut built = OpBuilder::default();
    built.quick(WRITE, 297);
    for _ in 0..3 {
        built.slow_with(WRITE, 100, &[(Wait::Frozen, Reason::Lock, 90)], |sampled| {
            let slept = sampled.account.nodes.iter().find(|n| matches!(n.part, Part::Wait { .. }));
            let at = slept.expect("a wait").to - Nanos(before);
            let who = who.unwrap_or(sampled.operation.tid);
            let hop = Wakeup { at, by: Tid(50), interrupt, who, latency: Nanos(before), crossed: false };
            sampled.account.hops.push(hop);
            sampled.names.insert(Tid(50), by.to_string());
        });
    }
    let mut recording = quick();
    recording.settings("sda/queue/rotational: 0\n").document("mounts.txt", "/dev/sda /mnt ext4 rw 0 0\n");
    built.over(recording).verdict("frozen")
}

#[test]
fn who_thaws_a_file_system_is_named_beside_its_mount() {
    // Late, too: it waits for a processor before it goes on.
    for before in [0, 1_000_000] {
        let v = thawed("fsfreeze", None, false, before);
        assert!(says(&v, "fsfreeze thawed it for the slowest of them 3 times"), "{v:?}");
        assert!(says(&v, "/mnt was frozen"), "{v:?}");
    }
    // Pausing it might leave the file system frozen.
    assert!(commands(&thawed("fsfreeze", None, false, 0)).iter().all(|c| !c.contains("kill")));
    // In an interrupt, a kernel thread, another task's sleep, before the sleep began.
    for v in [
        thawed("fsfreeze", None, true, 0),
        thawed("kworker/0:1", None, false, 0),
        thawed("fsfreeze", Some(Tid(51)), false, 0),
        thawed("fsfreeze", None, false, 95_000_000),
    ] {
        assert!(found(&v) > 0.8 && !says(&v, "thawed it"), "{v:?}");
    }
}

/// The kernel looks at stable_writes when a file system is mounted: what is 0 now was 1 then.
#[test]
fn stable_pages_are_turned_off_or_mounted_anew() {
    let of = |settings: &str| {
        let v = over(&mut built(WRITE, Wait::StablePage, Reason::Device, 80), settings, "");
        assert!(found(&v) > 0.7, "{v:?}");
        v
    };
    let (on, off) = (of("sda/queue/stable_writes: 1\n"), of("sda/queue/stable_writes: 0\n"));
    assert!(says(&on, "sda asks for stable pages: stable_writes is 1 (queue-sda.txt:1)"), "{on:?}");
    assert_eq!(commands(&on)[1], "echo 0 > /sys/block/sda/queue/stable_writes");
    assert!(
        says(&off, "stable_writes of sda is 0 (queue-sda.txt:1), but the value at mount time counts"),
        "{off:?}"
    );
    assert_eq!(commands(&off)[2], "umount /MOUNTPOINT && mount /MOUNTPOINT");
    let unknown = built(WRITE, Wait::StablePage, Reason::Device, 80).verdict("stable-page");
    assert!(!says(&unknown, "stable_writes"), "{unknown:?}");
    assert_eq!(commands(&unknown)[1], "echo 0 > /sys/block/sda/queue/stable_writes");
}
