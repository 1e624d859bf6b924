//! A device that takes long for some requests, and not because of a queue.

use super::*;
use crate::op_builder::{OpBuilder, READER};
use device::{Behind, Split};
use life::{Contention, Io};
use operation::Kind;
use trace::{Bytes, Call};

const READ: Kind = Kind::Call(Call::Read);

/// Reads of 1 ms, and five that take longer, none of them after a pause.
fn stalls(longest: u64, ahead: bool) -> TraceBuilder {
    let mut recording = TraceBuilder::of_any_kind();
    quick_reads(&mut recording, 0, 300);
    for i in 0..5 {
        let at = (1000 + 500 * i) * MS;
        recording.read(at, at, at + MS);
        let at = at + MS + 100;
        if ahead {
            for j in 0..20 {
                recording.read(at, at, at + (j + 1) * longest / 21);
            }
        }
        recording.read(at + 1, at + 1, at + longest);
    }
    recording
}

#[test]
fn a_device_that_stalls_without_a_queue() {
    let v = stalls(80 * MS, false).verdict("device-stall");
    assert!(found(&v) > 0.9, "{v:?}");
    assert!(v.evidence[0].sentence().contains("80 ms"), "{v:?}");
    rejected(&stalls(29 * MS, false).verdict("device-stall"));
    found(&stalls(31 * MS, false).verdict("device-stall"));
    let queue = stalls(80 * MS, true).verdict("device-stall");
    rejected(&queue);
}

/// A disk that turns may take 11 ms; flash takes no longer than 2, unless it is its queue.
#[test]
fn flash_stalls_for_less_than_a_disk_that_turns() {
    let of = |longest: u64, ahead: bool, settings: &str| {
        let mut recording = stalls(longest, ahead);
        recording.settings(settings);
        recording.verdict("device-stall")
    };
    let flash = "sda/queue/rotational: 0\n";
    found(&of(11 * MS, false, flash));
    rejected(&of(11 * MS, false, "sda/queue/rotational: 1\n"));
    rejected(&of(9 * MS, false, flash));
    rejected(&of(11 * MS, true, flash));
}

#[test]
fn too_few_to_say_what_is_usual() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 50);
    recording.read(500 * MS, 500 * MS, 600 * MS);
    assert!(rejected(&recording.verdict("device-stall")).contains("too few"));
}

/// A pause counts, whichever request it delays; what is usual is judged by all that the device did.
#[test]
fn what_a_device_usually_takes_is_known_though_such_requests_are_few() {
    let of = |reads: u64, long: u64| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, reads);
        for i in 0..20 {
            let at = (2000 + 500 * i) * MS;
            match i % 7 {
                // Not alone, or it would be what such writes take alone.
                0 => recording.read(at, at, at + long + 100).sync_write(at, at, at + long),
                _ => recording.sync_write(at, at, at + MS),
            };
        }
        recording.verdict("device-stall")
    };
    let v = of(300, 80 * MS);
    assert!(found(&v) > 0.2 && says(&v, "half of all its requests took"), "{v:?}");
    rejected(&of(300, 20 * MS));
    assert!(rejected(&of(50, 80 * MS)).contains("too few"));
}

/// 300 reads that take so long, and five of so long.
fn beside_usual(usual: u64, longest: u64) -> Verdict {
    let mut recording = TraceBuilder::default();
    for i in 0..300 {
        recording.read(i * 20 * MS, i * 20 * MS, i * 20 * MS + usual);
    }
    for i in 0..5 {
        let at = (7000 + 500 * i) * MS;
        recording.read(at, at, at + MS).read(at + MS + 100, at + MS + 100, at + MS + 100 + longest);
    }
    recording.verdict("device-stall")
}

#[test]
fn five_times_what_is_usual_is_the_threshold() {
    assert!(is_found(&beside_usual(10 * MS, 51 * MS)));
    assert!(
        rejected(&beside_usual(10 * MS, 49 * MS)).contains("took up to 49 ms in sda, the median is 10 ms")
    );
}

/// 300 reads of 1 ms, and five of 80 ms behind so many that came with them and are done first.
fn behind(ahead: u64) -> Verdict {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 300);
    for i in 0..5 {
        let at = (1000 + 500 * i) * MS;
        recording.read(at, at, at + MS);
        for k in 0..ahead {
            recording.read(at + MS + 100, at + MS + 100, at + 2 * MS + k);
        }
        recording.read(at + MS + 101, at + MS + 101, at + 81 * MS);
    }
    recording.verdict("device-stall")
}

/// Requests done in the first millisecond do not delay the other 79.
#[test]
fn a_queue_that_is_gone_explains_nothing() {
    for ahead in [1, 2] {
        assert!(found(&behind(ahead)) > 0.9);
    }
}

/// Reads that the device shows, one after the other, each of so many milliseconds.
fn long_reads(recording: &mut TraceBuilder, reads: u64, ms: u64) {
    for i in 0..reads {
        let at = (10_000 + 2 * ms * i) * MS;
        recording.read(at, at, at + ms * MS);
    }
}

/// Three reads of 63 ms behind others of the same task, of which so many were there first and so many were completed meanwhile.
fn passed_over(ahead: u32, served: u32) -> Verdict {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 200);
    long_reads(&mut recording, 3, 63);
    let mut built = OpBuilder::default();
    built.over(recording).quick(READ, 297);
    let mut split = Split::default();
    split.behind[0] = Behind { holder: built.holder(READER, Io::Read), time: Nanos(63_000_000) };
    let (beside, served) = ([ahead, 0, 0, 0, 0], [served, 0, 0, 0, 0]);
    for _ in 0..3 {
        built.on_disk(READ, 63_000, |read| {
            read.contention = Contention { beside, served, split, ..Contention::default() };
        });
    }
    built.verdict("device-stall")
}

/// Requests that were there first are a queue, those that came later overtook it.
#[test]
fn a_request_that_is_passed_over_is_stalled() {
    let v = passed_over(1, 21);
    assert!(found(&v) > 0.9 && says(&v, "many later requests before them"), "{v:?}");
    // Ten of twenty turns, eleven of twenty.
    assert!(is_found(&passed_over(10, 19)));
    rejected(&passed_over(11, 19));
    rejected(&passed_over(21, 21));
}

/// Two tasks read from one disk: what dd's reads were passed over for does not make the reader's queue a stall.
#[test]
fn a_neighbours_stall_proves_nothing_about_others() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 200);
    long_reads(&mut recording, 1, 63);
    let mut built = OpBuilder::default();
    built.over(recording);
    for (task, ahead) in [(READER, 21), ("dd", 1)] {
        built.by(task).quick(READ, 297);
        let mut split = Split::default();
        split.behind[0] = Behind { holder: built.holder(task, Io::Read), time: Nanos(63_000_000) };
        let (beside, served) = ([ahead, 0, 0, 0, 0], [21, 0, 0, 0, 0]);
        for _ in 0..3 {
            built.on_disk(READ, 63_000, |read| {
                read.contention = Contention { beside, served, split, ..Contention::default() };
            });
        }
    }
    let v = built.verdict("device-stall");
    assert!(is_found(&v) && v.claims.iter().all(|c| c.group == 1), "{v:?}");
}

/// Three reads of so many KiB took 80 ms each, others of 4 KiB 1 ms.
fn of_size(kib: u64) -> Verdict {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 200);
    let mut built = OpBuilder::default();
    built.over(recording).quick(READ, 297);
    for _ in 0..3 {
        built.on_disk(READ, 80_000, |read| read.bytes = Bytes(kib << 10));
    }
    built.verdict("device-stall")
}

#[test]
fn four_times_the_usual_size_is_slow_for_its_size() {
    assert!(is_found(&of_size(16)));
    assert!(rejected(&of_size(17)).contains("have 17 KiB, all of them 4 KiB on average"));
}

/// A read of so many ms that was passed over, and 62 of 4.9 ms that were not: five times the usual 1 ms is what stalls.
fn one_stalls(ms: u64) -> Verdict {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 200);
    long_reads(&mut recording, 1, ms);
    let mut built = OpBuilder::default();
    built.over(recording).quick(READ, 6237);
    for (reads, us, ahead) in [(62, 4900, 21), (1, ms * 1000, 1)] {
        let mut split = Split::default();
        let time = Nanos(us * 1000);
        split.behind[0] = Behind { holder: built.holder(READER, Io::Read), time };
        for _ in 0..reads {
            built.on_disk(READ, us, |read| {
                let (beside, served) = ([ahead, 0, 0, 0, 0], [21, 0, 0, 0, 0]);
                read.contention = Contention { beside, served, split, ..Contention::default() };
            });
        }
    }
    built.verdict("device-stall")
}

#[test]
fn only_what_stalled_is_asked_whether_it_was_passed_over() {
    let v = one_stalls(40);
    assert!(is_found(&v) && says(&v, "many later requests before them"), "{v:?}");
}

/// 34 ms of 340 are a tenth.
#[test]
fn one_that_is_passed_over_makes_no_stall_of_a_queue() {
    assert!(is_found(&one_stalls(36)));
    rejected(&one_stalls(33));
}

/// Free blocks matter to flash: a file gets holes, a disk that turns takes no discards, and no other file system is concerned.
#[test]
fn only_what_may_be_flash_is_told_which_blocks_are_free() {
    let of = |name: &'static str, settings: &str| {
        let mut recording = stalls(80 * MS, false);
        recording.on(name).settings(settings);
        let all = commands(&recording.verdict("device-stall"));
        all.into_iter().find(|command| command.starts_with("fstrim"))
    };
    assert_eq!(of("nvme0n1", ""), Some("fstrim -v /MOUNTPOINT".into()));
    assert_eq!(of("loop0", ""), None);
    assert_eq!(of("sda", "sda/queue/rotational: 1\n"), None);
    assert_eq!(of("sda", "sda/queue/rotational: 0\nsda/queue/discard_max_bytes: 0\n"), None);
}

/// Reads one after another, each alone, of which one in so many takes 80 ms and the others one.
fn one_in(many: u64) -> TraceBuilder {
    let mut recording = TraceBuilder::of_any_kind();
    let mut at = 0;
    for i in 0..480 {
        let time = if i % many == many / 2 { 80 * MS } else { MS };
        recording.read(at, at, at + time);
        at += time + 200;
    }
    recording.settings("sda/queue/rotational: 0\n");
    recording
}

/// What requests take alone holds the long ones, too, where these are as many.
#[test]
fn a_few_that_take_most_of_the_time_are_no_pace() {
    let v = one_in(16).verdict("device-stall");
    assert!(found(&v) > 0.9, "{v:?}");
    // 80 of 95 ms are most of the time, but one in six are not few.
    rejected(&one_in(6).verdict("device-stall"));
}

/// A device that answers no more has completed little: what is usual is not known, but it is not nothing for seconds.
#[test]
fn a_device_that_completes_nothing_stalls_whatever_is_usual() {
    let of = |paused_ms: u64, own_ms: u64, hangs: bool| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 22);
        let mut built = OpBuilder::default();
        built.over(recording).quick(READ, 297);
        let split = Split {
            known: true,
            own: Nanos(own_ms * 1_000_000),
            paused: Nanos(paused_ms * 1_000_000),
            ..Split::default()
        };
        (0..3).for_each(|_| {
            built.inside(READ, split);
        });
        built.facts.devices[0].hangs = hangs;
        built.verdict("device-stall")
    };
    let v = of(2000, 1, false);
    assert!(found(&v) > 0.9 && says(&v, "completed 22 such requests in all, and nothing for"), "{v:?}");
    assert!(!is_found(&of(900, 1, false)) && !is_found(&of(100, 2000, false)));
    // The samples beside the recording show more than its events.
    let hangs = of(2000, 1, true);
    assert!(says(&hangs, "sda had requests in flight all the time and completed none of them"), "{hangs:?}");
    assert_eq!([v.confidence, hangs.confidence], [Confidence::Medium, Confidence::High].map(Some));
}
