//! Recently completed requests, which wake sleeping tasks.

use crate::writers::SentFor;
use life::{Bio, Names, Op, Request, Timeline};
use std::collections::VecDeque;
use std::sync::Arc;
use trace::{Bytes, DevId, Nanos, Sector, Tid};

/// Largest number of requests kept, counting the bios below them; 40 MB.
const MAX: usize = 1 << 17;

/// A completed request, or a completed bio of a device without requests (md, dm).
// Nearly all are requests: a box for each would cost more memory than it saves.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    /// A request of a device with a driver of its own.
    Request(Request),
    /// A bio of md or dm.
    Bio(Box<Bio>),
}

impl Done {
    /// Timestamps of its steps.
    pub fn timeline(&self) -> &Timeline {
        match self {
            Done::Request(r) => &r.time,
            Done::Bio(b) => &b.time,
        }
    }

    /// The task that queued it.
    pub(crate) fn queuer(&self) -> Tid {
        match self {
            Done::Request(r) => r.tid,
            Done::Bio(b) => b.tid,
        }
    }

    fn op(&self) -> Op {
        match self {
            Done::Request(r) => r.op,
            Done::Bio(b) => b.op,
        }
    }

    pub(crate) fn is_read(&self) -> bool {
        self.op() == Op::Read
    }

    pub(crate) fn is_flush(&self) -> bool {
        self.op() == Op::Flush
    }

    /// When it was queued, or its first known timestamp.
    pub(crate) fn queued(&self) -> Nanos {
        match self {
            Done::Request(r) => r.time.start(),
            Done::Bio(b) => b.time.start(),
        }
    }

    /// When it was completed.
    pub fn completed(&self) -> Nanos {
        match self {
            Done::Request(r) => r.time.completed,
            Done::Bio(b) => b.time.completed,
        }
    }

    /// Its device: a disk, or an md or dm device.
    pub fn dev(&self) -> DevId {
        match self {
            Done::Request(r) => r.dev,
            Done::Bio(b) => b.dev,
        }
    }

    /// Its first sector.
    pub fn start(&self) -> Sector {
        match self {
            Done::Request(r) => r.start,
            Done::Bio(b) => b.start,
        }
    }

    /// Its length; 0 for a flush.
    pub fn bytes(&self) -> Bytes {
        match self {
            Done::Request(r) => r.bytes,
            Done::Bio(b) => b.bytes,
        }
    }
}

/// A completed request or bio, and the task that it was sent for.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The request or bio itself.
    pub done: Done,
    /// The task that it was sent for, if another task sent it.
    pub sent_for: Option<Arc<SentFor>>,
    /// For a bio of a stacked device (dm, md): the bios it sent to the devices below, in the order in which they were
    /// completed or found to belong to it.
    pub below: Option<Arc<[Entry]>>,
    /// Whether a worker bound to a CPU queued it.
    pub by_worker: bool,
}

impl Entry {
    /// An entry sent by its own task, with nothing below.
    pub fn of(done: Done) -> Entry {
        Entry { done, sent_for: None, below: None, by_worker: false }
    }

    /// The entry of a request that was sent for others, if any.
    pub(crate) fn of_request(r: &Request, sent_for: Option<Arc<SentFor>>, names: &Names) -> Entry {
        let by_worker = trace::is_bound_worker(names.text(r.task));
        Entry { sent_for, by_worker, ..Entry::of(Done::Request(*r)) }
    }

    /// Number of requests and bios in it: itself and all below.
    pub(crate) fn weight(&self) -> usize {
        1 + self.below.iter().flat_map(|b| b.iter()).map(Entry::weight).sum::<usize>()
    }
}

/// Completed requests by number, in the order of completion.
#[derive(Debug, Default)]
pub struct Served {
    first: u64,
    entries: VecDeque<Entry>,
    /// Sum of the weights of `entries`.
    weight: usize,
}

impl Served {
    /// Adds an entry and returns its number.
    pub(crate) fn add(&mut self, entry: Entry) -> u64 {
        while self.weight >= MAX {
            self.pop();
        }
        self.weight += entry.weight();
        self.entries.push_back(entry);
        self.first + self.entries.len() as u64 - 1
    }

    /// The entry with this number, if it is still kept.
    pub fn get(&self, number: u64) -> Option<&Entry> {
        self.entries.get(number.checked_sub(self.first)? as usize)
    }

    /// Entries completed from `a` to `b`, both included.
    pub fn between(&self, a: Nanos, b: Nanos) -> impl DoubleEndedIterator<Item = &Entry> + Clone {
        let begin = self.entries.partition_point(|e| e.done.completed() < a);
        let end = self.entries.partition_point(|e| e.done.completed() <= b).max(begin);
        self.entries.range(begin..end)
    }

    /// Forgets entries completed before `horizon`.
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

    /// Number of requests and bios kept, with those below them.
    pub(crate) fn len(&self) -> usize {
        self.weight
    }
}
