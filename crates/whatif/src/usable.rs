//! Decides whether a recording is good enough for predictions, and what delayed its requests.

use crate::arrival::Recorded;
use crate::in_flight::most_with_tag;
use crate::refusal::Refusal;
use life::Class;

/// Minimal number of arrivals.
pub const FEWEST_ARRIVALS: usize = 500;
/// Minimal length of the recording, in nanoseconds.
pub const SHORTEST: u64 = 2_000_000_000;
/// A device that was busy for less than this part of the time was idle.
pub const LEAST_BUSY: f64 = 0.02;
/// Maximal part of requests that are incomplete (begun before the recording, or lost) or discards.
const MOST_DAMAGED: f64 = 0.01;
/// If at least this part of the tags was in use, tasks count as having waited for tags.
pub const ALL_TAGS: f64 = 0.9;

/// Whether a recording is good enough for predictions; else the reason.
pub fn usable(r: &Recorded) -> Result<(), Refusal> {
    let n = r.arrivals.len();
    let (Some(first), Some(last)) = (r.arrivals.first(), r.arrivals.last()) else {
        return Err("the device was idle: no request was completed".into());
    };
    if r.too_many > 0 {
        return Err(format!("{n} requests and {} more: too long; choose a part with --window", r.too_many));
    }
    let span = last.queued.since(first.queued).0;
    if n < FEWEST_ARRIVALS {
        return Err(format!("the recording is too short: {n} requests, {FEWEST_ARRIVALS} are needed"));
    }
    if span < SHORTEST {
        let s = span as f64 / 1e9;
        return Err(format!(
            "the recording is too short: {s:.2} s, {} s are needed",
            SHORTEST / 1_000_000_000
        ));
    }
    let damaged = (r.partial + r.others) as f64 / (n as f64 + (r.partial + r.others) as f64);
    if damaged > MOST_DAMAGED {
        return Err(format!(
            "{:.1} % of the requests were not fully recorded, or are discards or commands, which are not \
             modelled",
            damaged * 100.0
        ));
    }
    let (mut busy, mut until) = (0, 0);
    for a in &r.arrivals {
        busy += a.completed.0.saturating_sub(a.queued.0.max(until));
        until = until.max(a.completed.0);
    }
    let part = busy as f64 / span.max(1) as f64;
    if part < LEAST_BUSY {
        return Err(format!(
            "the device was idle for {:.1} % of the time: no setting changes that",
            100.0 - part * 100.0
        ));
    }
    Ok(())
}

/// Whether more than 1 % of the requests waited in the scheduler: then the device counts as full at the most that it had.
pub fn held_back(r: &Recorded) -> bool {
    let waited = r.arrivals.iter().filter(|a| a.inserted.is_some_and(|i| a.issued.since(i).0 > WAITED));
    waited.count() as f64 > HELD * r.arrivals.len() as f64
}

/// Whether writes that no task waits for waited for a tag although some of `tags` were free: writeback throttling.
pub fn throttled(r: &Recorded, tags: u32) -> bool {
    let of = || r.arrivals.iter().filter(|a| a.class == Class::Background && !a.joined);
    let waited = of().filter(|a| a.got.since(a.queued).0 > WAITED);
    f64::from(most_with_tag(r)) < ALL_TAGS * f64::from(tags)
        && waited.count() as f64 > HELD * of().count() as f64
}

/// A longer time is a wait: a run of the queue takes tens of microseconds.
const WAITED: u64 = 1_000_000;
/// If more than this part of the requests waited, the device counts as full.
const HELD: f64 = 0.01;
