//! Writeback beside reads.

use super::*;
use crate::memory::{own_writeback, writeback_flood, writer};
use crate::op_builder::READER;
use crate::tests::background_task::moved;
use life::Io;
use operation::{Kind, Purpose, Wait};
use stats::Whose;
use trace::{Bytes, Call};

/// A read of 103 ms issued into so many writes of 1 MiB, which are done one after the other, 10 ms each.
fn flood(recording: &mut TraceBuilder, at_ms: u64, writes: u64) {
    let at = at_ms * MS;
    for i in 0..writes {
        recording.writeback(at, at, at + (i + 1) * 10 * MS, MIB);
    }
    recording.read(at, at, at + 103 * MS);
}

#[test]
fn found_where_reads_are_slow_only_beside_it() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 200);
    for i in 0..120 {
        flood(&mut recording, 1000 + 200 * i, 10);
    }
    let v = recording.verdict("writeback-flood");
    assert!(found(&v) > 0.8, "{v:?}");
    assert_eq!(v.confidence, Some(Confidence::High));
    assert!(v.missing[0].sentence().contains("wbt_lat_usec was not recorded"), "{v:?}");
    rejected(&recording.verdict("device-saturated"));
    rejected(&recording.verdict("healthy"));
}

#[test]
fn begins_with_four_mebibytes_in_flight() {
    let verdict = |writes: u64| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 200);
        for i in 0..120 {
            flood(&mut recording, 1000 + 200 * i, writes);
        }
        recording.verdict("writeback-flood")
    };
    rejected(&verdict(3));
    found(&verdict(4));
}

#[test]
fn rejected_where_reads_are_as_slow_without_it() {
    let mut recording = TraceBuilder::default();
    for i in 0..120 {
        flood(&mut recording, 200 * i, 10);
        let at = (30_000 + 200 * i) * MS;
        recording.read(at, at, at + 100 * MS);
    }
    let v = recording.verdict("writeback-flood");
    assert!(rejected(&v).contains("as slow without"), "{v:?}");
}

#[test]
fn says_what_the_settings_are_and_where_that_is_written() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 200);
    for i in 0..120 {
        flood(&mut recording, 1000 + 200 * i, 10);
    }
    recording.settings("sda/queue/rotational: 1\nsda/queue/wbt_lat_usec: 0\n");
    let v = recording.verdict("writeback-flood");
    assert!(v.evidence.iter().any(|e| e.sentence().contains("wbt_lat_usec is 0 (queue-sda.txt:2)")), "{v:?}");
    // Reads alone took 1 ms: it says that it turns, but it does not.
    assert_eq!(v.remedies[0].command(), "echo 2000 > /sys/block/sda/queue/wbt_lat_usec");
}

#[test]
fn twice_as_slow_is_the_threshold() {
    // Of a hundred each the p99 are compared.
    let judge = |with: u64| {
        let mut recording = TraceBuilder::default();
        for i in 0..150 {
            let at = 100 * i * MS;
            recording.read(at, at, at + 20 * MS);
        }
        for i in 0..150 {
            let at = (20_000 + 200 * i) * MS;
            for k in 0..10 {
                recording.writeback(at, at, at + (with + k) * MS, MIB);
            }
            recording.read(at, at, at + with * MS);
        }
        recording.verdict("writeback-flood")
    };
    assert!(is_found(&judge(41)));
    assert!(rejected(&judge(39)).contains("as slow without writeback in flight: 20 ms against 39 ms (p99)"));
}

/// Nine floods: too few for percentiles. What is slow there must be most of the time, and slower than what is usual.
#[test]
fn of_few_half_of_their_time_is_the_threshold() {
    let judge = |flooded: u64| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 90);
        for i in 0..9 {
            let at = (1000 + 400 * i) * MS;
            for _ in 0..10 {
                recording.writeback(at, at, at + flooded * MS, MIB);
            }
            recording.read(at, at, at + 100 * MS);
        }
        recording.verdict("writeback-flood")
    };
    let v = judge(55);
    assert!(is_found(&v) && v.confidence == Some(Confidence::Medium), "{v:?}");
    assert!(
        says(&v, "beside a flood (16 writes or 4 MiB of writeback in flight) for 55 % of their time"),
        "{v:?}"
    );
    assert!(says(&v, "with no writeback in flight, the p90 of 90 such requests was 1 ms"), "{v:?}");
    assert!(rejected(&judge(45))
        .contains("spent 45 % of their time beside a flood of writeback; too few requests"));
}

/// All requests were issued beside writeback: then nothing is said about other times.
#[test]
fn what_was_never_without_a_flood_is_compared_with_nothing() {
    let mut recording = TraceBuilder::default();
    for i in 0..9 {
        flood(&mut recording, 400 * i, 10);
    }
    let v = recording.verdict("writeback-flood");
    assert!(found(&v) > 0.9 && !says(&v, "with no writeback in flight"), "{v:?}");
}

#[test]
fn a_tenth_beside_a_flood_is_worth_a_comparison() {
    let judge = |flooded: u64| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 90);
        let at = 1000 * MS;
        for _ in 0..10 {
            recording.writeback(at, at, at + flooded * MS, MIB);
        }
        recording.read(at, at, at + 100 * MS);
        recording.verdict("writeback-flood")
    };
    assert!(rejected(&judge(11)).ends_with("with and without it to compare"));
    let v = judge(9);
    assert!(rejected(&v).ends_with("9.0 % of their time beside a flood of writeback"), "{v:?}");
    let mut none = TraceBuilder::default();
    quick_reads(&mut none, 0, 90);
    assert!(rejected(&none.verdict("writeback-flood")).contains("no writeback in flight"));
}

const SEE_WHO: &str = "grep ^write_bytes /proc/[0-9]*/io | sort -k2n | tail -5";

/// The writer, if it is another task than the reader and not a kernel thread.
#[test]
fn whose_data_it_is_is_paused_or_limited() {
    let commands_against = |writer: &str| {
        let mut recording = TraceBuilder::default();
        recording.called("postgres", writer);
        quick_reads(&mut recording, 0, 200);
        for i in 0..120 {
            flood(&mut recording, 1000 + 200 * i, 10);
        }
        commands(&recording.settings("sda/queue/wbt_lat_usec: 2000\n").verdict("writeback-flood"))
    };
    // 1,200 MiB in 25 s, of which half is left.
    let half = "IOReadBandwidthMax=\"/dev/sda 25";
    let against_dd = commands_against("dd");
    assert_eq!(against_dd[0], "kill -STOP $(pgrep -x dd)");
    assert!(
        against_dd[1].starts_with("systemctl set-property --runtime \"$(ps -o unit= -p $(pgrep -ox dd))\" ")
            && against_dd[1].contains(half)
    );
    assert_eq!(commands_against("kworker/u8:1"), [SEE_WHO]);
    assert_eq!(commands_against("postgres"), [SEE_WHO]);
}

/// A flusher sends 160 MiB that nobody was seen to write, or probably `unpacker`, and so much of `logger`'s.
#[test]
fn who_wrote_little_of_what_is_written_back_is_not_held_back() {
    let told = |rest: Whose, of_logger: u64| {
        let mut built = moved("dd", 10, "");
        for _ in 0..120 {
            built.behind_io(Kind::Call(Call::Read), 40, "kworker/u8:1", Io::BackgroundWrite);
        }
        built.sent_for(rest, Purpose::FileData, Bytes(160 << 20));
        built.sent_for(Whose::Tasks("logger".into()), Purpose::FileData, Bytes(of_logger << 20));
        let v = built.asked(|case| {
            let slow = case.slow();
            let v = writeback_flood::whose(Verdict::begin("writeback-flood"), case, slow[0].on.id);
            writer::held_back(v, case, &slow[0])
        });
        (v.evidence[0].sentence(), commands(&v).remove(0))
    };
    let (words, command) = told(Whose::Unknown, 3);
    assert!(
        words.starts_with("nobody was seen to write 160 MiB of the 163 MiB that was written back"),
        "{words}"
    );
    assert_eq!(command, SEE_WHO);
    let (words, command) = told(Whose::Unknown, 161);
    assert_eq!(words, "the data that was written back had been written by logger (161 MiB)");
    assert_eq!(command, "kill -STOP $(pgrep -x logger)");
    let (words, command) = told(Whose::Probably("unpacker".into()), 3);
    assert!(words.contains("before the recording: probably by unpacker"), "{words}");
    assert_eq!(command, "kill -STOP $(pgrep -x unpacker)");
}

#[test]
fn what_throttles_writeback_is_turned_on_or_down() {
    let judge = |alone: u64, settings: &str| {
        let mut recording = TraceBuilder::default();
        for i in 0..200 {
            recording.read(i * 20 * MS, i * 20 * MS, i * 20 * MS + alone);
        }
        for i in 0..120 {
            flood(&mut recording, 5000 + 200 * i, 10);
        }
        let v =
            recording.settings(&format!("sda/queue/rotational: 1\n{settings}")).verdict("writeback-flood");
        found(&v);
        v
    };
    let wbt = |alone: u64, us: u64| {
        let v = judge(alone, &format!("sda/queue/wbt_lat_usec: {us}\n"));
        commands(&v)[0].replace(" > /sys/block/sda/queue/wbt_lat_usec", "")
    };
    // What reads alone take tells whether it turns, whatever it says: half a turn is 4.17 ms.
    assert_eq!((wbt(4000, 0).as_str(), wbt(4300, 0).as_str()), ("echo 2000", "echo 75000"));
    assert_eq!((wbt(4000, 2001).as_str(), wbt(4000, 2000).as_str()), ("echo 2000", SEE_WHO));
    assert_eq!((wbt(4300, 75_001).as_str(), wbt(4300, 75_000).as_str()), ("echo 75000", SEE_WHO));
    let bfq = judge(MS, "sda/queue/scheduler: none [bfq]\nsda/queue/wbt_lat_usec: 0\n");
    assert_eq!(commands(&bfq)[0], "echo none > /sys/block/sda/queue/scheduler");
    assert!(
        says(&bfq, "the scheduler is bfq (queue-sda.txt:2), with which writeback throttling is off"),
        "{bfq:?}"
    );
    let stable = judge(MS, "sda/queue/stable_writes: 1\n");
    assert!(stable.missing.iter().any(|m| m.sentence().contains("sda needs stable pages")), "{stable:?}");
    assert!(!judge(MS, "sda/queue/stable_writes: 0\n")
        .missing
        .iter()
        .any(|m| m.sentence().contains("stable")));
}

/// For a victim behind its own writeback, the answer says why that is written; behind another task's it does not.
#[test]
fn what_a_task_wrote_itself_is_no_others_to_hold_back() {
    let waiting = |kind: Kind, writer: &str, for_pages: u32| {
        let mut told = moved("dd", 10, "");
        for n in 0..120 {
            if kind == Kind::Call(Call::Open) {
                told.waiting_for(if n < for_pages { Wait::OwnData } else { Wait::InodeLock });
            }
            told.behind_io(kind, 40, writer, Io::BackgroundWrite);
        }
        told.asked(|case| {
            let slow = case.slow();
            let slow = slow.iter().find(|slow| slow.group.op.map(|op| op.kind) == Some(kind));
            own_writeback::told(Verdict::begin("writeback-flood"), case, slow.expect("slow"))
        })
    };
    let of = |kind: Kind, writer: &str| waiting(kind, writer, 120);
    let [rename, open, read] = [Call::Rename, Call::Open, Call::Read].map(Kind::Call);
    let v = of(rename, READER).expect("its own");
    assert!(says(&v, "ext4 writes out what is new in a file that is renamed over another"), "{v:?}");
    let all = commands(&v);
    assert!(
        all[0].starts_with("strace") && all[1].starts_with("mount -o remount,noauto_da_alloc"),
        "{all:?}"
    );
    assert!(says(&of(open, READER).expect("its own"), "a file is cut only after"));
    assert!(of(rename, "dd").is_none() && of(read, READER).is_none());
    assert!(
        waiting(open, READER, 70).is_some() && waiting(open, READER, 50).is_none(),
        "most wait for pages"
    );
}
