//! Devices that keep a pace, and are fast at times, without a limit.

use super::*;

/// Forty requests alone, told by `alone` at their times; then eight reads at all times, one done each 2 ms, and what `beside` tells of each.
fn paced(
    alone: fn(&mut TraceBuilder, u64) -> &mut TraceBuilder,
    beside: impl Fn(&mut TraceBuilder, u64),
) -> Verdict {
    let mut recording = TraceBuilder::default();
    for i in 0..40 {
        alone(&mut recording, i * 20_000);
    }
    for i in 0..400 {
        let at = 1_000_000 + i * 2000;
        recording.read(at, at, at + 16_000);
        beside(&mut recording, at);
    }
    recording.verdict("rate-limit")
}

#[test]
fn near_requests_that_are_fast_say_nothing_of_far_ones() {
    let far = paced(|recording, at| recording.read(at, at, at + 300), |_, _| ());
    assert!(is_found(&far), "{far:?}");
    let near = paced(|recording, at| recording.read_on(at, at, at + 300), |_, _| ());
    assert!(rejected(&near).contains("no request was much faster"), "{near:?}");
}

#[test]
fn data_behind_slow_flushes_keep_their_pace() {
    let of = |flush: u64| {
        let beside = |recording: &mut TraceBuilder, at: u64| recording.flush(at + 100, at + 100 + flush);
        paced(|recording, at| recording.read(at, at, at + 300), beside)
    };
    assert!(is_found(&of(900)));
    assert!(rejected(&of(1100)).contains("no request was much faster"));
}

/// Always eight reads of so many KiB in turn, done 4 ms apart, by the clock of a link that they fill.
#[test]
fn a_read_that_is_cut_in_two_is_of_one_size() {
    let of = |sizes: [u64; 2]| {
        let mut recording = TraceBuilder::default();
        let done = |i: u64| 1000 + i * 4000;
        for i in 0..400 {
            recording.large_read(done(i), done(i + 8), sizes[i as usize % 2]);
        }
        recording.settings("sda/queue/rotational: 0\n");
        recording.verdict("rate-limit")
    };
    assert!(is_found(&of([256, 512])), "twice the bytes in the same time");
    // Beside each other, and on both sides of a power of two.
    rejected(&of([492, 532]));
}
