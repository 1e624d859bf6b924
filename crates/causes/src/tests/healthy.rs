//! Lone reads, fast and slow.

use super::*;

fn alone(latency: u64) -> Story {
    let mut story = Story::default();
    for i in 0..200 {
        story.read(100 * i * MS, 100 * i * MS, 100 * i * MS + latency);
    }
    story
}

#[test]
fn found_up_to_what_the_kernel_expects_of_such_a_device() {
    for (kind, expected) in [("0", 2 * MS), ("1", 75 * MS)] {
        let judge = |latency: u64| {
            let mut story = alone(latency);
            story.settings(&format!("sda/queue/rotational: {kind}\n"));
            story.verdict("healthy")
        };
        let v = judge(expected);
        assert_eq!(found(&v), 0.0);
        assert_eq!(v.confidence, Some(Confidence::High));
        // A bucket of the tail is 1.6 % wide.
        assert!(rejected(&judge(expected * 103 / 100)).contains("Linux expects"));
    }
}

#[test]
fn without_settings_it_is_taken_for_flash_and_says_so() {
    let v = alone(2 * MS).verdict("healthy");
    found(&v);
    assert!(v.confidence == Some(Confidence::Medium) && v.missing[0].contains("rotational"), "{v:?}");
    rejected(&alone(3 * MS).verdict("healthy"));
}

#[test]
fn nothing_fits_is_an_answer() {
    let found = alone(90 * MS).verdicts().iter().filter(|v| v.verdict == Answer::Found).count();
    assert_eq!(found, 0);
}
