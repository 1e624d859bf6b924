//! Time that tasks spend between operations.

use crate::distribution::Distribution;
use operation::Outside;
use std::collections::BTreeMap;
use trace::{Nanos, Tid};

/// Largest number of threads whose waiting time is summed separately.
const MOST: usize = 4096;

/// Time between operations, when the task was not in an operation.
#[derive(Debug, Default)]
pub struct OutsideStats {
    /// Lengths of the gaps between operations of tasks that do I/O.
    pub gaps: Distribution,
    /// For each gap, the time in which the task waited for a CPU.
    pub wait_cpu: Distribution,
    by_thread: BTreeMap<Tid, Nanos>,
}

impl OutsideStats {
    /// Total time that a thread waited for a CPU between operations.
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
