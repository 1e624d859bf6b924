//! Requests, one at a time, that a timer admits.

use super::*;

/// Reads one after the other on flash, each of so many us; one in `seldom` takes 200 us.
fn alone_on_flash(took: impl Fn(u64) -> u64, seldom: u64) -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    recording.settings("sda/queue/rotational: 0\n");
    for i in 0..400 {
        let at = i * 10_000;
        recording.read(at, at, at + if i % seldom == 0 { 200 } else { took(i) });
    }
    recording
}

#[test]
fn a_limit_is_told_of_reads_one_by_one_if_some_are_let_through_at_once() {
    let v = alone_on_flash(|_| 2000, 10).verdict("rate-limit");
    found(&v);
    assert!(says(&v, "the device is fast, and something admits one"), "{v:?}");
    rejected(&alone_on_flash(|_| 2000, 1000).verdict("rate-limit"));
    rejected(&alone_on_flash(|i| 1800 + i % 5 * 100, 10).verdict("rate-limit"));
    rejected(&alone_on_flash(|_| 900, 10).verdict("rate-limit"));
}

/// Most pass before a credit is used up, and a timer holds back the rest; requests that are slow now and then are not held by a timer.
#[test]
fn a_limit_is_told_once_a_credit_is_used_up() {
    let of = |quick: u64, slow: fn(u64) -> bool| {
        let mut recording = TraceBuilder::default();
        recording.settings("sda/queue/rotational: 0\n");
        for i in 0..1000 {
            let at = i * 10_000;
            recording.read(at, at, at + if slow(i) { 6_600 + i % 7 * 20 } else { quick + i % 5 * 20 });
        }
        recording.verdict("rate-limit")
    };
    for quick in [300, 1200] {
        let v = of(quick, |i| i >= 800);
        found(&v);
        assert!(says(&v, "199 of 1,000 were held back") && says(&v, "150 a second"), "{v:?}");
        rejected(&of(quick, |i| i % 5 == 0));
        rejected(&of(quick, |i| i >= 920));
    }
}

/// Times spread evenly from the fastest to twice as long show no timer, wherever they are cut.
#[test]
fn times_of_one_kind_are_not_cut_in_two() {
    let mut recording = TraceBuilder::default();
    recording.settings("sda/queue/rotational: 0\n");
    for i in 0..4000 {
        let at = i * 10_000;
        recording.read(at, at, at + 2000 + i * 7919 % 2100);
    }
    rejected(&recording.verdict("rate-limit"));
}

/// A near request is done at once, right after a far one: a timer would have held it back.
#[test]
fn what_is_near_breaks_no_limit() {
    let of = |near: u64| {
        let mut recording = TraceBuilder::default();
        recording.settings("sda/queue/rotational: 0\n");
        let mut last = 0;
        for i in 0..1000 {
            let took = if i % 20 < near { 500 } else { 6_600 + i % 7 * 20 };
            recording.read(last, last, last + took);
            last += took + 20;
        }
        recording.verdict("rate-limit")
    };
    rejected(&of(4));
    rejected(&of(12));
}

/// The same while others wait.
#[test]
fn a_limit_is_told_once_a_credit_is_used_up_behind_others() {
    let of = |slow: fn(u64) -> bool| {
        let mut recording = TraceBuilder::default();
        recording.settings("sda/queue/rotational: 0\n");
        let mut done = vec![0; 4];
        for i in 0..1000 {
            let next = done[done.len() - 1] + if slow(i) { 6_600 + i % 7 * 20 } else { 80 + i % 5 * 5 };
            recording.read(done[done.len() - 4], done[done.len() - 4], next);
            done.push(next);
        }
        recording.verdict("rate-limit")
    };
    let v = of(|i| i >= 800);
    found(&v);
    assert!(says(&v, "150 a second") && says(&v, "of 1,000 were held back"), "{v:?}");
    rejected(&of(|i| i % 5 == 0));
}

/// Requests one after the other on flash: each comes 50 to 149 us after the one before was done, and is itself done `done(issued, tick)`.
fn after_a_while(write: bool, tick: u64, done: impl Fn(u64, u64) -> u64) -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    recording.settings("sda/queue/rotational: 0\n");
    let mut last = 0;
    for i in 1..=400 {
        let issued = last + 50 + i * 37 % 100;
        last = done(issued, i * tick);
        match write {
            true => recording.sync_write(issued, issued, last),
            false => recording.read(issued, issued, last),
        };
    }
    recording
}

/// A request that a timer admits is done at the timer's next tick, however late it came; a device begins when it comes, and platters go on rotating.
#[test]
fn a_limit_is_told_of_what_is_done_the_sooner_the_later_it_comes() {
    // A timer that is 0, 30, 60 us late in turn: completions alone would not show it, two of three are 2.03 ms apart.
    let v = after_a_while(false, 2000, |_, tick| tick + tick / 2000 % 3 * 30).verdict("rate-limit");
    found(&v);
    assert!(says(&v, "the sooner it was done, by 100 % of the delay") && says(&v, "494 a second"), "{v:?}");
    rejected(&after_a_while(false, 2000, |issued, _| issued + 1900).verdict("rate-limit"));
    // Half of it is the device's.
    rejected(
        &after_a_while(false, 2000, |issued, tick| (issued + 1900).midpoint(tick)).verdict("rate-limit"),
    );
    found(&after_a_while(true, 3500, |_, tick| tick).verdict("rate-limit"));
    rejected(&after_a_while(true, 8333, |_, tick| tick).verdict("rate-limit"));
}

/// 400 reads four at a time, done every `apart(i)` us; on what kind of device was not recorded, or it says so.
fn four_at_a_time(settings: &str, near: bool, apart: impl Fn(u64) -> u64) -> Verdict {
    let mut recording = TraceBuilder::of_any_kind();
    if !settings.is_empty() {
        recording.settings(settings);
    }
    let mut done = vec![0; 4];
    for i in 0..400 {
        let next = done[done.len() - 1] + apart(i);
        let issued = done[done.len() - 4];
        match near {
            true => recording.read_ahead(issued, next, 4, true),
            false => recording.read(issued, issued, next),
        };
        done.push(next);
    }
    recording.verdict("rate-limit")
}

/// A guest's disk says that it turns whatever it lies on, and a trace alone has no settings: platters are not as even where they seek.
#[test]
fn a_limit_is_told_of_far_requests_where_it_is_not_known_whether_the_device_turns() {
    let v = four_at_a_time("", false, |_| 3000);
    found(&v);
    assert!(says(&v, "333 a second"), "{v:?}");
    rejected(&four_at_a_time("", false, |i| 2400 + i % 7 * 200));
    rejected(&four_at_a_time("", true, |_| 3000));
    rejected(&four_at_a_time("sda/queue/rotational: 1\n", false, |_| 3000));
}

/// Platters turn once between writes of a program that takes half of a turn for itself.
#[test]
fn a_turn_is_from_one_write_to_the_next() {
    let of = |turn: u64| {
        let mut recording = TraceBuilder::default();
        recording.settings("sda/queue/rotational: 0\n");
        for i in 1..=400 {
            let issued = (i - 1) * turn + turn / 2 - i * 37 % 100;
            recording.sync_write(issued, issued, i * turn);
        }
        recording.verdict("rate-limit")
    };
    found(&of(3800));
    rejected(&of(6000));
}
