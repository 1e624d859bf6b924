//! Whether a recording is good enough to ask, and what held its requests back.

use crate::arrival::Recorded;
use crate::crowd::most_with_tag;
use crate::settings::Refusal;
use life::Class;

/// Fewer arrivals are too short a recording.
pub const FEWEST_ARRIVALS: usize = 500;
/// A shorter one too, in nanoseconds.
pub const SHORTEST: u64 = 2_000_000_000;
/// A device that was busy for less than this part of the time was idle.
pub const LEAST_BUSY: f64 = 0.02;
/// Of the requests this part may be damaged: begun before the recording, or discards.
const MOST_DAMAGED: f64 = 0.01;
/// From this part of the tags in use on, tasks count as having waited for them.
pub const ALL_TAGS: f64 = 0.9;

/// Whether a recording is good enough to ask at all.
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

/// Whether, while the device had as many as it ever had, requests waited in the scheduler: then it takes no more.
pub fn held_back(r: &Recorded) -> bool {
    let waited = r.arrivals.iter().filter(|a| a.inserted.is_some_and(|i| a.issued.since(i).0 > WAITED));
    waited.count() as f64 > HELD * r.arrivals.len() as f64
}

/// Whether writes that no task waits for waited for a tag although some of `tags` were left: writeback throttling.
pub fn throttled(r: &Recorded, tags: u32) -> bool {
    let of = || r.arrivals.iter().filter(|a| a.class == Class::Background && !a.joined);
    let waited = of().filter(|a| a.got.since(a.queued).0 > WAITED);
    f64::from(most_with_tag(r)) < ALL_TAGS * f64::from(tags)
        && waited.count() as f64 > HELD * of().count() as f64
}

/// More than this in the scheduler is waiting: a run of the queue takes tens of microseconds.
const WAITED: u64 = 1_000_000;
/// The part of requests that waited, from which on the device counts as full.
const HELD: f64 = 0.01;
