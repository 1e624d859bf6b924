//! What the sizes of requests say of a limit.

use super::*;

/// Eight requests are there at all times, every second one of 512 KiB, one done each 2 ms, the large ones after `large` us
/// more, up to `varies` us earlier; none was ever alone.
fn of_two_sizes(large: u64, varies: u64) -> TraceBuilder {
    of_sizes(large, varies, 512)
}

fn of_sizes(large: u64, varies: u64, kib: u64) -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    for i in 0..400u64 {
        let at = |i: u64| 2000 + i * 2000 + i.div_ceil(2) * large - u64::from(i % 3 == 1) * varies;
        match i % 2 {
            0 => recording.read(at(i), at(i), at(i + 8)),
            _ => recording.large_read(at(i), at(i + 8), kib),
        };
    }
    recording
}

#[test]
fn large_requests_that_keep_the_pace_of_small_ones_are_let_through_by_the_clock() {
    let v = of_two_sizes(0, 0).settings("sda/queue/rotational: 1\n").verdict("rate-limit");
    assert!(found(&v) > 0.9 && says(&v, "size does not matter"), "{v:?}");
    // A device that moves the bytes itself takes longer for more of them.
    rejected(&of_two_sizes(1000, 0).verdict("rate-limit"));
}

#[test]
fn a_disk_that_seeks_for_each_request_has_no_limit_whatever_it_says_of_itself() {
    let on = |turns: &str, varies: u64| {
        let mut recording = of_two_sizes(0, varies);
        recording.settings(&format!("sda/queue/rotational: {turns}\n"));
        recording.verdict("rate-limit")
    };
    assert!(["0", "1"].iter().all(|turns| found(&on(turns, 50)) > 0.9), "as even as a clock");
    for turns in ["0", "1"] {
        rejected(&on(turns, 600));
    }
}

#[test]
fn from_eight_times_the_bytes_on_size_does_not_matter() {
    assert!(found(&of_sizes(0, 0, 32).verdict("rate-limit")) > 0.9);
    rejected(&of_sizes(0, 0, 16).verdict("rate-limit"));
}

/// Read-ahead that begins small: of 200 reads this many each have 8, 16 and 32 KiB, the others 128.
#[test]
fn few_of_each_small_size_are_enough_together() {
    let of = |each: u64| {
        let mut recording = TraceBuilder::default();
        for i in 0..200u64 {
            let kib = if i < 3 * each { 8 << (i % 3) } else { 128 };
            let at = |i: u64| 2000 + i * 2000;
            recording.large_read(at(i), at(i + 4), kib);
        }
        recording.verdict("rate-limit")
    };
    assert!(found(&of(15)) > 0.9 && says(&of(15), "size does not matter"));
    assert!(!is_found(&of(9)));
}

/// Eight requests are there at all times, none was ever alone: a small read, a read of 1 MiB that a limit counts as two and that is done
/// nearly two ticks after the one before, and what `third` adds, of 64 KiB.
fn of_three_kinds(third: impl Fn(&mut TraceBuilder, u64, u64) -> &mut TraceBuilder) -> Verdict {
    told(|ends, i| i.checked_sub(8).map_or(0, |before| ends[before]), third)
}

/// The same, each queued when `queued` says.
fn told(
    queued: impl Fn(&[u64], usize) -> u64,
    third: impl Fn(&mut TraceBuilder, u64, u64) -> &mut TraceBuilder,
) -> Verdict {
    let mut recording = TraceBuilder::default();
    recording.settings("sda/queue/rotational: 0\n");
    let ends: Vec<u64> = (0..600).map(|i| 900 * (i + 1) + 760 * ((i + 1) / 3)).collect();
    for (i, done) in ends.iter().copied().enumerate() {
        let queued = queued(&ends, i);
        match i % 3 {
            0 => recording.read(queued, queued, done),
            1 => third(&mut recording, queued, done),
            _ => recording.large_read(queued, done, 1024),
        };
    }
    recording.verdict("rate-limit")
}

/// Sixteen reads are in flight; what is done when the interrupt comes, each 0.3 ms, is completed together, a microsecond apart.
#[test]
fn what_is_completed_together_keeps_no_pace() {
    let mut recording = TraceBuilder::default();
    recording.settings("sda/queue/rotational: 0\n");
    for crowd in 0..100 {
        for i in 0..16 {
            let queued = crowd * 300 + 16 + i;
            let done = (crowd + 1) * 300 + i;
            match i % 2 {
                0 => recording.read(queued, queued, done),
                _ => recording.large_read(queued, done, 128),
            };
        }
    }
    let v = recording.verdict("rate-limit");
    let why = rejected(&v);
    assert!(why.contains("they come together"), "{why}");
}

/// Of one direction alone it may be what the device does for each, whatever its size.
#[test]
fn reads_and_writes_that_keep_the_same_pace_are_let_through_by_the_clock() {
    let v = of_three_kinds(|recording, queued, done| recording.write_at(queued, done, 0, 64 << 10));
    assert!(found(&v) > 0.9 && says(&v, "size does not matter"), "{v:?}");
    rejected(&of_three_kinds(|recording, queued, done| recording.large_read(queued, done, 64)));
}

/// One request is there all the time, and a program sends the others by a clock of its own.
#[test]
fn what_comes_by_a_clock_is_done_by_it() {
    let of = |queued: fn(&[u64], usize) -> u64| {
        told(queued, |recording, queued, done| {
            if done < 2000 {
                recording.large_read(0, 10_000_000, 4);
            }
            recording.write_at(queued, done, 0, 64 << 10)
        })
    };
    rejected(&of(|ends, i| ends[i] - 300));
    found(&of(|ends, i| i.checked_sub(3).map_or(0, |before| ends[before])));
}

/// Reads of 4 KiB are 2 ms apart, with others waiting, and every third request, of 1 MiB, comes so long after the one before.
#[test]
fn small_requests_are_even_on_a_device_that_takes_its_time_for_large_ones() {
    let of = |large: u64| {
        let mut recording = TraceBuilder::default();
        recording.settings("sda/queue/rotational: 0\n");
        let ends: Vec<u64> = (0..600).map(|i| 2000 * (i + 1) + (large - 2000) * ((i + 1) / 3)).collect();
        for (i, done) in ends.iter().copied().enumerate() {
            let queued = i.checked_sub(8).map_or(0, |before| ends[before]);
            match i % 3 {
                2 => recording.large_read(queued, done, 1024),
                _ => recording.read(queued, queued, done),
            };
        }
        recording.verdict("rate-limit")
    };
    found(&of(4000));
    rejected(&of(5000));
    rejected(&of(20_000));
}

/// The same, of which large ones are too few to say that they do not keep the pace.
#[test]
fn few_requests_of_another_kind_do_not_speak_against_a_clock() {
    let of = |few: usize| {
        let mut recording = TraceBuilder::default();
        recording.settings("sda/queue/rotational: 0\n");
        let is_large = |i: usize| i % 3 == 2 && i / 3 < few;
        let mut done = 0;
        let mut ends = vec![];
        for i in 0..600 {
            done += if is_large(i) { 5000 } else { 2000 };
            let queued = i.checked_sub(8).map_or(0, |before| ends[before]);
            match is_large(i) {
                true => recording.large_read(queued, done, 1024),
                false => recording.read(queued, queued, done),
            };
            ends.push(done);
        }
        recording.verdict("rate-limit")
    };
    assert!(found(&of(10)) > 0.9);
    rejected(&of(60));
}
