//! Recordings with something missing.

use super::*;

fn flushes() -> Story {
    let mut story = Story::default();
    for i in 0..500 {
        story.flushed_write(20 * i * MS, 4 * MS, 2 * MS);
    }
    story
}

#[test]
fn a_thousandth_makes_less_sure_and_a_tenth_silences() {
    let mut story = flushes();
    let all = story.len();
    assert_eq!(story.verdict("flush-cost").confidence, Some(Confidence::High));
    assert_eq!(story.lost(all / 2000).verdict("flush-cost").confidence, Some(Confidence::High));
    let v = story.lost(all / 900).verdict("flush-cost");
    assert_eq!(v.confidence, Some(Confidence::Medium));
    assert!(v.missing.iter().any(|m| m.sentence().contains("blktrace -b 2048 -n 16")), "{v:?}");
    found(&story.lost(all / 10).verdict("flush-cost"));
    for v in story.lost(all / 8).verdicts() {
        assert!(cannot_tell(&v).contains("blktrace -b 2048 -n 16"), "{v:?}");
    }
}

#[test]
fn an_empty_recording_cannot_be_judged() {
    for v in Story::default().verdicts() {
        assert!(cannot_tell(&v).contains("no I/O was completed"), "{v:?}");
    }
}
