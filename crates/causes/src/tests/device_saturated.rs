//! Requests in line, side by side, and alone.

use super::*;
use ledger::Reason;
use operation::{Kind, Wait};
use trace::Call;

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
    assert!(v.evidence.iter().any(|e| e.sentence().contains("completed 7 others")), "{v:?}");
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
    assert!(v.missing[0].sentence().contains("record a lighter load"), "{v:?}");
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

#[test]
fn busy_half_of_the_time_it_meets_one_on_average() {
    // Two at once are 4 ms, every 7 and every 9 ms.
    assert!(is_found(&meeting(2, 7)));
    assert!(rejected(&meeting(2, 9)).contains("two that come at the same time are no line"));
}

/// So many reads alone beside always the same eight in flight.
#[test]
fn twenty_five_alone_say_how_fast_it_is_with_few() {
    let of = |alone: u64| {
        let mut story = Story::default();
        for i in 0..alone {
            // Of two sizes, and no size of those in company: their bytes say nothing.
            story.large_read(2 * i * MS, (2 * i + 1) * MS, 8 << (i % 2));
        }
        for i in 0..500 {
            story.read((200 + i * 2) * MS, (200 + i * 2) * MS, (200 + (i + 8) * 2) * MS);
        }
        let v = story.verdict("device-saturated");
        found(&v);
        v.confidence
    };
    // The first of the eight is alone, too.
    assert_eq!((of(24), of(23)), (Some(Confidence::High), Some(Confidence::Medium)));
}

/// The usual crowd is what it is compared with, and not the largest that there was.
#[test]
fn few_are_compared_with_what_is_usual() {
    let mut story = Story::default();
    quick_reads(&mut story, 0, 100);
    for i in 0..104 {
        crowd(&mut story, 1000 + 40 * i, if i < 100 { 8 } else { 16 });
    }
    let v = story.verdict("device-saturated");
    assert!(found(&v) > 0.0 && says(&v, "with 4 to 7 others in the device reads took"), "{v:?}");
}

/// With so many us for each of eight at once, and 1 ms alone.
#[test]
fn half_as_long_again_with_many_is_growth() {
    let of = |each: u64| {
        let mut story = Story::default();
        quick_reads(&mut story, 0, 200);
        for i in 0..100 {
            let at = (1000 + 20 * i) * MS;
            story.read(at, at, at + MS);
            for k in 1..8 {
                story.read(at + k, at + k, at + MS + each * k);
            }
        }
        story.verdict("device-saturated")
    };
    // Those that met the bytes of five to seven others take six times so much longer on average.
    assert!(is_found(&of(85)));
    assert!(rejected(&of(80))
        .contains("with 4 to 7 others in the device reads took 1.43 ms there (mean), with none 1 ms"));
}

/// A hundred groups of eight with 2 ms for each request, and ten with so many us; every other one takes three times as long as
/// the one before, since as even as a clock would be a limit.
#[test]
fn half_as_long_again_for_each_is_a_slower_device() {
    let of = |slower: u64| {
        let mut story = Story::default();
        quick_reads(&mut story, 0, 100);
        for i in 0..110 {
            let (at, each) = ((1000 + 40 * i) * MS, if i % 11 == 0 { slower } else { 2 * MS });
            for k in 1..=8 {
                story.read(at + k, at + k, at + k / 2 * 2 * each + k % 2 * each / 2);
            }
        }
        let v = story.verdict("device-saturated");
        found(&v);
        says(&v, "the device itself was slower then")
    };
    assert_eq!((of(3150), of(2850)), (true, false));
}

#[test]
fn what_is_held_back_is_what_it_has_most_of() {
    let property = |writes: bool| {
        let mut story = Story::default();
        for i in 0..100 {
            for k in 0..8 {
                let at = 20 * i * MS + k;
                match writes {
                    true => story.sync_write(at, at, at + (k + 1) * 2 * MS),
                    false => story.read(at, at, at + (k + 1) * 2 * MS),
                };
            }
        }
        let v = story.verdict("device-saturated");
        found(&v);
        (commands(&v)[0].contains("IOReadIOPSMax"), commands(&v)[0].contains("IOWriteIOPSMax"))
    };
    assert_eq!((property(false), property(true)), ((true, false), (false, true)));
}

/// Reads of 100 ms stand behind four others; for so long background writes are there as well.
#[test]
fn where_others_explain_more_than_half_the_line_is_theirs() {
    let of = |flooded: u64| {
        let mut story = Story::default();
        quick_reads(&mut story, 0, 200);
        for i in 0..30 {
            let at = (1000 + 200 * i) * MS;
            for _ in 0..10 {
                story.writeback(at, at, at + flooded * MS, MIB);
            }
            for k in 0..5 {
                // Not as even as a clock, which would be a limit.
                story.read(at + k, at + k, at + (k + 1) * 20 * MS - k % 2 * 10 * MS);
            }
        }
        assert!(is_found(&story.verdict("writeback-flood")));
        story.verdict("device-saturated")
    };
    assert!(is_found(&of(45)));
    assert!(rejected(&of(55)).contains("writeback-flood leaves 45 % of the time of the slowest reads"));
}

#[test]
fn little_time_in_the_device_is_no_line() {
    let of = |ms: u64| {
        let mut story = Story::default();
        quick_reads(&mut story, 0, 200);
        super::paths::told(Kind::Call(Call::Read), Wait::DirectIo, Reason::Device, ms)
            .over(story)
            .verdict("device-saturated")
    };
    assert!(rejected(&of(9)).contains("the slowest reads spent 9.0 % of their time in the device"));
    assert!(rejected(&of(11)).contains("it completed 0.0 others"));
}

#[test]
fn who_is_served_at_the_same_time_stands_in_no_line() {
    // All eight in 8 ms; the last ones in 8.4, with nobody before them who was not with them.
    let mut crowd = Story::default();
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
    let v = crowd.verdict("device-saturated");
    assert!(rejected(&v).contains("it completed 3.5 others, and 8.0 are there usually"), "{v:?}");
}
