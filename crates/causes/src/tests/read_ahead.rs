//! Too little read-ahead, and too much.

use super::*;
use crate::op_builder::{OpBuilder, READER};
use device::Split;
use ledger::Reason;
use operation::{Kind, Wait};
use trace::{Call, Nanos};

const READ: Kind = Kind::Call(Call::Read);

/// 300 calls of 4 KiB, three of them slow: they waited for a page. The device read ahead so many KiB, `times` over.
fn reads(kib: u64, times: u64, in_order: bool, settings: &str) -> OpBuilder {
    calls(READ, Wait::PageRead, kib, times, in_order, settings)
}

/// The same of other calls that read through the page cache.
fn calls(kind: Kind, wait: Wait, kib: u64, times: u64, in_order: bool, settings: &str) -> OpBuilder {
    let mut recording = TraceBuilder::default();
    for i in 0..times {
        recording.read_ahead(i * 10 * MS, i * 10 * MS + 5 * MS, kib, in_order);
    }
    if !settings.is_empty() {
        recording.settings(settings);
    }
    let mut built = OpBuilder::default();
    built.quick(kind, 297);
    for _ in 0..3 {
        built.slow(kind, 100, &[(wait, Reason::Device, 90)]);
    }
    built.over(recording);
    built
}

const SHORT: &str = "sda/queue/read_ahead_kb: 16\n";

#[test]
fn little_read_ahead_in_order() {
    let v = reads(16, 75, true, SHORT).verdict("read-ahead-short");
    assert!(found(&v) > 0.7, "{v:?}");
    assert_eq!(v.remedies[0].command(), "echo 512 > /sys/block/sda/queue/read_ahead_kb");
    assert!(rejected(&reads(16, 75, false, SHORT).verdict("read-ahead-short")).contains("are sequential"));
    let default = reads(16, 75, true, "sda/queue/read_ahead_kb: 128\n").verdict("read-ahead-short");
    assert!(rejected(&default).contains("read_ahead_kb of sda is 128"));
    assert!(cannot_tell(&reads(16, 75, true, "").verdict("read-ahead-short")).contains("was not recorded"));
}

#[test]
fn whatever_reads_through_the_page_cache_may_have_too_little_read_ahead() {
    let copies = [Call::Sendfile, Call::CopyFileRange].map(|call| (Kind::Call(call), Wait::PageRead));
    for (kind, wait) in copies.into_iter().chain([(Kind::PageFault, Wait::PageFault)]) {
        let v = calls(kind, wait, 16, 75, true, SHORT).verdict("read-ahead-short");
        assert!(found(&v) > 0.7, "{kind:?}: {v:?}");
    }
    let mut listed = calls(Kind::Call(Call::Getdents), Wait::PageRead, 16, 75, true, SHORT);
    assert!(!is_found(&listed.verdict("read-ahead-short")), "folders are not read ahead");
}

/// 200 reads missed the cache, in no order, and needed this many requests, one after the other.
#[test]
fn without_read_ahead_a_read_is_sent_page_by_page() {
    let of = |kib: u32, requests: u64| {
        let mut recording = TraceBuilder::of_any_kind();
        quick_reads(&mut recording, 0, requests);
        recording.called(READER, "flusher").settings(&format!("sda/queue/read_ahead_kb: {kib}\n"));
        let mut built = OpBuilder::default();
        built.over(recording).quick(READ, 297).waiting_for(Wait::PageRead);
        for _ in 0..200 {
            built.inside(READ, Split { known: true, own: Nanos(10 * MS * 1000), ..Split::default() });
        }
        built.verdict("read-ahead-short")
    };
    let v = of(0, 400);
    assert!((found(&v) - 0.5).abs() < 0.02, "half of them in half of the time: {v:?}");
    assert_eq!(v.remedies[0].command(), "echo 128 > /sys/block/sda/queue/read_ahead_kb");
    let [(_, part)] = v.throughout[..] else { panic!("{v:?}") };
    assert!((part - 0.5).abs() < 0.02, "{part}");
    assert!(is_found(&of(0, 301)));
    assert!(rejected(&of(0, 299)).contains("are sequential"));
    assert!(rejected(&of(64, 400)).contains("are sequential"));
}

/// 600 calls, six of them slow. So many files are read in order, 128 KiB at a time, each in so many us on a busy disk.
fn in_turn(files: u64, us: u64, settings: &str) -> Verdict {
    let mut recording = TraceBuilder::default();
    for i in 0..36 {
        let end = |i: u64| i * us + us * (i * i % 7) / 10;
        recording.read_in_turn(end(i), end(i + 1), files);
    }
    recording.called(READER, "flusher").settings(settings);
    let mut built = OpBuilder::default();
    built.quick(READ, 594);
    for _ in 0..6 {
        built.slow(READ, 100, &[(Wait::PageRead, Reason::Device, 90)]);
    }
    built.over(recording).verdict("read-ahead-short")
}

/// 5 ms for 128 KiB, of which a rotating disk moves them in 1.31 ms: for 4 MiB it takes 3.69 and 41.9 ms, not 32 times 5 ms.
#[test]
fn a_disk_that_goes_from_file_to_file_seeks_less_with_more_read_ahead() {
    let turns = "sda/queue/read_ahead_kb: 128\nsda/queue/rotational: 1\n";
    let v = in_turn(2, 5000, turns);
    assert!((v.share - 0.9 * (1.0 - 45.63 / 160.0)).abs() < 0.01, "{v:?}");
    assert_eq!(v.remedies[0].command(), "echo 4096 > /sys/block/sda/queue/read_ahead_kb");
    assert!(
        v.evidence[1].to_string().contains("reads 128 KiB at a time and takes 5.01 ms for that"),
        "{v:?}"
    );
    let quick = in_turn(2, 2500, turns);
    for v in [in_turn(1, 5000, turns), in_turn(9, 5000, turns), quick] {
        assert!(!is_found(&v), "one file, more than can be told apart, no seeks: {v:?}");
    }
    let of_blocks = |files| {
        let mut recording = TraceBuilder::default();
        for i in 0..400 {
            let end = |i: u64| i * 5000 + 500 * (i * i % 7);
            recording.read_in_turn(end(i), end(i + 2), files);
        }
        recording.settings(turns).verdict("read-ahead-short")
    };
    assert!(is_found(&of_blocks(2)) && !is_found(&of_blocks(1)), "{:?}", of_blocks(2));
    for settings in
        [turns.replace("128", "4096"), turns.replace(": 1\n", ": 0\n"), "sda/queue/rotational: 1\n".into()]
    {
        assert!(!is_found(&in_turn(2, 5000, &settings)), "{settings}");
    }
}

/// Ten of 300 reads take 50 ms in the device, alone; what all take is less.
#[test]
fn what_takes_longer_than_such_reads_do_is_not_due_to_read_ahead() {
    let of = |slow_ms: u64| {
        let mut recording = TraceBuilder::default();
        for i in 0..75 {
            recording.read_ahead(i * 10 * MS, i * 10 * MS + 5 * MS, 16, true);
        }
        recording.settings(SHORT);
        let mut built = OpBuilder::default();
        built.waiting_for(Wait::PageRead).quick(READ, 290);
        for _ in 0..10 {
            let (own, slow) = (Nanos(5 * MS * 1000), Nanos(slow_ms * MS * 1000));
            built.inside(READ, Split { known: true, own, slow, ..Split::default() });
        }
        built.over(recording).verdict("read-ahead-short")
    };
    assert!(is_found(&of(0)) && !is_found(&of(45 + 50)));
}

#[test]
fn much_read_ahead_for_nobody() {
    // The calls got 300 times 4 KiB.
    let v = reads(128, 100, false, "sda/queue/read_ahead_kb: 1024\n").verdict("read-ahead-waste");
    assert!(found(&v) > 0.7, "{v:?}");
    assert_eq!(v.remedies[0].command(), "echo 128 > /sys/block/sda/queue/read_ahead_kb");
    assert!(
        rejected(&reads(16, 149, false, "").verdict("read-ahead-waste")).contains("programs got 1.17 MiB")
    );
    found(&reads(16, 151, false, "").verdict("read-ahead-waste"));
    let mut blocks = TraceBuilder::default();
    quick_reads(&mut blocks, 0, 200);
    cannot_tell(&blocks.verdict("read-ahead-waste"));
    // Asked about some tasks only: what the device read is not theirs alone.
    let mut of_some = reads(128, 100, false, "");
    of_some.facts.narrow = true;
    assert_ne!(of_some.verdict("read-ahead-waste").verdict, Answer::Found);
}

/// 300 calls of a kind, so many of them in all; three waited for a page for so many of 100 ms. The device read some in order.
fn some(kind: Kind, calls: u64, wait: Wait, of_100: u64, in_order: u64) -> OpBuilder {
    let mut recording = TraceBuilder::default();
    for i in 0..100 {
        recording.read_ahead(i * 10 * MS, i * 10 * MS + 5 * MS, 16, i % 10 < in_order);
    }
    recording.settings(SHORT);
    let mut built = OpBuilder::default();
    built.quick(kind, calls - 3);
    for _ in 0..3 {
        built.slow(kind, 100, &[(wait, Reason::Device, of_100), (Wait::Input, Reason::Sleep, 99 - of_100)]);
    }
    built.over(recording);
    built
}

#[test]
fn only_reads_that_wait_for_pages_are_read_ahead_for() {
    let of = |kind, wait, of_100| some(kind, 300, wait, of_100, 10).verdict("read-ahead-short");
    assert!(is_found(&of(READ, Wait::PageRead, 11)));
    // While they wait for a page, the device does not serve it.
    let mut elsewhere = reads(16, 75, true, SHORT);
    for _ in 0..3 {
        elsewhere.slow(READ, 9000, &[(Wait::PageRead, Reason::Sleep, 8000)]);
    }
    let elsewhere = elsewhere.verdict("read-ahead-short");
    for v in [
        elsewhere,
        of(READ, Wait::PageRead, 9),
        of(READ, Wait::DirectIo, 80),
        of(Kind::Call(Call::Write), Wait::PageRead, 80),
    ] {
        assert!(
            rejected(&v).contains("no slow operation read a file through the page cache") && v.minor,
            "{v:?}"
        );
    }
}

#[test]
fn seven_of_ten_in_order_is_somebody_who_reads_in_order() {
    let of = |in_order| some(READ, 300, Wait::PageRead, 80, in_order).verdict("read-ahead-short");
    // Of a hundred pieces; the last of each stretch has another one behind it.
    assert!(is_found(&of(8)));
    assert!(rejected(&of(7)).contains("on sda are sequential"));
}

#[test]
fn what_is_read_ahead_by_default_is_enough() {
    let of = |kib: u64| {
        let v = reads(16, 75, true, &format!("sda/queue/read_ahead_kb: {kib}\n")).verdict("read-ahead-short");
        (is_found(&v), v)
    };
    assert!(of(124).0 && !of(128).0);
    let (_, v) = of(64);
    assert!(
        v.remedies[0].what.starts_with("read_ahead_kb 64 -> 512: the reader waits 8 times less often"),
        "{v:?}"
    );
    // Twice as often as by default: half of it.
    assert!((v.share - 0.45).abs() < 0.01, "{v:?}");
}

#[test]
fn waste_is_of_calls_that_read() {
    let of = |kind, calls, of_100| some(kind, calls, Wait::PageRead, of_100, 0).verdict("read-ahead-waste");
    // They got 200 times 4 KiB of the 1.6 MiB: half of 20 ms are a tenth.
    assert!(is_found(&of(READ, 200, 25)));
    for v in [of(READ, 99, 80), of(READ, 200, 9), of(Kind::PageFault, 200, 9)] {
        assert!(rejected(&v).contains("no read that was slow waited for the device") && v.minor, "{v:?}");
    }
    let mapped = of(Kind::PageFault, 200, 80);
    assert!(rejected(&mapped).contains("what a program uses of a mapped file is not seen"), "{mapped:?}");
    assert!(is_found(&of(READ, 100, 80)));
    // A claim of less than a tenth is none.
    assert!(!is_found(&of(READ, 200, 15)));
}

/// What is read without being asked for is not all read ahead: another program's pages, metadata.
#[test]
fn half_read_ahead_is_most_of_it() {
    let of = |ahead: u64| {
        let mut recording = TraceBuilder::default();
        for i in 0..100 {
            match i < ahead {
                true => recording.read_ahead(i * 10 * MS, i * 10 * MS + 5 * MS, 64, false),
                false => recording.large_read(i * 10 * MS, i * 10 * MS + 5 * MS, 64),
            };
        }
        let mut built = OpBuilder::default();
        built.quick(READ, 297);
        for _ in 0..3 {
            built.slow(READ, 100, &[(Wait::PageRead, Reason::Device, 90)]);
        }
        built.over(recording).verdict("read-ahead-waste")
    };
    assert!(is_found(&of(51)));
    assert!(rejected(&of(49)).contains("sda read 6.25 MiB, 49 % of it ahead; programs got 1.17 MiB"));
}

/// tar reads 128 KiB ahead a hundred times; this task has a file mapped.
#[test]
fn what_is_read_for_mapped_files_is_not_judged() {
    let of = |mapper: &str| {
        let mut built = reads(128, 100, false, "");
        let mut recording = TraceBuilder::default();
        recording.called("tar", "kworker/0:1");
        for i in 0..100 {
            recording.read_ahead(i * 10 * MS, i * 10 * MS + 5 * MS, 128, false);
        }
        built.over(recording).by(mapper).quick(Kind::PageFault, 50);
        built.verdict("read-ahead-waste")
    };
    assert!(is_found(&of("rustc")), "{:?}", of("rustc"));
    assert_eq!(of("tar").verdict, Answer::Rejected);
}

/// 300 page faults, and reads of so many KiB by their task.
fn faults(kib: u64, in_order: bool, settings: &str) -> Verdict {
    let mut recording = TraceBuilder::default();
    for i in 0..75 {
        recording.read_ahead(i * 10 * MS, i * 10 * MS + 5 * MS, kib, in_order);
    }
    recording.called(READER, "flusher").settings(settings);
    let mut built = OpBuilder::default();
    built.quick(Kind::PageFault, 297);
    (0..3).for_each(|_| {
        built.slow(Kind::PageFault, 100, &[(Wait::PageFault, Reason::Device, 90)]);
    });
    built.over(recording).verdict("page-fault-read")
}

#[test]
fn less_is_read_around_pages_that_are_touched_at_random() {
    let less = |v: &Verdict| {
        let commands = v.remedies.iter().map(|r| r.command().to_string());
        commands.filter(|c| c.contains("read_ahead_kb")).collect::<Vec<_>>()
    };
    let usual = "sda/queue/read_ahead_kb: 128\nsda/queue/rotational: 0\n";
    let v = faults(128, false, usual);
    assert!(found(&v) > 0.7, "{v:?}");
    assert_eq!(less(&v), ["echo 16 > /sys/block/sda/queue/read_ahead_kb"]);
    assert!(less(&faults(128, true, usual)).is_empty(), "one after another");
    assert!(less(&faults(16, false, usual)).is_empty(), "as little as proposed");
    assert!(less(&faults(128, false, "")).is_empty(), "the setting was not recorded");
    // A rotating disk seeks for 8 ms, and reads 128 KiB in one.
    let turns = |kib: u32| format!("sda/queue/read_ahead_kb: {kib}\nsda/queue/rotational: 1\n");
    assert!(less(&faults(128, false, &turns(128))).is_empty());
    assert_eq!(less(&faults(1024, false, &turns(1024))), ["echo 128 > /sys/block/sda/queue/read_ahead_kb"]);
}
