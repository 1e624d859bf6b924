//! Time between the operations of a task.

use crate::distribution::Distribution;
use operation::Outside;
use std::collections::BTreeMap;
use trace::{Nanos, Tid};

/// Threads whose time is summed by itself.
const MOST: usize = 4096;

/// Time between operations: the task was elsewhere.
#[derive(Debug, Default)]
pub struct OutsideStats {
    /// How long tasks that do I/O were not in an operation, each time.
    pub gaps: Distribution,
    /// The part of it in which they waited for a processor, each time.
    pub wait_cpu: Distribution,
    by_thread: BTreeMap<Tid, Nanos>,
}

impl OutsideStats {
    /// How long a thread waited for a processor there, in all.
    pub fn of(&self, thread: Tid) -> Nanos {
        self.by_thread.get(&thread).copied().unwrap_or_default()
    }

    pub(crate) fn record(&mut self, o: &Outside) {
        self.gaps.record(o.to.since(o.from).0);
        self.wait_cpu.record(o.wait_cpu.0);
        if o.wait_cpu > Nanos(0) && (self.by_thread.len() < MOST || self.by_thread.contains_key(&o.tid)) {
            *self.by_thread.entry(o.tid).or_default() += o.wait_cpu;
        }
    }
}
