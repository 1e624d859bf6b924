//! Converts arrivals to streams: decides which task waits for what before it continues.
//!
//! Each task is a stream; the writeback of all flusher threads is one stream, because it is the same work whichever thread does it.
//! The kinds are tried in this order:
//! - *one at a time*: when the next I/O arrives, almost always nothing of the stream is in flight; paced, if by the clock;
//! - *N in flight*: arrivals find the same number in flight, and when a completion makes room later, the arrival is later:
//!   the correlation of both times is above chance. Requests that merged are completed at once and
//!   replaced one by one, and these find fewer: then some must find that number, the correlation must be almost perfect, and
//!   hardly any may find nothing in flight;
//! - *bursts*: otherwise, for tasks that wait now and then (a journal);
//! - *open*: writeback, and tasks that show no sign of waiting.
//!
//! Two tasks of which each continues only when the other was served (an application and its journal) are one stream.

use super::pace::{median, pace};
use super::{Item, Kind, Load, Stream, Wait};
use crate::arrival::{Arrival, Recorded};
use life::Class;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use trace::Tid;

/// The part of arrivals that must find nothing in flight in a stream of one at a time.
const ALONE: f64 = 0.95;
/// The part of arrivals that must find all but one place taken in a stream of N in flight.
const FULL: f64 = 0.5;
/// The same part if the correlation is at least [`SURE`].
const SELDOM: f64 = 0.1;
/// A correlation that leaves no doubt. (For writes that merge on a disk with seeks: 0.98, 29 % find all but one place taken.)
const SURE: f64 = 0.9;
/// By chance, a correlation of `n` independent pairs exceeds `3 / sqrt(n)` once in 370 cases.
const CHANCE: f64 = 3.0;
/// Minimal number of arrivals to determine a depth.
const FEWEST: usize = 20;
/// The part of a task's bursts that must follow another task's completion to form one stream with it.
const FOLLOWS: f64 = 0.8;
/// They must follow within this part of the expected delay at random.
const SOONER: f64 = 0.2;

/// A stream that continues may be quiet for this last part of the recording: benchmarks end their jobs one by one.
const QUIET: f64 = 0.05;

/// A longer time between being queued and having a tag is a wait for a tag.
const TAG_WAIT: u64 = 1_000_000;

/// Infers the streams of a recording.
pub fn infer(recorded: &Recorded) -> Load {
    let arrivals = &recorded.arrivals;
    let Some(first) = arrivals.first() else { return Load::default() };
    let began = first.queued.0;
    let last = arrivals.iter().map(|a| a.completed.0).max().unwrap_or(began);
    let mut groups: BTreeMap<Option<Tid>, Vec<&Arrival>> = BTreeMap::new();
    for a in arrivals {
        let key = if a.class == Class::Background { None } else { Some(a.tid) };
        groups.entry(key).or_default().push(a);
    }
    let streams = chained(groups).iter().map(|(flusher, of)| stream(of, *flusher, began, last)).collect();
    // The kernel's own time without any wait: the median of the lower half.
    let mut waits: Vec<u64> =
        arrivals.iter().map(|a| a.inserted.unwrap_or(a.issued).since(a.queued).0).collect();
    waits.sort_unstable();
    let overhead = waits.get(waits.len() / 4).copied().unwrap_or(0).min(MOST_OVERHEAD);
    Load { streams, span: last - began, overhead }
}

/// A longer time is a wait.
const MOST_OVERHEAD: u64 = 100_000;

/// Joins tasks that continue only when the other one was served.
fn chained(groups: BTreeMap<Option<Tid>, Vec<&Arrival>>) -> Vec<(bool, Vec<&Arrival>)> {
    let mut tasks: Vec<Vec<&Arrival>> = Vec::new();
    let mut all = Vec::new();
    for (key, of) in groups {
        match key {
            None => all.push((true, of)),
            Some(_) if of.len() < FEWEST => all.push((false, of)),
            Some(_) => tasks.push(of),
        }
    }
    'again: loop {
        for v in 0..tasks.len() {
            for u in 0..tasks.len() {
                if u != v && follows(&tasks[v], &tasks[u]) && answered(&tasks[u], &tasks[v]) {
                    let (from, to) = (u.max(v), u.min(v));
                    let more = tasks.remove(from);
                    tasks[to].extend(more);
                    tasks[to].sort_by_key(|a| (a.queued, a.got));
                    continue 'again;
                }
            }
        }
        break;
    }
    all.extend(tasks.into_iter().map(|t| (false, t)));
    all
}

/// Whether the bursts of `v` come shortly after completions of `u`.
fn follows(v: &[&Arrival], u: &[&Arrival]) -> bool {
    let mut done: Vec<u64> = u.iter().map(|a| a.completed.0).collect();
    done.sort_unstable();
    let (Some(from), Some(to)) = (done.first(), done.last()) else { return false };
    let span = (to - from).max(1) as f64;
    // At a random moment, the expected time since the last completion is the sum of squared gaps over twice the span.
    let squares: f64 = done.windows(2).map(|w| ((w[1] - w[0]) as f64).powi(2)).sum();
    let chance = squares / (2.0 * span);
    let bursts = bursts(v);
    let delays: Vec<f64> = bursts
        .iter()
        .filter_map(|at| done[..done.partition_point(|d| d <= at)].last().map(|d| (at - d) as f64))
        .filter(|d| *d <= chance * SOONER)
        .collect();
    bursts.len() >= FEWEST && delays.len() as f64 >= FOLLOWS * bursts.len() as f64
}

/// Whether `u` waits while `v` has something in flight: it hardly ever arrives then.
fn answered(u: &[&Arrival], v: &[&Arrival]) -> bool {
    let meets = u.iter().filter(|a| {
        let before = v.partition_point(|b| b.queued <= a.queued);
        v[before.saturating_sub(64)..before].iter().any(|b| b.completed > a.queued)
    });
    (meets.count() as f64) < (1.0 - ALONE) * u.len() as f64
}

/// The times at which a task queues I/O with nothing in flight.
fn bursts(of: &[&Arrival]) -> Vec<u64> {
    let mut busy_until = 0;
    let mut starts = Vec::new();
    for a in of {
        if a.queued.0 >= busy_until {
            starts.push(a.queued.0);
        }
        busy_until = busy_until.max(a.completed.0);
    }
    starts
}

/// The number of the stream's I/Os in flight when each arrives, without itself.
fn in_flight(of: &[&Arrival]) -> Vec<u32> {
    let mut open: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
    let mut counts = Vec::with_capacity(of.len());
    for a in of {
        while open.peek().is_some_and(|Reverse(c)| *c <= a.queued.0) {
            open.pop();
        }
        counts.push(open.len() as u32);
        open.push(Reverse(a.completed.0));
    }
    counts
}

/// For each arrival, the time since which fewer than `depth` were in flight and the previous one had its tag.
fn released(of: &[&Arrival], depth: u32) -> Vec<u64> {
    let mut open: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
    let mut at = Vec::with_capacity(of.len());
    let mut got = 0;
    for a in of {
        let mut free = got;
        while open.len() >= depth as usize {
            match open.peek() {
                Some(Reverse(c)) if *c <= a.queued.0 => free = free.max(*c),
                _ => break,
            }
            open.pop();
        }
        at.push(free.min(a.queued.0));
        open.push(Reverse(a.completed.0));
        got = a.got.0.max(a.queued.0);
    }
    at
}

fn stream(of: &[&Arrival], flusher: bool, began: u64, ended: u64) -> Stream {
    let found = in_flight(of);
    let queued: Vec<u64> = of.iter().map(|a| a.queued.0).collect();
    let n = of.len();
    let alone = found.iter().filter(|f| **f == 0).count() as f64 / n as f64;
    let mut full: Vec<u32> = found.clone();
    full.sort_unstable();
    let depth = full.get(n * 98 / 100).copied().unwrap_or(0) + 1;
    let mut kind = Kind::Open;
    let mut support = format!("{n} arrivals");
    if flusher {
        support += ", writeback";
    } else if n < FEWEST {
        kind = Kind::Bursts;
        support += ": too few to tell";
    } else if alone >= ALONE {
        kind = Kind::Closed { depth: 1 };
        support += &format!(", {:.1} % find nothing of their own in flight", alone * 100.0);
        let gaps: Vec<u64> = queued.iter().zip(released(of, 1)).map(|(q, r)| q - r).collect();
        if let Some(p) = pace(&queued, &gaps) {
            kind = Kind::Paced { period: p.period, catches_up: p.catches_up };
            let ms = |x: f64| x / 1e6;
            support += &format!(
                "; from arrival to arrival they scatter by {:.2} ms, from completion to arrival by {:.2} ms",
                ms(p.scatter.0),
                ms(p.scatter.1)
            );
        } else {
            let pause: Vec<f64> = gaps.iter().map(|g| *g as f64).collect();
            support += &format!("; median pause {:.3} ms", median(&pause) / 1e6);
        }
    } else {
        let at_depth = found.iter().filter(|f| **f + 1 == depth).count() as f64 / n as f64;
        let r = correlation(of, depth);
        let chance = CHANCE / (n as f64).sqrt();
        let bursts = alone > 1.0 - ALONE;
        let full = at_depth >= FULL && r > chance;
        if full || (!bursts && at_depth >= SELDOM && r >= SURE) {
            kind = Kind::Closed { depth };
            support += &format!(
                ", {:.0} % find {} in flight; room made later, arrived later: r = {r:.2} (chance: {chance:.2})",
                at_depth * 100.0,
                depth - 1
            );
        } else if bursts {
            kind = Kind::Bursts;
            support += &format!(", {:.0} % find nothing of their own in flight", alone * 100.0);
        } else {
            support += &format!(
                ", only {:.0} % find {} in flight (r = {r:.2}, chance {chance:.2})",
                at_depth * 100.0,
                depth - 1
            );
        }
    }
    let name = if flusher { "writeback".into() } else { name(of) };
    let first = queued.first().map_or(0, |q| q - began);
    let goes_on = n >= FEWEST && goes_on(of, began, ended);
    if n >= FEWEST && !goes_on {
        support += "; ended before the recording did";
    }
    let one_at_a_time = matches!(kind, Kind::Closed { depth: 1 } | Kind::Paced { .. });
    let waits_for_tags = !one_at_a_time && of.iter().any(|a| a.got.since(a.queued).0 > TAG_WAIT);
    Stream { name, kind, first, items: items(of, &found, kind), goes_on, waits_for_tags, support }
}

/// Whether a stream's quiet time at the end is at most its longest pause before, or [`QUIET`] of the recording.
fn goes_on(of: &[&Arrival], began: u64, ended: u64) -> bool {
    let last = of.iter().map(|a| a.completed.0).max().unwrap_or(began);
    let pause = of.windows(2).map(|w| w[1].queued.0 - w[0].queued.0).max().unwrap_or(0);
    let least = (QUIET * (ended - began) as f64) as u64;
    ended - last <= pause.max(least)
}

fn name(of: &[&Arrival]) -> String {
    let mut tasks: Vec<(String, u32)> = Vec::new();
    for a in of {
        if tasks.len() < 3 && !tasks.iter().any(|(_, tid)| *tid == a.tid.0) {
            tasks.push((a.task.clone(), a.tid.0));
        }
    }
    tasks.iter().map(|(task, tid)| format!("{task} ({tid})")).collect::<Vec<_>>().join(" + ")
}

/// The correlation of the time at which room was made and the time of arrival, both since the previous one's tag.
fn correlation(of: &[&Arrival], depth: u32) -> f64 {
    let room = released(of, depth);
    let pairs: Vec<(f64, f64)> = (1..of.len())
        .map(|i| {
            let from = of[i - 1].got.0.max(of[i - 1].queued.0);
            (room[i].saturating_sub(from) as f64, of[i].queued.0.saturating_sub(from) as f64)
        })
        .collect();
    // Of logarithms: a few long pauses must not dominate.
    let ln = |x: f64| (x + 1000.0).ln();
    let n = pairs.len().max(1) as f64;
    let (mx, my) = pairs.iter().fold((0.0, 0.0), |m, (x, y)| (m.0 + ln(*x) / n, m.1 + ln(*y) / n));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in &pairs {
        let (x, y) = (ln(*x) - mx, ln(*y) - my);
        xx += x * x;
        yy += y * y;
        xy += x * y;
    }
    if xx * yy > 0.0 {
        xy / (xx * yy).sqrt()
    } else {
        0.0
    }
}

fn items(of: &[&Arrival], found: &[u32], kind: Kind) -> Vec<Item> {
    let depth = match kind {
        Kind::Closed { depth } => depth,
        Kind::Paced { .. } | Kind::Bursts => 1,
        Kind::Open => 0,
    };
    let room = released(of, depth.max(1));
    let mut got = of.first().map_or(0, |a| a.queued.0);
    let mut out = Vec::with_capacity(of.len());
    for (i, a) in of.iter().enumerate() {
        let q = a.queued.0;
        let waits = depth > 0 && found[i] < depth;
        let (wait, from) =
            if waits { (Wait::Below(depth), room[i].max(got.min(q))) } else { (Wait::Got, got) };
        got = a.got.0.max(q);
        out.push(Item {
            wait,
            gap: q.saturating_sub(from),
            sector: a.start.0,
            bytes: u32::try_from(a.bytes.0).unwrap_or(u32::MAX),
            write: a.is_write(),
            sync: a.class != Class::Background,
            class: a.class.index() as u8,
            preflush: a.preflush,
            postflush: a.postflush,
        });
    }
    out
}
