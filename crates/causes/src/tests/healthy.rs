//! Single reads, fast and slow.

use super::*;
use crate::op_builder::OpBuilder;
use device::{Behind, Split};
use life::Io;
use operation::Kind;
use trace::Call;

fn alone(latency: u64) -> TraceBuilder {
    let mut recording = TraceBuilder::of_any_kind();
    for i in 0..200 {
        recording.read(100 * i * MS, 100 * i * MS, 100 * i * MS + latency);
    }
    recording
}

#[test]
fn found_up_to_what_is_expected_of_such_a_device() {
    // A bucket of the tail is 1.6 % wide. A disk that seeks for each of them matters where somebody waits for it a tenth of the time.
    for (kind, quick, slow) in [("0", 2 * MS, 2060), ("1", 9 * MS, 12 * MS)] {
        let judge = |latency: u64| {
            let mut recording = alone(latency);
            recording.settings(&format!("sda/queue/rotational: {kind}\n"));
            recording.verdict("healthy")
        };
        let v = judge(quick);
        assert_eq!(found(&v), 0.0);
        assert_eq!(v.confidence, Some(Confidence::High));
        assert!(rejected(&judge(slow)).contains("slow-device explains"));
    }
}

#[test]
fn without_settings_it_is_taken_for_flash_and_says_so() {
    let v = alone(2 * MS).verdict("healthy");
    found(&v);
    assert!(
        v.confidence == Some(Confidence::Medium) && v.missing[0].sentence().contains("rotational"),
        "{v:?}"
    );
    rejected(&alone(3 * MS).verdict("healthy"));
}

/// A guest's disk says that it turns whatever it lies on.
#[test]
fn a_virtual_disk_is_taken_for_flash_whatever_it_says() {
    let judge = |latency: u64| {
        let mut recording = alone(latency);
        recording.on("vda").settings("vda/queue/rotational: 1\n");
        recording.verdict("healthy")
    };
    let v = judge(2 * MS);
    found(&v);
    assert_eq!(v.confidence, Some(Confidence::Medium));
    assert_eq!(v.missing[0].sentence(), "on what vda, a virtual disk, lies: it was taken for flash");
    rejected(&judge(9 * MS));
}

/// Sixty reads of 1.5 ms and one that is longer: more are told of than that one, and still it was as long as it was.
#[test]
fn what_is_told_beside_the_slowest_makes_it_no_quicker() {
    let of = |longest: u64| {
        let mut recording = TraceBuilder::of_any_kind();
        for i in 0..60 {
            recording.read(100 * i * MS, 100 * i * MS, 100 * i * MS + 1500);
        }
        recording.read(6000 * MS, 6000 * MS, 6000 * MS + longest);
        recording.settings("sda/queue/rotational: 0\n").verdict("healthy")
    };
    found(&of(1900));
    assert!(rejected(&of(5 * MS)).contains("slow-device explains"));
}

#[test]
fn what_nobody_interferes_with_is_a_slow_device() {
    let verdicts = alone(90 * MS).verdicts();
    let found: Vec<_> = verdicts.iter().filter(|v| v.verdict == Answer::Found).map(|v| v.cause).collect();
    assert_eq!(found, ["slow-device"]);
}

/// 5,000 reads of 1 ms, and ten of so long.
#[test]
fn ten_times_what_is_expected_is_an_outlier() {
    let of = |ms: u64| {
        let mut recording = TraceBuilder::of_any_kind();
        quick_reads(&mut recording, 0, 5000);
        for i in 0..10 {
            let at = (11_000 + 200 * i) * MS;
            recording.read(at, at, at + ms * MS);
        }
        recording.verdicts().into_iter().find(|v| v.cause == "healthy").expect("judged")
    };
    assert_eq!(found(&of(19)), 0.0);
    assert!(rejected(&of(21))
        .contains("one in a thousand reads on sda took 21 ms or more, over 10 times the 2 ms"));
}

/// Reads of 1 ms, of which so many us passed before the device had them.
#[test]
fn processors_at_work_are_named_from_half_of_the_time_on() {
    let of = |before: u64| {
        let mut recording = TraceBuilder::of_any_kind();
        for i in 0..200 {
            let at = 10 * i * MS;
            recording.read_without_tag(at, at + before, at + MS);
        }
        let v = recording.verdict("healthy");
        assert_eq!(found(&v), 0.0);
        says(&v, "of their time passed before the device had them")
    };
    assert_eq!((of(490), of(510)), (false, true));
}

/// 300 reads of 1.5 ms, of which each was so many us behind another task's.
#[test]
fn where_all_is_within_what_is_expected_nothing_is_a_cause() {
    let of = |behind: u64| {
        let mut recording = TraceBuilder::of_any_kind();
        quick_reads(&mut recording, 0, 200);
        let mut built = OpBuilder::default();
        built.over(recording);
        let mut split = Split { known: true, own: Nanos((1500 - behind) * 1000), ..Split::default() };
        split.behind[0] = Behind { holder: built.holder("tar", Io::Read), time: Nanos(behind * 1000) };
        for _ in 0..300 {
            built.inside(Kind::Call(Call::Read), split);
        }
        (built.verdict("healthy").verdict, built.verdict("background-task").verdict)
    };
    // A fifth of the time behind another task is worth acting on.
    assert_eq!(of(290), (Answer::Found, Answer::Rejected));
    assert_eq!(of(310), (Answer::Rejected, Answer::Found));
}

/// Time outside of the operations is in none of their times: it is reported beside them.
#[test]
fn it_does_not_hide_what_passes_outside_of_operations() {
    let of = |ms: u64| {
        let mut built = OpBuilder::default();
        built.over(alone(MS)).quick(Kind::Call(Call::Read), 300);
        (0..300).for_each(|_| {
            built.kept_from_running(ms);
        });
        (built.verdict("outside-io").verdict, built.verdict("healthy").verdict)
    };
    assert_eq!(of(3), (Answer::Found, Answer::Found));
    // As long as a read from flash may take.
    assert_eq!(of(1), (Answer::Rejected, Answer::Found));
}

/// Reads that are all within what is expected, of which some waited until one of four tags was free: a limit held them back.
#[test]
fn waiting_for_a_tag_is_no_health() {
    let of = |tags: bool| {
        let mut recording = TraceBuilder::of_any_kind();
        quick_reads(&mut recording, 0, 100);
        for i in 0..300 {
            let at = (1000 + 10 * i) * MS;
            for k in 0..12 {
                // 0.6 ms each, four at a time, or all at once.
                let got = if tags { k / 4 * 600 } else { 0 };
                recording.read_without_tag(at + k, at + k + got, at + k + got + 600);
            }
        }
        recording.verdict("healthy").verdict
    };
    assert_eq!((of(false), of(true)), (Answer::Found, Answer::Rejected));
}
