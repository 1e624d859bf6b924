//! The events of the slowest requests and operations, from a second reading.

use crate::operations;
use explain::gathered::{Gathered, Gathering};
use explain::Explanation;
use life::{Class, Request};
use stats::{Group, Pictures, SampledOperation, SlowRequest};
use trace::{Batch, Nanos, Tid};

/// Maximal number of requests of each class with events.
const OF_A_CLASS: usize = 12;
/// Maximal number of operations with events.
const OF_OPERATIONS: usize = 12;
/// Maximal number of events of one request; a request of 256 merged bios has 770.
const MOST_EVENTS: usize = 40;

/// The events of some requests and operations.
#[derive(Default)]
pub struct Events {
    requests: Vec<SlowRequest>,
    /// Collects the events of `requests`, in their order.
    gathering: Gathering,
    /// Start, end and thread of each operation, in the order of `told`.
    which: Vec<(Nanos, Nanos, Tid)>,
    told: operations::Events,
}

fn key(sampled: &SampledOperation) -> (Nanos, Nanos, Tid) {
    (sampled.operation.from, sampled.operation.to, sampled.operation.tid)
}

/// The slowest operations of the groups that the answer covers, over all kinds, slowest first.
pub(super) fn slowest_operations(e: &Explanation) -> Vec<&SampledOperation> {
    let groups = &e.facts.operations.groups;
    let of = |g: &'_ Group| groups.get(&g.op?).map(|s| s.slowest.of(&g.task));
    let mut sampled: Vec<_> = e.focus.groups.iter().filter_map(of).flatten().collect();
    sampled.sort_by_key(|k| std::cmp::Reverse(k.operation.total()));
    sampled
}

impl Events {
    /// Selects the slowest requests of each class and the slowest operations; starts without events.
    pub fn of_slowest(e: &Explanation, pictures: &Pictures) -> Events {
        let request = |slow: &SlowRequest| {
            let SlowRequest { dev, op, start, bytes, tid, time, .. } = *slow;
            Request { dev, op, start, bytes, tid, time, ..Request::default() }
        };
        let slowest = Class::ALL.into_iter().flat_map(|c| pictures.slowest(c).iter().take(OF_A_CLASS));
        let requests: Vec<SlowRequest> = slowest.cloned().collect();
        let slow = slowest_operations(e);
        let slow = || slow.iter().take(OF_OPERATIONS).copied();
        Events {
            gathering: Gathering::of(requests.iter().map(request), MOST_EVENTS),
            requests,
            which: slow().map(key).collect(),
            told: operations::Events::of(slow()),
        }
    }

    /// Processes a batch of the second reading.
    pub fn gather(&mut self, batch: &Batch) {
        if !self.which.is_empty() {
            self.told.gather(batch);
        }
        self.gathering.feed(batch);
    }

    /// The events of an operation; `None` if it was not selected.
    pub fn of_operation(&self, sampled: &SampledOperation) -> Option<operations::Gathered<'_>> {
        let at = self.which.iter().position(|which| *which == key(sampled))?;
        self.told.gathered(at)
    }

    /// The events of a request; `None` if it was not selected or has no events.
    pub fn of(&self, slow: &SlowRequest) -> Option<&Gathered> {
        let at = self.requests.iter().position(|s| s == slow)?;
        self.gathering.all.get(at).filter(|g| !g.events.is_empty())
    }
}
