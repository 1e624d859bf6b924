//! What else a device was doing while it had a request: whose requests it completed, and how much they moved.

use crate::history::History;
use crate::served::{Done, Entry};
use crate::walk::timeline;
use life::{Class, TaskName};
use serde::Serialize;
use std::collections::BTreeMap;
use trace::{Bytes, Nanos};

/// Requests of one task and class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Companion {
    /// Who queued them.
    #[serde(skip)]
    pub task: TaskName,
    /// What they were.
    pub class: Class,
    /// How many.
    pub requests: u64,
    /// What they moved.
    pub bytes: Bytes,
}

/// What the device of `entry` completed while it had it, clipped to the time from `a` to `b`: the largest first.
pub fn company(history: &History, entry: &Entry, a: Nanos, b: Nanos) -> Vec<Companion> {
    let time = timeline(&entry.done);
    let from = time.first_issued.unwrap_or(time.start()).max(a);
    let to = time.completed.min(b);
    let mut all = BTreeMap::<(TaskName, Class), Companion>::new();
    for other in history.served.between(from, to) {
        let Done::Request(r) = &other.done else { continue };
        if r.dev != entry.done.dev() || *other == *entry {
            continue;
        }
        let class = r.class();
        let new = Companion { task: r.task, class, requests: 0, bytes: Bytes(0) };
        let mine = all.entry((r.task, class)).or_insert(new);
        mine.requests += 1;
        mine.bytes += r.bytes;
    }
    let mut all: Vec<_> = all.into_values().collect();
    all.sort_by_key(|c| std::cmp::Reverse((c.bytes, c.requests)));
    all
}
