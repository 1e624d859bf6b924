//! Requests in a queue, in parallel, and alone.

use super::*;
use crate::op_builder::{OpBuilder, READER};
use device::{Behind, Split};
use ledger::Reason;
use life::Io;
use operation::{Kind, Wait};
use trace::{Call, Nanos};

const READ: Kind = Kind::Call(Call::Read);

/// So many reads at once, served one after the other, 2 ms each.
fn crowd(recording: &mut TraceBuilder, at_ms: u64, reads: u64) {
    let at = at_ms * MS;
    for i in 0..reads {
        recording.read(at + i, at + i, at + (i + 1) * 2 * MS);
    }
}

/// Some alone, then 200 times eight at once.
fn crowds() -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 100);
    for i in 0..200 {
        crowd(&mut recording, 1000 + 20 * i, 8);
    }
    recording
}

#[test]
fn found_where_requests_stand_in_line() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 100);
    for i in 0..100 {
        crowd(&mut recording, 1000 + 20 * i, 8);
    }
    let v = recording.verdict("device-saturated");
    assert!(found(&v) > 0.7, "{v:?}");
    assert_eq!(v.confidence, Some(Confidence::High));
    assert!(says(&v, "behind others in sda for 87 % of their time"), "{v:?}");
    assert!(rejected(&recording.verdict("healthy")).contains("device-saturated"));
}

#[test]
fn less_sure_where_only_one_depth_was_seen() {
    let mut recording = TraceBuilder::default();
    // Always the same eight in flight: a new one for each that is done.
    for i in 0..500 {
        recording.read(i * 2 * MS, i * 2 * MS, (i + 8) * 2 * MS);
    }
    let v = recording.verdict("device-saturated");
    found(&v);
    assert_eq!(v.confidence, Some(Confidence::Medium));
    assert!(v.missing[0].sentence().contains("record a lighter load"), "{v:?}");
}

/// A large write that is split waits for its own pieces: that is its service time.
#[test]
fn who_is_never_alone_on_a_device_that_mostly_rests_is_no_queue_for_certain() {
    let every = |ms: u64| {
        let mut recording = TraceBuilder::default();
        for i in 0..100 {
            let at = (1000 + ms * i) * MS;
            // The last piece is done first: how many were in flight before it does not matter.
            for n in 0..8 {
                recording.read(at + n, at + n, at + 2 * (8 - n) * MS);
            }
        }
        recording.verdict("device-saturated")
    };
    assert!(is_found(&every(20)) && !is_found(&every(60)));
}

#[test]
fn a_queue_of_all_is_told_whatever_the_slowest_met() {
    let mut recording = crowds();
    for i in 0..25 {
        let at = (6000 + 200 * i) * MS;
        recording.discard(at, at + 90 * MS);
        recording.read(at + 10, at + 10, at + 90 * MS + 10);
    }
    assert!(found(&recording.verdict("discard-stall")) > 0.5);
    found(&recording.verdict("device-saturated"));
}

/// Of what most reads take less than half is the queue, of what they lose all; the slowest are behind somebody else.
#[test]
fn a_queue_of_most_that_was_lost_is_told_whatever_the_slowest_met() {
    let recording = crowds();
    let mut built = OpBuilder::default();
    let (own, others) = (built.holder(READER, Io::Read), built.holder("tar", Io::Read));
    let ms = |ms: u64| Nanos(ms * 1_000_000);
    for (times, holder, time) in [(297, own, 5), (3, others, 90)] {
        let mut split = Split { known: true, own: ms(6), ..Split::default() };
        split.behind[0] = Behind { holder, time: ms(time) };
        for _ in 0..times {
            built.inside(READ, split);
        }
    }
    let v = built.over(recording).verdict("device-saturated");
    assert_eq!(v.verdict, Answer::Found, "{v:?}");
}

/// What the cache could have had need not be read at all; what passes by it must.
#[test]
fn reads_that_miss_the_cache_are_spared_first() {
    let first = |wait| {
        let mut built = OpBuilder::default();
        built.waiting_for(wait);
        let own = built.holder(READER, Io::Read);
        for _ in 0..300 {
            let mut split = Split { known: true, own: Nanos(6_000_000), ..Split::default() };
            split.behind[0] = Behind { holder: own, time: Nanos(9_000_000) };
            built.inside(READ, split);
        }
        commands(&built.over(crowds()).verdict("device-saturated")).remove(0)
    };
    for wait in [Wait::PageRead, Wait::Metadata] {
        assert!(first(wait).starts_with("find DIR"), "{}", first(wait));
    }
    assert!(!first(Wait::DirectIo).starts_with("find DIR"), "{}", first(Wait::DirectIo));
}

#[test]
fn rejected_where_the_device_works_side_by_side() {
    let mut recording = TraceBuilder::default();
    for i in 0..100 {
        let at = 20 * i * MS;
        recording.read(at, at, at + 5 * MS);
        for k in 0..8 {
            recording.read(at + 10 * MS + k, at + 10 * MS + k, at + 15 * MS + k);
        }
    }
    let v = recording.verdict("device-saturated");
    // Eight at once took no longer than one alone: requests in flight cost nothing.
    let why = rejected(&v);
    assert!(why.starts_with("with 4 to 7 others in flight reads took 5 ms"), "{why}");
}

#[test]
fn rejected_where_a_lone_request_is_slow() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 200);
    for i in 0..3 {
        recording.read((1000 + 200 * i) * MS, (1000 + 200 * i) * MS, (1100 + 200 * i) * MS);
    }
    assert!(rejected(&recording.verdict("device-saturated")).contains("device-stall leaves"));
}

/// So many reads alone beside always the same eight in flight.
#[test]
fn twenty_five_alone_say_how_fast_it_is_with_few() {
    let of = |alone: u64| {
        let mut recording = TraceBuilder::default();
        for i in 0..alone {
            // Of two sizes, and no size of those with others in flight: their bytes say nothing.
            recording.large_read(2 * i * MS, (2 * i + 1) * MS, 8 << (i % 2));
        }
        for i in 0..500 {
            recording.read((200 + i * 2) * MS, (200 + i * 2) * MS, (200 + (i + 8) * 2) * MS);
        }
        let v = recording.verdict("device-saturated");
        found(&v);
        v.confidence
    };
    // The first of the eight is alone, too.
    assert_eq!((of(24), of(23)), (Some(Confidence::High), Some(Confidence::Medium)));
}

/// The comparison is with the usual number in flight, not with the largest.
#[test]
fn few_are_compared_with_what_is_usual() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 100);
    for i in 0..104 {
        crowd(&mut recording, 1000 + 40 * i, if i < 100 { 8 } else { 16 });
    }
    let v = recording.verdict("device-saturated");
    assert!(found(&v) > 0.0 && says(&v, "with 4 to 7 others in flight reads took"), "{v:?}");
}

/// With four times so many us for each of eight at once, and 4 ms alone.
#[test]
fn half_as_long_again_with_many_is_growth() {
    let of = |each: u64| {
        let mut recording = TraceBuilder::default();
        for i in 0..200 {
            recording.read(10 * i * MS, 10 * i * MS, (10 * i + 4) * MS);
        }
        for i in 0..100 {
            let at = (3000 + 40 * i) * MS;
            recording.read(at, at, at + 4 * MS);
            for k in 1..8 {
                recording.read(at + k, at + k, at + 4 * MS + 4 * each * k);
            }
        }
        recording.verdict("device-saturated")
    };
    // Those that met the bytes of five to seven others take six times so much longer on average.
    assert!(is_found(&of(85)));
    assert!(rejected(&of(80)).contains("with 4 to 7 others in flight reads took 5.7"));
}

#[test]
fn what_is_held_back_is_what_it_has_most_of() {
    let property = |writes: bool| {
        let mut recording = TraceBuilder::default();
        for i in 0..100 {
            for k in 0..8 {
                let at = 20 * i * MS + k;
                match writes {
                    true => recording.sync_write(at, at, at + (k + 1) * 2 * MS),
                    false => recording.read(at, at, at + (k + 1) * 2 * MS),
                };
            }
        }
        let v = recording.verdict("device-saturated");
        found(&v);
        // Half of 800 in two seconds, busy or not.
        assert!(commands(&v)[0].ends_with(" 200\""), "{}", commands(&v)[0]);
        (commands(&v)[0].contains("IOReadIOPSMax"), commands(&v)[0].contains("IOWriteIOPSMax"))
    };
    assert_eq!((property(false), property(true)), ((true, false), (false, true)));
}

#[test]
fn little_time_in_the_device_is_no_line() {
    let of = |ms: u64| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 200);
        super::paths::built(Kind::Call(Call::Read), Wait::DirectIo, Reason::Device, ms)
            .over(recording)
            .verdict("device-saturated")
    };
    assert!(rejected(&of(9)).contains("the slowest reads spent 9.0 % of their time in the device"));
    assert!(rejected(&of(11)).contains("200 of 200 such requests found sda empty"));
}

#[test]
fn who_is_served_at_the_same_time_stands_in_no_line() {
    // All eight in 8 ms; the last ones in 8.4, with none in flight before them that did not come with them.
    let mut crowd = TraceBuilder::default();
    for round in 0..90 {
        for k in 0..8 {
            let at = |round: u64| round * 8 * MS + k * 10;
            crowd.read(at(round), at(round), at(round + 1) - 2);
        }
    }
    for k in 0..8 {
        let at = 722 * MS + k * 10;
        crowd.read(at, at, at + 8400);
    }
    // No request was twice as quick as the slow ones: nothing says that they waited for each other.
    let v = crowd.verdict("device-saturated");
    assert!(rejected(&v).contains("serves several requests in parallel"), "{v:?}");
}

/// Eight on their way at a time, one of them done each millisecond: so it looks where they stand in line, but one alone takes as long.
#[test]
fn who_takes_as_long_alone_stands_in_no_line() {
    let mut recording = TraceBuilder::default();
    for i in 0..200 {
        let at = 20 * i * MS;
        recording.read(at, at, at + 8 * MS);
    }
    for i in 0..500 {
        let at = (5000 + i) * MS;
        recording.read(at, at, at + 8 * MS);
    }
    let v = recording.verdict("device-saturated");
    assert!(rejected(&v).contains("with 4 to 7 others in flight reads took"), "{v:?}");
}

#[test]
fn the_queue_may_stand_in_the_scheduler() {
    let recording = |served: bool| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 300);
        for i in 0..10 {
            let at = (1000 + 100 * i) * MS;
            let until = if served { 20 * MS + 100 } else { MS };
            recording.read(at, at, at + until);
            recording.scheduled_read(at + 1, at + 20 * MS, at + 21 * MS);
        }
        recording
    };
    let v = recording(true).verdict("device-saturated");
    assert!(found(&v) > 0.4 && says(&v, "waited in the scheduler for"), "{v:?}");
    let v = recording(false).verdict("device-saturated");
    assert!(!is_found(&v), "the device was idle: {v:?}");
}

/// Reads take 4, 7 or 10 ms, alone as well as four at a time: that the slowest are longer there than most are alone is no queue.
#[test]
fn what_varies_alone_as_much_as_beside_others_stands_in_no_line() {
    let mut recording = TraceBuilder::default();
    let took = |n: u64| [4, 7, 10][n as usize % 3] * MS;
    for n in 0..200 {
        let at = 20 * n * MS;
        recording.read(at, at, at + took(n));
    }
    for n in 0..1000 {
        for k in 0..4 {
            let at = (5000 + 20 * n) * MS + k;
            recording.read(at, at, at + took(n + k));
        }
    }
    let v = recording.verdict("device-saturated");
    assert!(rejected(&v).contains("with 2 to 3 others in flight reads took 7"), "{v:?}");
}

/// Kernel workers are in no unit that could be limited; the unit of a task without a name is not known.
#[test]
fn a_thread_of_the_kernel_is_not_limited() {
    let limits = |names: Option<[&str; 2]>| {
        let mut recording = TraceBuilder::default();
        if let Some([reader, another]) = names {
            recording.called(reader, another);
        }
        for i in 0..100 {
            for k in 0..8 {
                let at = 20 * i * MS + k;
                match k {
                    0..5 => recording.read_by_another(at, at, at + (k + 1) * 2 * MS),
                    _ => recording.read(at, at, at + (k + 1) * 2 * MS),
                };
            }
        }
        let v = recording.verdict("device-saturated");
        found(&v);
        commands(&v).iter().any(|command| command.contains("set-property"))
    };
    assert!(limits(None) && !limits(Some(["fio", "kworker/u8:1"])));
}

/// Another task sends most of the requests: among them, or at other times.
#[test]
fn a_task_that_nobody_waits_behind_is_not_limited() {
    let limits = |among: bool| {
        let mut recording = TraceBuilder::default();
        recording.called("postgres", "rsync");
        for i in 0..100 {
            let at = 100 * i * MS;
            for k in 0..20 {
                let done = at + (k + 1) * 2 * MS;
                match k % 5 {
                    0..2 => recording.read(at + k, at + k, done),
                    _ if among => recording.read_by_another(at + k, at + k, done),
                    _ => recording.read_by_another(done + 50 * MS, done + 50 * MS, done + 51 * MS),
                };
            }
        }
        let v = recording.verdict("device-saturated");
        found(&v);
        commands(&v).iter().any(|command| command.contains("set-property"))
    };
    assert!(limits(true) && !limits(false));
}
