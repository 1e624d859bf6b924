//! Contention: what a device served while it had a request, and which tasks ran while another waited for a CPU.

use crate::history::History;
use crate::served::{Done, Entry};
use crate::stretch::State;
use life::{Class, Holding, Op, Request, TaskName};
use serde::Serialize;
use std::collections::BTreeMap;
use trace::{Bytes, DevId, Nanos, Tid};

/// Requests of one task and class that a device completed in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Contender {
    /// The task that queued them.
    #[serde(skip)]
    pub task: TaskName,
    /// Class of the requests.
    pub class: Class,
    /// Number of requests completed, 1 or more.
    pub requests: u64,
    /// Sum of their lengths.
    pub bytes: Bytes,
}

/// What the device of `entry` completed while it had that request, within `a` to `b`, by task and class. The largest
/// number of bytes comes first.
pub fn contenders(history: &History, entry: &Entry, a: Nanos, b: Nanos) -> Vec<Contender> {
    let time = entry.done.timeline();
    let from = time.first_issued.unwrap_or(time.start()).max(a);
    let to = time.completed.min(b);
    let mut all = BTreeMap::<(TaskName, Class), Contender>::new();
    for other in history.served.between(from, to) {
        let Done::Request(r) = &other.done else { continue };
        if r.dev != entry.done.dev() || *other == *entry {
            continue;
        }
        let class = r.class();
        let new = Contender { task: r.task, class, requests: 0, bytes: Bytes(0) };
        let mine = all.entry((r.task, class)).or_insert(new);
        mine.requests += 1;
        mine.bytes += r.bytes;
    }
    let mut all: Vec<_> = all.into_values().collect();
    all.sort_by_key(|c| std::cmp::Reverse((c.bytes, c.requests)));
    all
}

/// Largest number of requests looked at for one query; `served_by` samples evenly if there are more.
const MOST_ASKED: usize = 2048;

/// Holders that a device (or any, if `None`) served from `a` to `b`, each with its service time in ns, the largest
/// first. Requests without a known service time count with the average time per byte of the others.
pub fn served_by(history: &History, dev: Option<DevId>, a: Nanos, b: Nanos) -> Vec<(Holding, u64)> {
    let dev = dev.map(|dev| history.file_systems.disk(dev));
    let all = history.served.between(a, b);
    let step = all.clone().count() / MOST_ASKED + 1;
    // For each holder: known service time, and bytes of requests without one.
    let mut found: Vec<(Holding, u64, u64)> = Vec::new();
    let (mut service, mut bytes) = (0, 0);
    for entry in all.step_by(step) {
        let Done::Request(r) = &entry.done else { continue };
        if dev.is_some_and(|dev| r.dev != dev) {
            continue;
        }
        let holding = Holding::of(r);
        let split = &r.contention.split;
        let size = r.bytes.0.max(4096);
        let (known, unknown) = if split.known { (split.own.0, 0) } else { (0, size) };
        if split.known {
            service += known;
            bytes += size;
        }
        match found.iter_mut().find(|(h, ..)| *h == holding) {
            Some((_, sum, rest)) => {
                *sum += known;
                *rest += unknown;
            }
            None => found.push((holding, known, unknown)),
        }
    }
    let for_a_byte = if service > 0 { service as f64 / bytes as f64 } else { 1.0 };
    let weight = |known: u64, unknown: u64| known + (unknown as f64 * for_a_byte) as u64;
    let mut found: Vec<(Holding, u64)> =
        found.into_iter().map(|(holding, known, unknown)| (holding, weight(known, unknown))).collect();
    found.sort_by_key(|(h, weight)| (std::cmp::Reverse(*weight), *h));
    found
}

/// Requests of the kernel's flush machinery that were in a device (or any, if `None`) from `a` to `b`: flushes, and data between two of them
/// (block/blk-flush.c). Latest first, each with the time in which no later one was there. Only those completed until `known`.
pub fn flushing(
    history: &History,
    dev: Option<DevId>,
    [a, b]: [Nanos; 2],
    known: Nanos,
) -> Vec<(&Request, Nanos)> {
    let disk = dev.map(|dev| history.file_systems.disk(dev));
    let piece = |entry: &'_ Entry| -> Option<(Nanos, Nanos)> {
        let Done::Request(r) = &entry.done else { return None };
        let is_its = (r.op == Op::Flush || r.time.flushed) && disk.is_none_or(|disk| r.dev == disk);
        let (from, to) = (r.time.issued?.max(a), r.time.data_completed.unwrap_or(r.time.completed).min(b));
        (is_its && from < to).then_some((from, to))
    };
    let served = history.served.between(a, known);
    let mut all: Vec<_> = served.filter_map(|entry| Some((piece(entry)?, entry))).take(MOST_ASKED).collect();
    // Data is reported only after the flush that follows it.
    all.sort_by_key(|((_, to), _)| std::cmp::Reverse(*to));
    let mut now = b;
    let mut parts = vec![];
    for ((from, to), entry) in all {
        let to = to.min(now);
        if let (true, Done::Request(r)) = (from < to, &entry.done) {
            parts.push((r, to.since(from)));
            now = from;
        }
    }
    parts
}

/// Tasks that ran from `a` to `b` on the CPU that a task waited for, with their running times, the longest first.
pub fn runners(history: &History, tid: Tid, a: Nanos, b: Nanos) -> Vec<(Tid, Nanos)> {
    let waited_on = history.thread(tid).and_then(|t| t.between(a, b).next()).map(|(s, _)| s.cpu);
    let Some(cpu) = waited_on else { return vec![] };
    let mut ran: Vec<(Nanos, Nanos, Tid)> = Vec::new();
    for (other, thread) in history.threads.iter().filter(|(other, _)| **other != tid) {
        let here = thread.between(a, b).filter(|(s, _)| s.state == State::Running && s.cpu == cpu);
        ran.extend(here.map(|(s, to)| (s.from.max(a), to.min(b), *other)));
    }
    ran.sort_unstable();
    // Only one task runs at a time: if an end was not seen, the next beginning ends it.
    let ends = ran.iter().skip(1).map(|next| next.0).chain([b]).collect::<Vec<_>>();
    let mut times = BTreeMap::<Tid, Nanos>::new();
    for ((from, to, other), end) in ran.into_iter().zip(ends) {
        *times.entry(other).or_default() += to.min(end).since(from);
    }
    let mut all: Vec<_> = times.into_iter().filter(|(_, time)| time.0 > 0).collect();
    all.sort_by_key(|(tid, time)| (std::cmp::Reverse(*time), *tid));
    all
}
