//! The slowest requests of a recording.
//!
//! A first reading keeps the N slowest in a heap. A second one gathers the events of their sectors between
//! their queue and their completion; where the recording cannot be read twice (a pipe), there are none.

use crate::gathered::{Gathered, Gathering};
use life::{Names, Request, Sink};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use trace::{Batch, Nanos};

/// Events kept of one request; a request of 256 merged bios has 770.
const MAX_EVENTS: usize = 60;

/// One of them.
pub struct SlowRequest {
    /// The request.
    pub request: Request,
    /// Whose it was.
    pub task: String,
}

/// The slowest requests of a recording.
pub struct SlowestRequests {
    /// How many are kept.
    number: usize,
    /// When the recording began: its first event that is no note.
    pub began: Option<Nanos>,
    /// Fastest of the chosen on top: (duration, order of arrival).
    heap: BinaryHeap<Reverse<(Nanos, u64)>>,
    kept: HashMap<u64, SlowRequest>,
    arrived: u64,
    list: Vec<SlowRequest>,
    /// The events of `list`, in its order.
    gathering: Gathering,
}

impl SlowestRequests {
    /// Nothing seen yet; so many are kept at most.
    pub fn new(number: usize) -> SlowestRequests {
        let (began, heap, kept, arrived, list, gathering) = Default::default();
        SlowestRequests { number, began, heap, kept, arrived, list, gathering }
    }

    /// Notes when the recording began.
    pub fn watch(&mut self, batch: &Batch) {
        let first = || batch.events.iter().find(|e| !e.action.is_note()).map(|e| e.time);
        self.began = self.began.or_else(first);
    }

    /// Ends the first reading: the slowest are known.
    pub fn chosen(&mut self) {
        let mut list: Vec<SlowRequest> = std::mem::take(&mut self.kept).into_values().collect();
        list.sort_by_key(|s| (Reverse(s.request.time.total()), s.request.time.completed));
        self.gathering = Gathering::of(list.iter().map(|s| s.request), MAX_EVENTS);
        self.list = list;
    }

    /// Second reading: keeps the events that belong to the chosen.
    pub fn gather(&mut self, batch: &Batch) {
        self.gathering.feed(batch);
    }

    /// The chosen, the slowest first, each with its events.
    pub fn all(&self) -> impl Iterator<Item = (&SlowRequest, &Gathered)> {
        self.list.iter().zip(&self.gathering.all)
    }
}

impl Sink for SlowestRequests {
    fn request(&mut self, r: &Request, names: &Names) {
        let task = names.text(r.task);
        let total = r.time.total();
        if self.heap.len() >= self.number {
            match self.heap.peek() {
                Some(Reverse((fastest, _))) if *fastest < total => {
                    if let Some(Reverse((_, id))) = self.heap.pop() {
                        self.kept.remove(&id);
                    }
                }
                _ => return,
            }
        }
        self.arrived += 1;
        self.heap.push(Reverse((total, self.arrived)));
        let slow = SlowRequest { request: *r, task: task.to_string() };
        self.kept.insert(self.arrived, slow);
    }
}
