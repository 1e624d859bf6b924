use super::*;
use crate::quiet::MIN_QUIET;
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const A: Holder = Holder(1);
const B: Holder = Holder(2);

/// Reads of 4 KiB that take 1 ms alone, writes of 1 MiB that take 9 ms.
fn learned() -> (Inside, u64) {
    let (mut inside, mut now) = (Inside::default(), 0);
    for _ in 0..MIN_QUIET {
        for (class, bytes, ms) in [(0, 4096, 1), (1, 1 << 20, 9)] {
            let mut t = Ticket::default();
            now += 20 * MS;
            inside.issue(Nanos(now), A, class, Sector(1 << 30), Bytes(bytes), &mut t);
            now += ms * MS;
            inside.complete(Nanos(now), class, Bytes(bytes), &mut t);
        }
    }
    (inside, now + 20 * MS)
}

fn near(a: Nanos, ms: u64) -> bool {
    a.0.abs_diff(ms * MS) <= ms * MS / 8 + MS / 10
}

#[test]
fn a_read_behind_a_write_waits_for_it() {
    let (mut inside, now) = learned();
    let (mut write, mut read) = (Ticket::default(), Ticket::default());
    inside.issue(Nanos(now), B, 1, Sector((1 << 30) + 2048), Bytes(1 << 20), &mut write);
    inside.issue(Nanos(now), A, 0, Sector(8), Bytes(4096), &mut read);
    let w = inside.complete(Nanos(now + 10 * MS), 1, Bytes(1 << 20), &mut write);
    let r = inside.complete(Nanos(now + 10 * MS), 0, Bytes(4096), &mut read);
    assert!(near(w.own, 9) && near(r.own, 1), "{w:?} {r:?}");
    assert_eq!(r.behind[0].holder, B);
    assert!(near(r.behind[0].time, 9), "{r:?}");
    assert_eq!(r.total(), Nanos(10 * MS));
}

/// A disk that is still busy with one request takes longer for the next; the latency alone is measured after a rest.
#[test]
fn what_a_request_takes_alone_is_told_by_those_after_a_rest() {
    let (mut inside, mut now) = (Inside::default(), 0);
    let mut read = |rest: u64, ms: u64| {
        let mut t = Ticket::default();
        now += rest * MS;
        inside.issue(Nanos(now), A, 0, Sector(1 << 30), Bytes(4096), &mut t);
        now += ms * MS;
        inside.complete(Nanos(now), 0, Bytes(4096), &mut t)
    };
    for _ in 0..200 {
        read(50, 1);
        for _ in 0..9 {
            read(0, 8);
        }
    }
    let split = read(50, 8);
    assert!(near(split.own, 1), "{split:?}");
}

#[test]
fn alone_and_slow_is_nobodys_fault() {
    let (mut inside, now) = learned();
    let mut read = Ticket::default();
    inside.issue(Nanos(now), A, 0, Sector(8), Bytes(4096), &mut read);
    let r = inside.complete(Nanos(now + 100 * MS), 0, Bytes(4096), &mut read);
    assert!(near(r.own, 1) && near(r.paused, 99), "{r:?}");
}

/// A read that stays in the device for 60 ms while 60 others, each alone with it, come and go: one was there before it.
#[test]
fn who_is_passed_over_is_behind_those_before_it_alone() {
    let (mut inside, now) = learned();
    let read = |inside: &mut Inside, holder, at: u64, t: &mut Ticket| {
        inside.issue(Nanos(now + at), holder, 0, Sector(8), Bytes(4096), t);
    };
    let (mut lies, mut other) = (Ticket::default(), Ticket::default());
    read(&mut inside, B, 0, &mut other);
    read(&mut inside, A, 0, &mut lies);
    for ms in 1..60 {
        inside.complete(Nanos(now + ms * MS), 0, Bytes(4096), &mut other);
        read(&mut inside, B, ms * MS, &mut other);
    }
    let split = inside.complete(Nanos(now + 60 * MS), 0, Bytes(4096), &mut lies);
    assert_eq!((split.behind[0].holder, split.behind[0].time), (B, Nanos(MS)), "{split:?}");
    assert!(split.slow + split.varied > Nanos(57 * MS) && split.total() == Nanos(60 * MS), "{split:?}");
    // If the queue was as long, all of the time is behind others.
    let mut queue: Vec<Ticket> = (0..60).map(|_| Ticket::default()).collect();
    queue.iter_mut().for_each(|t| read(&mut inside, B, 61 * MS, t));
    read(&mut inside, A, 61 * MS, &mut lies);
    for (ms, t) in (62..).zip(&mut queue) {
        inside.complete(Nanos(now + ms * MS), 0, Bytes(4096), t);
    }
    let split = inside.complete(Nanos(now + 122 * MS), 0, Bytes(4096), &mut lies);
    assert!(split.behind[0].time > Nanos(55 * MS), "{split:?}");
}

/// A disk that takes 0.5 ms for a read that follows the one before and 8 ms for one elsewhere: a scan, and now and then another task's
/// read.
#[test]
fn the_way_back_is_because_of_who_led_the_head_away() {
    let (mut inside, mut now) = (Inside::default(), 0);
    let mut read = |holder, sector: u64, us: u64| {
        let mut t = Ticket::default();
        now += 20 * MS;
        inside.issue(Nanos(now), holder, 0, Sector(sector), Bytes(4096), &mut t);
        now += us * 1000;
        inside.complete(Nanos(now), 0, Bytes(4096), &mut t)
    };
    for i in 0..40 {
        read(A, i * 8, 500);
    }
    for i in 1..40 {
        read(B, i << 24, 8000);
    }
    let back = read(A, 320, 8000);
    assert_eq!(back.behind[0].holder, B, "{back:?}");
    assert!(near(back.behind[0].time, 7) && back.own < Nanos(MS), "{back:?}");
    assert_eq!(back.total(), Nanos(8 * MS));
    let next = read(A, 328, 500);
    assert_eq!(next.behind[0].time, Nanos(0), "{next:?}");
    let elsewhere = read(A, 1 << 30, 8000);
    assert_eq!(elsewhere.behind[0].time, Nanos(0), "it seeks for itself: {elsewhere:?}");
}

#[test]
fn without_quiet_samples_its_own_service_is_unknown() {
    let mut inside = Inside::default();
    let mut tickets = [Ticket::default(), Ticket::default()];
    for t in &mut tickets {
        inside.issue(Nanos(0), A, 0, Sector(0), Bytes(4096), t);
    }
    let r = inside.complete(Nanos(4 * MS), 0, Bytes(4096), &mut tickets[0]);
    assert!(!r.known && r.own == Nanos(0) && r.total() == Nanos(4 * MS));
    assert_eq!(r.behind[0].holder, A, "its own queue");
}

#[test]
fn a_flush_moves_no_head() {
    let mut inside = Inside::default();
    let [mut read, mut flush, mut next] = [Ticket::default(), Ticket::default(), Ticket::default()];
    inside.issue(Nanos(0), A, 0, Sector(1 << 30), Bytes(4096), &mut read);
    inside.issue(Nanos(1), A, 3, Sector(0), Bytes(0), &mut flush);
    inside.issue(Nanos(2), A, 0, Sector((1 << 30) + 8), Bytes(4096), &mut next);
    assert!(next.near, "the flush came from nowhere on the disk");
}

proptest! {
    #[test]
    fn parts_sum_to_d2c(steps in proptest::collection::vec((0u64..5 * MS, 0u16..20, 0u8..5, 0u64..1 << 21, any::<bool>()), 1..200)) {
        let (mut inside, mut now) = (Inside::default(), 1000);
        let mut flying: Vec<(Nanos, u8, Bytes, Ticket)> = vec![];
        for (pass, holder, class, bytes, completes) in steps {
            now += pass;
            if completes && !flying.is_empty() {
                let (issued, class, bytes, mut t) = flying.remove(holder as usize % flying.len());
                let split = inside.complete(Nanos(now), class, bytes, &mut t);
                prop_assert_eq!(split.total(), Nanos(now).since(issued));
            } else {
                let mut t = Ticket::default();
                inside.issue(Nanos(now), Holder(holder), class, Sector(bytes * 7), Bytes(bytes), &mut t);
                flying.push((Nanos(now), class, Bytes(bytes), t));
            }
        }
    }
}

/// A device that serves one after the other: reads that take 1 ms and writes that take 9 ms, enough to recognise this.
fn one_by_one() -> (Inside, u64) {
    let (mut inside, mut now) = learned();
    for i in 0..40 {
        let (mut alone, mut write, mut read) = (Ticket::default(), Ticket::default(), Ticket::default());
        inside.issue(Nanos(now), B, 1, Sector(i << 30), Bytes(1 << 20), &mut alone);
        inside.complete(Nanos(now + 9 * MS), 1, Bytes(1 << 20), &mut alone);
        now += 20 * MS;
        inside.issue(Nanos(now), B, 1, Sector((1 << 30) + 2048), Bytes(1 << 20), &mut write);
        inside.issue(Nanos(now), A, 0, Sector(8), Bytes(4096), &mut read);
        inside.complete(Nanos(now + 9 * MS), 1, Bytes(1 << 20), &mut write);
        inside.complete(Nanos(now + 10 * MS), 0, Bytes(4096), &mut read);
        now += 20 * MS;
    }
    (inside, now)
}

/// Two writes of B, then A's read, issued when the first write has had 4 of its 9 ms; C's write is issued after it.
#[test]
fn one_after_the_other_each_is_behind_those_served_before_it() {
    const C: Holder = Holder(3);
    let (mut inside, now) = one_by_one();
    let [mut first, mut second, mut read, mut later] = [(); 4].map(|()| Ticket::default());
    let write = |inside: &mut Inside, at: u64, holder, t: &mut Ticket| {
        inside.issue(Nanos(now + at * MS), holder, 1, Sector((1 << 30) + 2048), Bytes(1 << 20), t)
    };
    write(&mut inside, 0, B, &mut first);
    write(&mut inside, 0, B, &mut second);
    inside.issue(Nanos(now + 4 * MS), A, 0, Sector(8), Bytes(4096), &mut read);
    write(&mut inside, 4, C, &mut later);
    inside.complete(Nanos(now + 9 * MS), 1, Bytes(1 << 20), &mut first);
    inside.complete(Nanos(now + 18 * MS), 1, Bytes(1 << 20), &mut second);
    let r = inside.complete(Nanos(now + 19 * MS), 0, Bytes(4096), &mut read);
    assert_eq!(
        (r.behind[0].holder, r.behind[1].holder),
        (B, C),
        "who is served later is there, of no time: {r:?}"
    );
    assert!(near(r.behind[0].time, 14) && near(r.own, 1) && r.behind[1].time == Nanos(0), "{r:?}");
    let l = inside.complete(Nanos(now + 28 * MS), 1, Bytes(1 << 20), &mut later);
    let of = |holder| l.behind.iter().find(|b| b.holder == holder).map(|b| b.time);
    assert!(near(of(B).unwrap(), 14) && near(of(A).unwrap(), 1) && near(l.own, 9), "{l:?}");
}

/// A read that is done together with an earlier write of 9 ms and is completed first: its time belongs to the write nevertheless.
#[test]
fn what_is_told_a_moment_before_those_it_was_behind_is_behind_them() {
    let (mut inside, now) = one_by_one();
    let (mut write, mut read) = (Ticket::default(), Ticket::default());
    inside.issue(Nanos(now), B, 1, Sector((1 << 30) + 2048), Bytes(1 << 20), &mut write);
    inside.issue(Nanos(now), A, 0, Sector(8), Bytes(4096), &mut read);
    let r = inside.complete(Nanos(now + 10 * MS), 0, Bytes(4096), &mut read);
    assert!(near(r.behind[0].time, 9) && r.behind[0].holder == B && r.slow == Nanos(0), "{r:?}");
    inside.complete(Nanos(now + 10 * MS), 1, Bytes(1 << 20), &mut write);
}

/// A read of a size that was never alone, beside a write of 9 ms; if `beside`, with another write that waits until it is done.
fn never_alone(beside: bool) -> Split {
    let (mut inside, mut now) = one_by_one();
    let mut last = Split::default();
    for i in 0..40 {
        let (mut write, mut read, mut later) = (Ticket::default(), Ticket::default(), Ticket::default());
        inside.issue(Nanos(now), B, 1, Sector((1 << 30) + 2048), Bytes(1 << 20), &mut write);
        inside.issue(Nanos(now), A, 0, Sector(8), Bytes(1 << 20), &mut read);
        if beside && i == 39 {
            inside.issue(Nanos(now), B, 1, Sector((1 << 30) + 2048), Bytes(1 << 20), &mut later);
        }
        inside.complete(Nanos(now + 9 * MS), 1, Bytes(1 << 20), &mut write);
        last = inside.complete(Nanos(now + 12 * MS), 0, Bytes(1 << 20), &mut read);
        now += 12 * MS;
    }
    last
}

#[test]
fn the_turn_of_one_that_was_never_alone_is_nobody_elses() {
    for (beside, its, alone) in [(false, None, 3), (true, Some(3), 0)] {
        let split = never_alone(beside);
        let of = |holder| split.behind.iter().find(|b| b.holder == holder).map(|b| b.time.0 / MS);
        assert_eq!(
            (split.known, of(A), of(B), split.slow),
            (false, its, Some(9), Nanos(alone * MS)),
            "{split:?}"
        );
    }
}

/// Writes of B that a cache takes at once, while A's reads of 10 ms are served in turn: the writes have their own time only.
#[test]
fn who_comes_later_and_goes_at_once_had_no_more_than_its_own_time() {
    let (mut inside, mut now) = (Inside::default(), 0);
    let mut last = Split::default();
    for i in 0..400 {
        let [mut first, mut second, mut write] = [(); 3].map(|()| Ticket::default());
        let read = |inside: &mut Inside, t: &mut Ticket| {
            inside.issue(Nanos(now), A, 0, Sector(i << 30), Bytes(4096), t)
        };
        read(&mut inside, &mut first);
        read(&mut inside, &mut second);
        if i % 8 == 7 {
            inside.issue(Nanos(now + 5 * MS), B, 1, Sector(7 << 40), Bytes(4096), &mut write);
            inside.complete(Nanos(now + 5 * MS + MS / 10), 1, Bytes(4096), &mut write);
        }
        inside.complete(Nanos(now + 10 * MS), 0, Bytes(4096), &mut first);
        last = inside.complete(Nanos(now + 20 * MS), 0, Bytes(4096), &mut second);
        now += 20 * MS;
    }
    assert!(inside.model.in_turn);
    let of = |holder| last.behind.iter().find(|b| b.holder == holder).map_or(0, |b| b.time.0 / (MS / 10));
    assert_eq!(of(B), 1, "{last:?}");
}

/// A flush that takes 4 to 6 ms alone takes 5 ms, with a read behind it.
#[test]
fn a_flush_has_its_own_time_and_no_more() {
    let (mut inside, mut now) = one_by_one();
    for i in 0..3 * u64::from(MIN_QUIET) {
        let mut flush = Ticket::default();
        inside.issue(Nanos(now), B, 3, Sector(0), Bytes(0), &mut flush);
        inside.complete(Nanos(now + (4 + i % 3) * MS), 3, Bytes(0), &mut flush);
        now += 20 * MS;
    }
    let (mut flush, mut read) = (Ticket::default(), Ticket::default());
    inside.issue(Nanos(now), B, 3, Sector(0), Bytes(0), &mut flush);
    inside.issue(Nanos(now), A, 0, Sector(8), Bytes(4096), &mut read);
    inside.complete(Nanos(now + 5 * MS), 3, Bytes(0), &mut flush);
    let r = inside.complete(Nanos(now + 6 * MS), 0, Bytes(4096), &mut read);
    assert!(near(r.own, 1) && r.behind[0].holder == B && near(r.behind[0].time, 5), "{r:?}");
}

/// The device stalls for 100 ms while it has B's write, C's write and a read: neither the stall nor its weight belongs to a holder.
#[test]
fn a_pause_is_no_weight_of_whose_turn_it_was() {
    const C: Holder = Holder(3);
    let (mut inside, now) = one_by_one();
    let [mut first, mut second, mut read] = [(); 3].map(|()| Ticket::default());
    let at = Sector((1 << 30) + 2048);
    inside.issue(Nanos(now), B, 1, at, Bytes(1 << 20), &mut first);
    inside.issue(Nanos(now), C, 1, at, Bytes(1 << 20), &mut second);
    inside.issue(Nanos(now), A, 0, Sector(8), Bytes(4096), &mut read);
    inside.complete(Nanos(now + 109 * MS), 1, Bytes(1 << 20), &mut first);
    inside.complete(Nanos(now + 118 * MS), 1, Bytes(1 << 20), &mut second);
    let r = inside.complete(Nanos(now + 119 * MS), 0, Bytes(4096), &mut read);
    let of = |holder| r.behind.iter().find(|b| b.holder == holder).unwrap().time.0;
    assert!(r.paused.0 > 80 * MS && of(B) < 3 * of(C), "{r:?}");
}

/// Reads of 1 ms are completed while one stays in the device for 60 ms: its time is a stall, that of the others is not.
#[test]
fn how_long_requests_are_overtaken_is_counted_as_stalls() {
    let (mut inside, now) = learned();
    let read = |inside: &mut Inside, at: u64, t: &mut Ticket| {
        inside.issue(Nanos(now + at * MS), B, 0, Sector(8), Bytes(4096), t);
    };
    let (mut lies, mut other) = (Ticket::default(), Ticket::default());
    read(&mut inside, 0, &mut lies);
    for ms in 0..60 {
        read(&mut inside, ms, &mut other);
        inside.complete(Nanos(now + (ms + 1) * MS), 0, Bytes(4096), &mut other);
    }
    assert_eq!(inside.model.stalled, Nanos(0));
    inside.complete(Nanos(now + 60 * MS), 0, Bytes(4096), &mut lies);
    assert_eq!(inside.model.stalled, Nanos(60 * MS), "nobody was there before it");
}

/// What such a request takes is not known; but nothing takes seconds in which the device does nothing else either.
#[test]
fn a_device_that_completes_nothing_for_seconds_pauses_whatever_it_was_asked() {
    let paused = |ms: u64| {
        let (mut inside, mut t) = (Inside::default(), Ticket::default());
        inside.issue(Nanos(MS), A, 1, Sector(8), Bytes(1 << 20), &mut t);
        let split = inside.complete(Nanos((1 + ms) * MS), 1, Bytes(1 << 20), &mut t);
        assert_eq!(split.total(), Nanos(ms * MS));
        split.paused
    };
    assert_eq!((paused(900), paused(3000)), (Nanos(0), Nanos(2000 * MS)));
}
