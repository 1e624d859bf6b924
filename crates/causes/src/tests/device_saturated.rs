//! Requests in line, side by side, and alone.

use super::*;

/// So many reads at once, served one after the other, 2 ms each.
fn crowd(story: &mut Story, at_ms: u64, reads: u64) {
    let at = at_ms * MS;
    for i in 0..reads {
        story.read(at + i, at + i, at + (i + 1) * 2 * MS);
    }
}

#[test]
fn found_where_requests_stand_in_line() {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 100);
    for i in 0..100 {
        crowd(&mut story, 1000 + 20 * i, 8);
    }
    let v = story.verdict("device-saturated");
    assert!(found(&v) > 0.7, "{v:?}");
    assert_eq!(v.confidence, Some(Confidence::High));
    assert!(v.evidence.iter().any(|e| e.contains("completed 7 others")), "{v:?}");
    assert!(rejected(&story.verdict("healthy")).contains("device-saturated"));
}

#[test]
fn less_sure_where_only_one_depth_was_seen() {
    let mut story = Story::default();
    // Always the same eight in flight: a new one for each that is done.
    for i in 0..500 {
        story.read(i * 2 * MS, i * 2 * MS, (i + 8) * 2 * MS);
    }
    let v = story.verdict("device-saturated");
    found(&v);
    assert_eq!(v.confidence, Some(Confidence::Medium));
    assert!(v.missing[0].contains("record a lighter load"), "{v:?}");
}

#[test]
fn rejected_where_the_device_works_side_by_side() {
    let mut story = Story::default();
    for i in 0..100 {
        let at = 20 * i * MS;
        story.read(at, at, at + 5 * MS);
        for k in 0..8 {
            story.read(at + 10 * MS + k, at + 10 * MS + k, at + 15 * MS + k);
        }
    }
    assert!(rejected(&story.verdict("device-saturated")).contains("with none 5 ms"));
}

#[test]
fn rejected_where_a_lone_request_is_slow() {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 200);
    for i in 0..3 {
        story.read((1000 + 200 * i) * MS, (1000 + 200 * i) * MS, (1100 + 200 * i) * MS);
    }
    assert!(rejected(&story.verdict("device-saturated")).contains("completed 0.0 others"));
}

/// Groups of reads at the same time, every so many milliseconds, beside reads alone.
fn meeting(reads: u64, every_ms: u64) -> Verdict {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 100);
    for i in 0..100 {
        crowd(&mut story, 210 + every_ms * i, reads);
    }
    story.verdict("device-saturated")
}

#[test]
fn two_that_meet_are_no_line() {
    assert!(rejected(&meeting(2, 40)).contains("no line"));
    // They meet all the time: the device has no rest.
    found(&meeting(2, 5));
    // Three at once wait for two.
    found(&meeting(3, 40));
}
