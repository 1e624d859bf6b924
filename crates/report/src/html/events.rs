//! The slowest, event by event, from a second reading.

use crate::explanation::Explanation;
use crate::operations;
use crate::slowest::belongs;
use life::{has_extent, Class, Lives, Request, Sink};
use serde_json::Value;
use stats::{Kept, Pictures, SlowRequest};
use trace::{Action, Batch, Event, Nanos, Tid};

/// Requests of each class that are told so.
const OF_A_CLASS: usize = 12;
/// Operations that are told so.
const OF_OPERATIONS: usize = 12;
/// Events of one request; one of 256 merged bios has 770.
const MOST_EVENTS: usize = 40;

/// The events of some requests and operations.
#[derive(Default)]
pub struct Events {
    all: Vec<Gathered>,
    lives: Lives,
    /// Operations, by place in `told`.
    which: Vec<(Nanos, Nanos, Tid)>,
    told: operations::Events,
}

/// The events of one request.
pub struct Gathered {
    slow: SlowRequest,
    request: Request,
    /// Events, each with what its task was called.
    pub shown: Vec<(Event, String)>,
    /// How many more there were.
    pub left_out: u64,
}

fn key(kept: &Kept) -> (Nanos, Nanos, Tid) {
    (kept.operation.from, kept.operation.to, kept.operation.tid)
}

/// The slowest operations of those kinds that are asked about, of all kinds together.
pub(super) fn slowest_operations(e: &Explanation) -> Vec<&Kept> {
    let groups = &e.facts.operations.groups;
    let shown = e.focus.groups.iter().filter_map(|g| groups.get(&g.op?));
    let mut kept: Vec<_> = shown.flat_map(|s| s.slowest.all()).collect();
    kept.sort_by_key(|k| std::cmp::Reverse(k.operation.total()));
    kept
}

struct Nobody;
impl Sink for Nobody {}

impl Events {
    /// Of the slowest of each class, and of the slowest operations; nothing gathered yet.
    pub fn of_slowest(e: &Explanation, pictures: &Pictures) -> Events {
        let gathered = |slow: &SlowRequest| {
            let SlowRequest { dev, op, start, bytes, tid, time, .. } = *slow;
            let request = Request { dev, op, start, bytes, tid, time, ..Request::default() };
            Gathered { slow: slow.clone(), request, shown: vec![], left_out: 0 }
        };
        let slowest = Class::ALL.into_iter().flat_map(|c| pictures.slowest(c).iter().take(OF_A_CLASS));
        let slow = slowest_operations(e);
        let slow = || slow.iter().take(OF_OPERATIONS).copied();
        Events {
            all: slowest.map(gathered).collect(),
            lives: Lives::default(),
            which: slow().map(key).collect(),
            told: operations::Events::of(slow()),
        }
    }

    /// Takes in a batch of the second reading.
    pub fn gather(&mut self, batch: &Batch) {
        if !self.which.is_empty() {
            self.told.gather(batch);
        }
        for event in &batch.events {
            if event.action == Action::TaskName {
                self.lives.step(event, batch, &mut Nobody);
            }
            if !has_extent(event.action) {
                continue;
            }
            for slow in self.all.iter_mut().filter(|slow| belongs(event, &slow.request)) {
                if slow.shown.len() < MOST_EVENTS {
                    let names = self.lives.names();
                    slow.shown.push((*event, names.text(names.of(event.tid)).to_string()));
                } else {
                    slow.left_out += 1;
                }
            }
        }
    }

    /// The events of an operation, if it is one of them.
    pub fn of_operation(&self, kept: &Kept) -> Option<Value> {
        let at = self.which.iter().position(|which| *which == key(kept))?;
        Some(self.told.json(at))
    }

    /// The events of a request, if it is one of them.
    pub fn of(&self, slow: &SlowRequest) -> Option<&Gathered> {
        self.all.iter().find(|g| g.slow == *slow && !g.shown.is_empty())
    }
}
