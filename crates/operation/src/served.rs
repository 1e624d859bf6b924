//! The requests that were completed lately: what sleeping tasks are woken by.

use crate::writers::SentFor;
use life::{Bio, Request};
use std::collections::VecDeque;
use std::sync::Arc;
use trace::{Bytes, DevId, Nanos, Sector};

/// Requests that are kept at most, with the bios below them; 40 MB.
const MAX: usize = 1 << 17;

/// A completed request, or a completed bio of a device that has none (md, dm).
// Nearly all are requests: a box for each would cost more than the room it saves.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    /// A request.
    Request(Request),
    /// A bio.
    Bio(Box<Bio>),
}

impl Done {
    /// When.
    pub fn completed(&self) -> Nanos {
        match self {
            Done::Request(r) => r.time.completed,
            Done::Bio(b) => b.time.completed,
        }
    }

    /// On which device.
    pub fn dev(&self) -> DevId {
        match self {
            Done::Request(r) => r.dev,
            Done::Bio(b) => b.dev,
        }
    }

    /// Where it started.
    pub fn start(&self) -> Sector {
        match self {
            Done::Request(r) => r.start,
            Done::Bio(b) => b.start,
        }
    }

    /// How much it moved.
    pub fn bytes(&self) -> Bytes {
        match self {
            Done::Request(r) => r.bytes,
            Done::Bio(b) => b.bytes,
        }
    }
}

/// One of them, and for whom it was, where another task sent it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What was completed.
    pub done: Done,
    /// For whom, where another task sent it.
    pub sent_for: Option<Arc<SentFor>>,
    /// Of a bio of a stacked device (dm, md): the bios it sent to the devices below, in the order in which they were
    /// completed, or found to be its own.
    pub below: Option<Arc<[Entry]>>,
}

impl Entry {
    /// One of which no more is known.
    pub fn of(done: Done) -> Entry {
        Entry { done, sent_for: None, below: None }
    }

    /// For how many it counts: itself and all below it.
    pub(crate) fn weight(&self) -> usize {
        1 + self.below.iter().flat_map(|b| b.iter()).map(Entry::weight).sum::<usize>()
    }
}

/// Completed requests by number, in order of completion.
#[derive(Debug, Default)]
pub struct Served {
    first: u64,
    entries: VecDeque<Entry>,
    /// Of all of them.
    weight: usize,
}

impl Served {
    /// Adds one; gives its number.
    pub(crate) fn add(&mut self, entry: Entry) -> u64 {
        while self.weight >= MAX {
            self.pop();
        }
        self.weight += entry.weight();
        self.entries.push_back(entry);
        self.first + self.entries.len() as u64 - 1
    }

    /// By number, if it is still kept.
    pub fn get(&self, number: u64) -> Option<&Entry> {
        self.entries.get(number.checked_sub(self.first)? as usize)
    }

    /// Those completed from `a` to `b`.
    pub fn between(&self, a: Nanos, b: Nanos) -> impl DoubleEndedIterator<Item = &Entry> + Clone {
        let begin = self.entries.partition_point(|e| e.done.completed() < a);
        let end = self.entries.partition_point(|e| e.done.completed() <= b).max(begin);
        self.entries.range(begin..end)
    }

    /// Forgets what was completed before `horizon`.
    pub(crate) fn forget(&mut self, horizon: Nanos) {
        while self.entries.front().is_some_and(|e| e.done.completed() < horizon) {
            self.pop();
        }
    }

    fn pop(&mut self) {
        if let Some(oldest) = self.entries.pop_front() {
            self.weight -= oldest.weight();
            self.first += 1;
        }
    }

    /// How many are kept.
    pub(crate) fn len(&self) -> usize {
        self.weight
    }
}
