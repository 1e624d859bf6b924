//! A processor that is late to complete.

use super::*;
use crate::told::Told;
use operation::Kind;
use trace::Call;

const READ: Kind = Kind::Call(Call::Read);

/// 297 quick reads, and three that take so many microseconds, the last of them waiting for a processor.
fn late(us: u64, late_us: u64, settings: &str) -> Verdict {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 10);
    story.settings(settings);
    let mut told = Told::default();
    told.over(story).quick(READ, 297);
    for _ in 0..3 {
        told.completed_late(READ, us, late_us);
    }
    told.verdict("completion-cpu")
}

const FLASH: &str = "sda/queue/rotational: 0\n";

#[test]
fn found_with_its_share_and_the_processor() {
    let v = late(4400, 3800, FLASH);
    assert!((found(&v) - 0.86).abs() < 0.02, "{v:?}");
    assert!(v.evidence[1].contains("CPU 1 completed 23 % of its requests, 3.8 ms late on average"), "{v:?}");
    assert!(v.remedies[1].command.contains("for c in 1; do chrt -f"), "{v:?}");
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

#[test]
fn nobody_was_late() {
    rejected(&late(4400, 0, FLASH));
    let mut story = Story::default();
    quick_reads(&mut story, 0, 200);
    assert!(cannot_tell(&story.verdict("completion-cpu")).contains("iowhy record"));
}

#[test]
fn rq_affinity_is_for_one_processor_that_completes_for_all() {
    let all_by_one = |affinity: u32| {
        let mut told = Told::default();
        let mut story = Story::default();
        story.settings(&format!("{FLASH}sda/queue/rq_affinity: {affinity}\n"));
        quick_reads(&mut story, 0, 1);
        told.over(story).quick(READ, 297);
        for _ in 0..5 {
            told.completed_late(READ, 4400, 3800);
        }
        told.verdict("completion-cpu")
            .remedies
            .iter()
            .any(|r| r.command.contains("echo 2 > /sys/block/sda/queue/rq_affinity"))
    };
    assert_eq!((all_by_one(1), all_by_one(2)), (true, false));
}
