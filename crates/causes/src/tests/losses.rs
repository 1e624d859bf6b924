//! Recordings with missing events.

use super::*;

fn flushes() -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    for i in 0..500 {
        recording.flushed_write(20 * i * MS, 4 * MS, 2 * MS);
    }
    recording
}

#[test]
fn a_thousandth_makes_less_sure_and_a_tenth_silences() {
    let mut recording = flushes();
    let all = recording.len();
    assert_eq!(recording.verdict("flush-cost").confidence, Some(Confidence::High));
    assert_eq!(recording.lost(all / 2000).verdict("flush-cost").confidence, Some(Confidence::High));
    let v = recording.lost(all / 900).verdict("flush-cost");
    assert_eq!(v.confidence, Some(Confidence::Medium));
    assert!(v.missing.iter().any(|m| m.sentence().contains("blktrace -b 2048 -n 16")), "{v:?}");
    found(&recording.lost(all / 10).verdict("flush-cost"));
    for v in recording.lost(all / 8).verdicts() {
        assert!(cannot_tell(&v).contains("blktrace -b 2048 -n 16"), "{v:?}");
    }
}

#[test]
fn an_empty_recording_cannot_be_judged() {
    for v in TraceBuilder::default().verdicts() {
        assert!(cannot_tell(&v).contains("no I/O was completed"), "{v:?}");
    }
}
