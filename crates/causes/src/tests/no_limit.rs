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

/// After a pause 32 reads are issued at once and each next one when one is done: the first forty are done `quick` us apart, and the others 2 ms, with
/// `depth` of them in the device.
fn after_a_pause(
    tell: fn(&mut TraceBuilder, u64, u64, u64) -> &mut TraceBuilder,
    quick: u64,
    depth: usize,
) -> Verdict {
    let mut recording = TraceBuilder::default();
    recording.read(0, 0, 1900);
    let begin = 1_000_000;
    let done: Vec<u64> =
        (1..=440).map(|i: u64| begin + 1030 + i.min(40) * quick + i.saturating_sub(40) * 2000).collect();
    for (i, done_at) in done.iter().enumerate() {
        let before = i.checked_sub(if i < 40 { 32 } else { depth });
        let issued = before.map_or(begin, |before| done[before]);
        tell(&mut recording, issued, issued, *done_at);
    }
    recording.verdict("rate-limit")
}

#[test]
fn what_an_idle_device_completes_at_once_was_saved_up_by_a_limit() {
    let v = after_a_pause(TraceBuilder::read, 70, 32);
    assert!(found(&v) > 0.9 && says(&v, "the first 16 reads after an idle time were done within"), "{v:?}");
    found(&after_a_pause(TraceBuilder::read, 930, 32));
    rejected(&after_a_pause(TraceBuilder::read, 940, 32));
    // The device had what comes next; and one that serves as many at a time as there are is slower for fewer.
    rejected(&after_a_pause(TraceBuilder::read_on, 70, 32));
    rejected(&after_a_pause(TraceBuilder::read, 125, 2));
}
