//! Slow without interference.

use super::*;
use crate::op_builder::OpBuilder;
use device::{Behind, Split};
use life::Io;
use operation::{Kind, Wait};
use trace::Call;

const READ: Kind = Kind::Call(Call::Read);
const WRITE: Kind = Kind::Call(Call::Write);
const FDATASYNC: Kind = Kind::Call(Call::Fdatasync);

/// 297 quick operations, and three that the device served for this long (us), that were behind another task for this
/// long, and in which it was slower than usual for this long.
fn served(kind: Kind, wait: Wait, own: u64, behind: u64, slow: u64, settings: &str) -> OpBuilder {
    let mut recording = TraceBuilder::of_any_kind();
    quick_reads(&mut recording, 0, 200);
    recording.settings(settings);
    let mut built = OpBuilder::default();
    built.over(recording).quick(kind, 297).waiting_for(wait);
    let mut split =
        Split { known: true, own: Nanos(own * 1000), slow: Nanos(slow * 1000), ..Split::default() };
    split.behind[0] = Behind { holder: built.holder("tar", Io::Read), time: Nanos(behind * 1000) };
    for _ in 0..3 {
        built.inside(kind, split);
    }
    built
}

#[test]
fn a_read_that_the_cache_does_not_have_is_cold() {
    for wait in [Wait::PageRead, Wait::PageFault, Wait::Metadata] {
        let mut built = served(READ, wait, 10 * MS, 0, 0, "");
        let v = built.verdict("cold-reads");
        assert!(found(&v) > 0.95, "{v:?}");
        assert!(says(&v, "for 100 % of their time the slowest reads were being served"), "{v:?}");
        rejected(&built.verdict("slow-device"));
    }
}

/// A disk that turns seeks between files that are read at once.
#[test]
fn files_are_read_into_memory_as_the_disk_likes_it() {
    let first = |turns: &str| {
        let mut built = served(READ, Wait::PageRead, 10 * MS, 0, 0, turns);
        let told = commands(&built.verdict("cold-reads"));
        told.into_iter().find(|command| command.starts_with("find DIR")).expect("a remedy")
    };
    assert_eq!(first("sda/queue/rotational: 1\n"), "find DIR -type f -print0 | xargs -0 cat > /dev/null");
    let several = "find DIR -type f -print0 | xargs -0 -n 16 -P 8 cat > /dev/null";
    assert_eq!([first("sda/queue/rotational: 0\n"), first("")], [several, several]);
}

#[test]
fn files_that_are_read_at_once_need_no_advice_to_do_so() {
    let offered = |at_once: u64| {
        let mut recording = TraceBuilder::of_any_kind();
        for i in 0..200 {
            recording.read(i * MS, i * MS, (i + at_once) * MS - 1);
        }
        let mut built = OpBuilder::default();
        built.over(recording).quick(READ, 297).waiting_for(Wait::PageRead);
        for _ in 0..3 {
            built.inside(READ, Split { known: true, own: Nanos(10 * MS * 1000), ..Split::default() });
        }
        commands(&built.verdict("cold-reads")).iter().any(|command| command.starts_with("find DIR"))
    };
    assert_eq!([1, 4, 5, 8].map(offered), [true, true, false, false]);
}

/// A copy waits for what it reads, and for what it writes.
#[test]
fn a_copy_is_cold_if_it_waits_for_pages_to_be_read() {
    for call in [Call::Sendfile, Call::CopyFileRange] {
        let of = |wait| {
            let mut built = served(Kind::Call(call), wait, 10 * MS, 0, 0, "");
            ["cold-reads", "slow-device"].map(|cause| is_found(&built.verdict(cause)))
        };
        assert_eq!((of(Wait::PageRead), of(Wait::OwnData)), ([true, false], [false, true]));
    }
}

/// Without stacks it is not known where a reader slept; flags of the device's reads say whether they were for the page cache.
#[test]
fn without_stacks_reads_ahead_are_the_page_caches() {
    let of = |ahead: bool| {
        let mut recording = TraceBuilder::of_any_kind();
        for at in (0..200).map(|i| 2 * i * MS) {
            match ahead {
                true => recording.read_ahead(at, at + MS, 4, true),
                false => recording.read(at, at, at + MS),
            };
        }
        let mut built = OpBuilder::default();
        built.over(recording).quick(READ, 297).waiting_for(Wait::Unknown);
        for _ in 0..3 {
            built.inside(READ, Split { known: true, own: Nanos(10 * MS * 1000), ..Split::default() });
        }
        ["cold-reads", "slow-device"].map(|cause| is_found(&built.verdict(cause)))
    };
    assert_eq!((of(true), of(false)), ([true, false], [false, true]));
}

/// 200 quick reads of 200 places, or of some of them again.
#[test]
fn what_was_read_before_is_told_first() {
    let of = |places: u64| {
        let mut recording = TraceBuilder::of_any_kind();
        for i in 0..200 {
            recording.read_place(i % places, i * MS, i * MS + 500);
        }
        let mut built = OpBuilder::default();
        built.over(recording).quick(READ, 297).waiting_for(Wait::PageRead);
        let split = Split { known: true, own: Nanos(10_000_000), ..Split::default() };
        for _ in 0..3 {
            built.inside(READ, split);
        }
        built.verdict("cold-reads")
    };
    let v = of(180);
    assert!(
        v.evidence[0].sentence().starts_with("10 % of the 800 KiB that sda read had been read before"),
        "{v:?}"
    );
    assert!(commands(&v)[0].starts_with("grep -E 'workingset_refault|drop_pagecache'"), "{v:?}");
    let v = of(181);
    assert!(!says(&v, "read before") && !commands(&v)[0].contains("refault"), "{v:?}");
}

#[test]
fn whoever_drops_the_cache_is_looked_for_first() {
    let of = |times: u64| {
        let mut recording = TraceBuilder::of_any_kind();
        for i in 0..200 {
            recording.read_place(i, i * MS, i * MS + 500);
        }
        let mut built = OpBuilder::default();
        built.over(recording).quick(READ, 297).waiting_for(Wait::PageRead).dropped(times);
        for _ in 0..3 {
            built.inside(READ, Split { known: true, own: Nanos(10_000_000), ..Split::default() });
        }
        built.verdict("cold-reads")
    };
    let v = of(3);
    assert!(says(&v, "dropped the kernel's caches 3 times"), "{v:?}");
    assert!(commands(&v)[0].starts_with("dmesg | grep drop_caches"), "{v:?}");
    let v = of(0);
    assert!(!says(&v, "dropped") && !commands(&v)[0].contains("drop_caches"), "{v:?}");
}

#[test]
fn what_passes_by_the_cache_is_a_slow_device() {
    for (kind, wait) in [(READ, Wait::DirectIo), (WRITE, Wait::DirectIo)] {
        let mut built = served(kind, wait, 10 * MS, 0, 0, "");
        let v = built.verdict("slow-device");
        assert!(found(&v) > 0.95, "{v:?}");
        rejected(&built.verdict("cold-reads"));
    }
}

/// A write of a part of a page waits for a read, as a read does.
#[test]
fn writes_that_read_first_miss_the_cache() {
    let mut built = served(WRITE, Wait::PageRead, 10 * MS, 0, 0, "");
    let v = built.verdict("cold-reads");
    assert!(
        found(&v) > 0.95 && says(&v, "most writes change a part of a page that is not in memory"),
        "{v:?}"
    );
    assert!(commands(&v)[0].starts_with("strace -fy -e write,"), "{v:?}");
    rejected(&built.verdict("slow-device"));
    assert!(!says(
        &served(READ, Wait::PageRead, 10 * MS, 0, 0, "").verdict("cold-reads"),
        "a part of a page"
    ));
}

/// The variation of its service is its own time, too.
#[test]
fn half_of_the_time_alone_is_the_threshold() {
    assert!(is_found(&served(READ, Wait::PageRead, 3 * MS, 4 * MS, 2 * MS, "").verdict("cold-reads")));
    let v = served(READ, Wait::PageRead, 3 * MS, 6 * MS, MS, "").verdict("cold-reads");
    assert!(rejected(&v).contains("by the device for only 40 % of their time"), "{v:?}");
}

fn throughout(wait: Wait, own: u64, settings: &str, cause: &str) -> Verdict {
    throughout_of(READ, wait, own, settings, cause)
}

/// A hundred operations that the device serves for this long, and one that was also behind another task for 30 times as long.
fn throughout_of(kind: Kind, wait: Wait, own: u64, settings: &str, cause: &str) -> Verdict {
    let mut built = OpBuilder::default();
    let mut recording = TraceBuilder::of_any_kind();
    for at in (0..200).map(|i| i * 2 * own) {
        recording.read(at, at, at + own);
    }
    recording.settings(settings);
    built.over(recording).waiting_for(wait);
    let tar = built.holder("tar", Io::Read);
    for n in 0..101 {
        let mut split = Split { known: true, own: Nanos(own * 1000), ..Split::default() };
        let time = if n == 50 { 30 * own } else { 0 };
        split.behind[0] = Behind { holder: tar, time: Nanos(time * 1000) };
        built.inside(kind, split);
    }
    built.verdict(cause)
}

/// Three times what drives with a SATA link take; what is written past the cache is as quick as a device's cache.
#[test]
fn direct_reads_that_all_take_longer_than_flash_are_a_slow_device() {
    let flash = "sda/queue/rotational: 0\n";
    let slow = |kind, own: u64, settings| throughout_of(kind, Wait::DirectIo, own, settings, "slow-device");
    assert!(is_found(&slow(READ, 500, flash)), "{:?}", slow(READ, 500, flash));
    assert!(!is_found(&slow(READ, 290, flash)), "as fast as flash");
    assert!(!is_found(&slow(WRITE, 500, flash)) && !is_found(&slow(READ, 500, "")), "a disk may turn");
}

#[test]
fn what_is_slow_throughout_is_found_although_the_slowest_waited_for_others() {
    let cold = |own: u64| throughout(Wait::PageRead, own, "", "cold-reads");
    assert!(is_found(&cold(5 * MS)), "{:?}", cold(5 * MS));
    assert_eq!(cold(5 * MS).throughout.len(), 1);
    assert!(is_found(&cold(500)), "{:?}", cold(500));
    assert!(!is_found(&cold(350)), "as fast as flash");
}

#[test]
fn a_disk_that_turns_is_slow_throughout_where_it_seeks_for_each() {
    let disk = "sda/queue/rotational: 1\n";
    let slow = |own: u64, settings: &str| throughout(Wait::DirectIo, own, settings, "slow-device");
    assert!(is_found(&slow(3 * MS, "")));
    assert!(!is_found(&slow(MS, "")), "Linux expects 2 ms");
    assert!(is_found(&slow(9 * MS, disk)), "{:?}", slow(9 * MS, disk));
    assert!(!is_found(&slow(3 * MS, disk)), "less than half a turn");
}

/// In a commit that writes its data and the journal, each request may be quick: what they take together counts.
#[test]
fn a_disk_that_turns_is_slow_throughout_where_it_seeks_for_each_commit() {
    let of = |own: u64, settings: &str| {
        let mut built = OpBuilder::default();
        let mut recording = TraceBuilder::of_any_kind();
        quick_reads(&mut recording, 0, 200);
        recording.settings(settings);
        built.over(recording).waiting_for(Wait::OwnData);
        for _ in 0..101 {
            built.inside(FDATASYNC, Split { known: true, own: Nanos(own * 1000), ..Split::default() });
        }
        built.verdict("slow-device")
    };
    let disk = "sda/queue/rotational: 1\n";
    assert_eq!(of(7 * MS, disk).throughout.len(), 1, "{:?}", of(7 * MS, disk));
    assert!(!is_found(&of(4 * MS, disk)), "less than half a turn");
    assert_eq!(of(7 * MS, "sda/queue/rotational: 0\n").throughout, []);
}

/// If the kernel's functions are not known, it is not known whose changes the journal's thread writes.
#[test]
fn what_the_journals_thread_writes_for_a_commit_is_the_devices_own_pace() {
    let of = |sender: &str| {
        let mut built = OpBuilder::default();
        let mut recording = TraceBuilder::of_any_kind();
        quick_reads(&mut recording, 0, 200);
        recording.settings("sda/queue/rotational: 1\n");
        built.over(recording).waiting_for(Wait::OwnData);
        for _ in 0..101 {
            let split = Split { known: true, own: Nanos(7 * MS * 1000), ..Split::default() };
            built.inside_of(FDATASYNC, sender, split);
        }
        built.verdict("slow-device")
    };
    assert_eq!(of("jbd2/sda-8").throughout.len(), 1, "{:?}", of("jbd2/sda-8"));
    assert!(!is_found(&of("dd")), "another task's data");
}

#[test]
fn what_linux_expects_is_not_slow() {
    let slow = |us: u64, wait: Wait, cause: &str, settings: &str| {
        served(READ, wait, us, 0, 0, settings).verdict(cause)
    };
    let disk = "sda/queue/rotational: 1\n";
    assert!(is_found(&slow(2200, Wait::DirectIo, "slow-device", "")));
    assert!(is_found(&slow(80 * MS, Wait::DirectIo, "slow-device", disk)));
    assert!(rejected(&slow(70 * MS, Wait::DirectIo, "slow-device", disk)).contains("Linux expects 75 ms"));
    // A read that need not have gone to the device at all is compared with flash.
    assert!(is_found(&slow(2200, Wait::PageRead, "cold-reads", disk)));
}

/// And for how much of the time of all: 101 parts of 131.
#[test]
fn page_faults_are_slow_throughout_where_each_waits_for_the_device() {
    let of = |own: u64| throughout_of(Kind::PageFault, Wait::PageFault, own, "", "page-fault-read");
    let v = of(5 * MS);
    let [(group, part)] = v.throughout[..] else { panic!("{v:?}") };
    assert_eq!(group, 0);
    assert!((part - 101.0 / 131.0).abs() < 0.02, "{part}");
    assert_eq!(of(100).throughout, [], "as fast as flash");
}
