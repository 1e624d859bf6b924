//! Causes about what operations waited for: found, rejected, cannot tell, and at the threshold.

use super::*;
use crate::op_builder::OpBuilder;
use ledger::Reason;
use operation::{Kind, Wait};
use trace::Call;

const READ: Kind = Kind::Call(Call::Read);
const WRITE: Kind = Kind::Call(Call::Write);
const FSYNC: Kind = Kind::Call(Call::Fsync);
const OPEN: Kind = Kind::Call(Call::Open);

/// What each cause is about: an operation, a wait of it and where that time passed.
const ABOUT: &[(&str, Kind, Wait, Reason)] = &[
    ("queue-freeze", READ, Wait::QueueFreeze, Reason::QueueFreeze),
    ("loop-double-cache", READ, Wait::LoopFile, Reason::Device),
    ("loop-double-cache", FSYNC, Wait::LoopFile, Reason::WakeUp),
    ("inode-lock", WRITE, Wait::InodeLock, Reason::Lock),
    ("inode-lock", READ, Wait::InodeLock, Reason::Device),
    ("access-time", READ, Wait::JournalHandle, Reason::Device),
    ("access-time", READ, Wait::LogSpace, Reason::Lock),
    ("frozen", WRITE, Wait::Frozen, Reason::Lock),
    ("log-space", OPEN, Wait::LogSpace, Reason::Device),
    ("page-fault-read", Kind::PageFault, Wait::PageFault, Reason::Device),
    ("reclaim", WRITE, Wait::Reclaim, Reason::Reclaim),
    ("swap", Kind::PageFault, Wait::Swap, Reason::Device),
    ("stable-page", WRITE, Wait::StablePage, Reason::Device),
    ("journal-ordered", FSYNC, Wait::OrderedData, Reason::Device),
    ("dirty-throttling", WRITE, Wait::DirtyThrottle, Reason::DirtyThrottle),
    ("writeback-throttle", FSYNC, Wait::WritebackThrottle, Reason::WritebackThrottle),
    ("cgroup-limit", READ, Wait::CgroupLimit, Reason::CgroupLimit),
    ("journal-cpu", FSYNC, Wait::JournalCommit, Reason::WaitCpu),
    ("log-force", FSYNC, Wait::LogForce, Reason::Device),
    ("crypt-queue", WRITE, Wait::Crypt, Reason::WorkQueue),
    ("raid-bitmap", WRITE, Wait::RaidBitmap, Reason::Device),
    ("raid-stripe-cache", WRITE, Wait::StripeCache, Reason::OnCpu),
    ("raid-stripe-cache", WRITE, Wait::StripeCache, Reason::Device),
    ("cpu-wait", READ, Wait::DirectIo, Reason::WaitCpu),
];

/// 297 quick operations and three of 100 ms, of which `of_100` passed in a wait; the rest passed asleep, waiting for input.
pub(super) fn built(kind: Kind, wait: Wait, reason: Reason, of_100: u64) -> OpBuilder {
    let mut built = OpBuilder::default();
    built.quick(kind, 297);
    for _ in 0..3 {
        built.slow(kind, 100, &[(wait, reason, of_100), (Wait::Input, Reason::Sleep, 99 - of_100)]);
    }
    built
}

#[test]
fn found_with_its_share() {
    for (cause, kind, wait, reason) in ABOUT {
        let v = built(*kind, *wait, *reason, 80).verdict(cause);
        let share = found(&v);
        // The slowest 1 % of 300 are these three.
        // All waits of a page fault are for its page.
        let expected = if *cause == "page-fault-read" { 0.99 } else { 0.8 };
        assert!((share - expected).abs() < 0.02, "{cause}: {share}");
        assert!(!v.remedies.is_empty(), "{cause} says what to do");
    }
}

#[test]
fn rejected_where_nobody_waited_so() {
    for (cause, kind, ..) in ABOUT {
        let mut built = built(*kind, Wait::Input, Reason::Sleep, 80);
        if *cause == "page-fault-read" {
            // Whatever a page fault waits for is a page; swap has its own cause.
            built = self::built(*kind, Wait::Swap, Reason::Device, 99);
        }
        rejected(&built.verdict(cause));
    }
}

#[test]
fn a_tenth_is_the_threshold() {
    for (cause, kind, wait, reason) in ABOUT {
        let above = built(*kind, *wait, *reason, 11).verdict(cause);
        assert!(found(&above) > 0.1, "{cause}");
        // All else of a page fault is the wait for its page.
        if *cause != "page-fault-read" {
            rejected(&built(*kind, *wait, *reason, 9).verdict(cause));
        }
    }
}

#[test]
fn cannot_tell_from_the_block_layer_alone() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 200);
    let of_stacked = ["crypt-queue", "raid-stripe-cache"];
    let of_others =
        |cause: &str| ["loop-double-cache", "raid-bitmap"].contains(&cause) || of_stacked.contains(&cause);
    for (cause, ..) in ABOUT.iter().filter(|(cause, ..)| !of_others(cause)) {
        assert!(cannot_tell(&recording.verdict(cause)).contains("iowhy record"), "{cause}");
    }
    for cause in of_stacked {
        assert!(rejected(&recording.verdict(cause)).contains("was recorded"), "{cause}");
    }
    let mut array = TraceBuilder::default();
    array.raid_write(0, 20 * MS, 0, MS);
    assert!(cannot_tell(&array.verdict("raid-stripe-cache")).contains("iowhy record"));
    assert!(cannot_tell(&recording.verdict("journal-space")).contains("iowhy record"));
}

#[test]
fn access_times_are_of_reads_only() {
    rejected(&built(WRITE, Wait::JournalHandle, Reason::Device, 80).verdict("access-time"));
    let v = built(READ, Wait::JournalHandle, Reason::Device, 80).verdict("access-time");
    assert!(found(&v) > 0.7);
}

/// The remedy names the loop device whose direct I/O is off; that one has it off proves nothing.
#[test]
fn which_loop_device_goes_through_the_page_cache() {
    let of = |settings: &str, of_100: u64| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 10);
        recording.settings(settings);
        let mut built = built(READ, Wait::LoopFile, Reason::Device, of_100);
        built.over(recording);
        built.verdict("loop-double-cache")
    };
    let v = of("sda/loop/dio: 0\nsda/loop/backing_file: /var/lib/disk.img\n", 80);
    assert_eq!((found(&v) > 0.7, v.confidence), (true, Some(Confidence::High)));
    assert!(
        v.evidence
            .iter()
            .any(|e| e.sentence().contains("sda goes through the page cache of /var/lib/disk.img")),
        "{v:?}"
    );
    assert_eq!(v.remedies[0].command(), "losetup --direct-io=on /dev/sda");
    rejected(&of("sda/loop/dio: 0\n", 0));
    // Where only the block layer was recorded, it is a question if there is a loop device.
    let mut blocks = TraceBuilder::default();
    quick_reads(&mut blocks, 0, 200);
    assert!(rejected(&blocks.verdict("loop-double-cache")).contains("no loop device"));
    blocks.also_loop();
    assert!(cannot_tell(&blocks.verdict("loop-double-cache")).contains("iowhy record"));
    // That it has direct I/O now does not say which one had none.
    let direct = of("sda/loop/dio: 1\nsda/loop/backing_file: /var/lib/disk.img\n", 80);
    assert_eq!((found(&direct) > 0.7, says(&direct, "goes through")), (true, false));
    assert_eq!(direct.confidence, Some(Confidence::Medium));
    let unknown = of("", 80);
    assert_eq!((found(&unknown) > 0.7, unknown.confidence), (true, Some(Confidence::Medium)));
    assert!(unknown.missing[0].sentence().contains("losetup -l"), "{unknown:?}");
}

/// The device's own limit applies whatever the host's limits are.
#[test]
fn whose_limit_held_back_the_writer() {
    let of = |strict: u8| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 10);
        let bdi =
            format!(r#"{{"before": {{"disks": {{"sda": {{"bdi": {{"strict_limit": "{strict}"}}}}}}}}}}"#);
        recording.document("system.json", &bdi);
        let mut built = built(WRITE, Wait::DirtyThrottle, Reason::DirtyThrottle, 80);
        built.over(recording);
        built.verdict("dirty-throttling")
    };
    let (host, own) = (of(0), of(1));
    assert!(found(&host) > 0.7 && found(&own) > 0.7);
    assert!(host.remedies[0].command().starts_with("sysctl vm."), "{host:?}");
    assert_eq!(own.remedies[0].command(), "echo 0 > /sys/block/sda/bdi/strict_limit");
    assert!(own.remedies.iter().all(|r| !r.command().contains("sysctl")), "{own:?}");
}

const MAKING_ROOM: &str = "io_schedule\njbd2_log_do_checkpoint\n__jbd2_log_wait_for_space\nadd_transaction_credits\nstart_this_handle";
const FOR_A_COMMIT: &str = "schedule\nwait_transaction_locked\nadd_transaction_credits\nstart_this_handle";

fn handles(of_100: u64, stack: &str) -> Verdict {
    let mut built = OpBuilder::default();
    built.quick(OPEN, 294);
    for _ in 0..3 {
        let sleeps =
            [(Wait::JournalHandle, Reason::Device, of_100), (Wait::Input, Reason::Sleep, 99 - of_100)];
        built.slow_in(OPEN, 100, &sleeps[..1], stack).slow(OPEN, 100, &sleeps);
    }
    built.verdict("journal-space")
}

#[test]
fn room_in_the_journal_is_told_from_a_commit_by_the_stack() {
    let v = handles(90, MAKING_ROOM);
    // Kept are each of the six, and those with a stack once more.
    assert!(found(&v) > 0.2, "{v:?}");
    assert!(v.evidence[0].sentence().contains("__jbd2_log_wait_for_space"), "{v:?}");
    rejected(&handles(90, FOR_A_COMMIT));
    rejected(&handles(9, MAKING_ROOM));
}

#[test]
fn encrypting_is_no_queue() {
    assert!(rejected(&built(WRITE, Wait::Crypt, Reason::OnCpu, 80).verdict("crypt-queue"))
        .contains("waited for this"));
    let v = built(READ, Wait::Crypt, Reason::WorkQueue, 80).verdict("crypt-queue");
    assert_eq!(v.remedies[0].command(), "cryptsetup refresh --perf-no_read_workqueue NAME");
}

/// Reads that are completed in an interrupt are queued, whatever the flag says.
#[test]
fn a_disk_of_several_queues_decrypts_reads_in_a_queue() {
    let of = |kind: Kind, queues: u32| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 10);
        for q in 0..queues {
            recording.settings(&format!("sda/mq/{q}/nr_tags: 64\n"));
        }
        let mut built = built(kind, Wait::Crypt, Reason::WorkQueue, 80);
        built.over(recording);
        built.verdict("crypt-queue").remedies[0].command()
    };
    assert_eq!(of(READ, 1), "cryptsetup refresh --perf-no_read_workqueue NAME");
    assert_eq!(of(READ, 2), "cryptsetup refresh --perf-high_priority NAME");
    assert_eq!(of(WRITE, 2), "cryptsetup refresh --perf-no_write_workqueue NAME");
}

/// A task that waits for a processor within another wait waits for a processor.
#[test]
fn waiting_for_a_processor_is_not_the_waits() {
    for (cause, kind, wait) in [
        ("raid-stripe-cache", WRITE, Wait::StripeCache),
        ("raid-bitmap", WRITE, Wait::RaidBitmap),
        ("inode-lock", WRITE, Wait::InodeLock),
        ("access-time", READ, Wait::LogSpace),
        ("log-space", OPEN, Wait::LogSpace),
        ("log-force", FSYNC, Wait::LogForce),
        ("swap", Kind::PageFault, Wait::Swap),
        ("page-fault-read", Kind::PageFault, Wait::PageFault),
        ("queue-freeze", READ, Wait::QueueFreeze),
        ("crypt-queue", WRITE, Wait::Crypt),
    ] {
        // Nothing else of it is a wait: of a page fault whatever is left would be one for its page.
        let mut built = built(kind, wait, Reason::WaitCpu, 99);
        rejected(&built.verdict(cause));
        assert!(found(&built.verdict("cpu-wait")) > 0.9, "{cause}");
    }
}

/// What raid-bitmap says of writes that were in md itself for 80 of 100 ms, and where their tasks slept.
fn in_md_itself(stack: &str, settings: &str) -> Verdict {
    so_long_in_md(80, stack, settings)
}

fn so_long_in_md(of_100: u64, stack: &str, settings: &str) -> Verdict {
    let mut recording = TraceBuilder::default();
    recording.raid_write(0, MS, 0, MS).document("queue-md0.txt", settings);
    let sleeps = [(Wait::DirectIo, Reason::Stacking, of_100), (Wait::Input, Reason::Sleep, 99 - of_100)];
    let mut built = OpBuilder::default();
    built.quick(WRITE, 297);
    for _ in 0..3 {
        match stack.is_empty() {
            true => built.slow(WRITE, 100, &sleeps),
            false => built.slow_in(WRITE, 100, &sleeps, stack),
        };
    }
    built.over(recording).verdict("raid-bitmap")
}

#[test]
fn where_nobody_knows_what_slept_where_the_bitmap_cannot_be_told() {
    let bitmap = "md0/md/consistency_policy: bitmap\n";
    let v = in_md_itself("", bitmap);
    assert!(cannot_tell(&v).contains("where tasks sleep was not recorded"), "{v:?}");
    assert!(cannot_tell(&so_long_in_md(11, "", bitmap)).contains("waited in md for 11 % of their time"));
    rejected(&so_long_in_md(9, "", bitmap));
    rejected(&in_md_itself("submit_bio_wait", bitmap));
    let v = in_md_itself("", "md0/md/consistency_policy: resync\n");
    assert!(rejected(&v).starts_with("md0 has no bitmap"), "{v:?}");
}

/// Two kinds of operations with the same wait are both reported, and the remedy once.
#[test]
fn two_kinds_that_wait_so_are_one_finding() {
    let of_some_kinds = ["access-time", "page-fault-read", "journal-space"];
    for (cause, kind, wait, reason) in ABOUT.iter().filter(|(cause, ..)| !of_some_kinds.contains(cause)) {
        let other = if *kind == WRITE { FSYNC } else { WRITE };
        let mut built = built(*kind, *wait, *reason, 80);
        built.quick(other, 297);
        for _ in 0..3 {
            built.slow(other, 200, &[(*wait, *reason, 160), (Wait::Input, Reason::Sleep, 39)]);
        }
        let (one, both) = (self::built(*kind, *wait, *reason, 80).verdict(cause), built.verdict(cause));
        assert!((found(&both) - 0.8).abs() < 0.02 && both.evidence.len() > one.evidence.len(), "{both:?}");
        if *cause != "crypt-queue" {
            assert_eq!(commands(&both), commands(&one), "{cause}");
        }
    }
}

/// A wait that other causes have explained is named as long as a hundredth of it is left.
#[test]
fn a_hundredth_that_is_left_is_worth_naming() {
    let of = |left: u64| {
        let mut built = OpBuilder::default();
        built.quick(READ, 297);
        for _ in 0..3 {
            built.slow(
                READ,
                1000,
                &[(Wait::StablePage, Reason::WaitCpu, 800), (Wait::DirectIo, Reason::WaitCpu, left)],
            );
        }
        built.verdict("cpu-wait")
    };
    let v = of(11);
    assert!(is_found(&v) && says(&v, "; other causes explain 2.4 s of that"), "{v:?}");
    assert!(says(&v, "1 s, of which 811 ms waiting for a processor"), "{v:?}");
    assert!(rejected(&of(9))
        .contains("other causes explain what the slowest reads spent waiting for a processor"));
    let alone = built(READ, Wait::DirectIo, Reason::WaitCpu, 80).verdict("cpu-wait");
    assert!(found(&alone) > 0.7 && !says(&alone, "other causes"), "{alone:?}");
}

/// The more is said of a wait the more there was of it, and of less than a hundredth nothing.
#[test]
fn what_was_waited_for_most_is_what_speaks_against() {
    let of = |reads: u64, writes: u64| {
        let mut built = OpBuilder::default();
        for (kind, ms) in [(READ, reads), (WRITE, writes)] {
            built.quick(kind, 297);
            for _ in 0..3 {
                built.slow(
                    kind,
                    1000,
                    &[(Wait::InodeLock, Reason::Lock, ms), (Wait::Input, Reason::Sleep, 990 - ms)],
                );
            }
        }
        built.verdict("inode-lock")
    };
    assert!(rejected(&of(80, 50)).contains("the slowest reads spent 8.0 %"));
    assert!(rejected(&of(50, 80)).contains("the slowest writes spent 8.0 %"));
    assert_eq!((of(9, 0).minor, of(11, 0).minor), (true, false));
}

/// Memory that stays in place is not read back, however quickly the device does that: none of the time seems lost.
#[test]
fn swap_is_all_of_what_takes_most_of_all_operations() {
    let of = |each_of_10: u64| {
        let mut built = OpBuilder::default();
        for _ in 0..100 {
            built.slow(Kind::PageFault, 10, &[(Wait::Swap, Reason::Device, each_of_10)]);
        }
        let v = built.verdict("swap");
        assert!(found(&v) > 0.1, "{v:?}");
        v.throughout
    };
    let all = of(9);
    assert!(matches!(all[..], [(0, part)] if (part - 0.9).abs() < 0.01), "{all:?}");
    assert!(of(2).is_empty(), "a part of it");
}
