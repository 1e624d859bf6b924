//! A processor that is late to complete requests.

use super::*;
use crate::op_builder::OpBuilder;
use operation::Kind;
use trace::Call;

const READ: Kind = Kind::Call(Call::Read);

/// 297 quick reads, and three that take so many microseconds, the last of them waiting for a processor.
fn late(us: u64, late_us: u64, settings: &str) -> Verdict {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 10);
    recording.settings(settings);
    let mut built = OpBuilder::default();
    built.over(recording).quick(READ, 297);
    for _ in 0..3 {
        built.completed_late(READ, us, late_us);
    }
    built.verdict("completion-cpu")
}

const FLASH: &str = "sda/queue/rotational: 0\n";

#[test]
fn found_with_its_share_and_the_processor() {
    let v = late(4400, 3800, FLASH);
    assert!((found(&v) - 0.86).abs() < 0.02, "{v:?}");
    assert!(
        v.evidence[1].sentence().contains("CPU 1 completed 23 % of its requests, 3.8 ms late on average"),
        "{v:?}"
    );
    assert!(v.remedies[1].command().contains("for c in 1; do chrt -f"), "{v:?}");
}

#[test]
fn a_tenth_is_the_threshold() {
    found(&late(5000, 510, FLASH));
    assert!(rejected(&late(5000, 490, FLASH)).contains("for 9.8 % of their time"));
}

#[test]
fn what_is_expected_of_a_device_is_not_slow() {
    found(&late(2050, 1500, FLASH));
    assert!(rejected(&late(1950, 1500, FLASH)).contains("Linux expects 2 ms"));
    assert!(rejected(&late(4400, 3800, "sda/queue/rotational: 1\n")).contains("Linux expects 75 ms"));
}

/// A part of less than 1 % is not reported.
#[test]
fn a_little_late_is_said_from_a_hundredth_on() {
    assert!(rejected(&late(5000, 55, FLASH)).contains("for 1.1 % of their time"));
    let v = late(5000, 45, FLASH);
    assert!(rejected(&v).contains("no slow operation waited") && v.minor, "{v:?}");
}

#[test]
fn nobody_was_late() {
    rejected(&late(4400, 0, FLASH));
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 200);
    assert!(cannot_tell(&recording.verdict("completion-cpu")).contains("iowhy record"));
}

/// So many quick requests were completed by CPU 0, and of ten late ones so many by CPU 1 and the others by CPU 2.
fn by(quick: u64, one: usize, settings: &str) -> Verdict {
    let mut built = OpBuilder::default();
    let mut recording = TraceBuilder::default();
    recording.settings(&format!("{FLASH}{settings}"));
    quick_reads(&mut recording, 0, quick);
    built.over(recording).quick(READ, 297);
    for i in 0..10 {
        built.completed_late_on(&[if i < one { 1 } else { 2 }], READ, 4400, 3800);
    }
    built.verdict("completion-cpu")
}

#[test]
fn rq_affinity_is_for_one_processor_that_completes_for_all() {
    let of = |one: usize, settings: &str| {
        let v = by(1, one, settings);
        found(&v);
        commands(&v).contains(&"echo 2 > /sys/block/sda/queue/rq_affinity".to_string())
    };
    // Nine of eleven are more than four of five, eight are not.
    assert_eq!((of(9, ""), of(8, "")), (true, false));
    let set = |n: u32| format!("sda/queue/rq_affinity: {n}\n");
    assert_eq!((of(10, &set(1)), of(10, &set(2))), (true, false));
}

#[test]
fn four_processors_are_named_the_one_with_most_first() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 1);
    recording.settings(FLASH);
    let mut built = OpBuilder::default();
    built.over(recording).quick(READ, 297);
    for _ in 0..3 {
        built.completed_late_on(&[5, 6, 3, 4, 7, 3], READ, 4400, 3800);
    }
    let v = built.verdict("completion-cpu");
    assert_eq!(v.evidence[1].sentence().matches("CPU ").count(), 4, "{v:?}");
    assert!(v.evidence[1].sentence().starts_with("sda: CPU 3 completed 32 % of its requests"), "{v:?}");
    assert!(commands(&v)[1].starts_with("for c in 3 "), "{v:?}");
}
