//! The slowest operation of each stretch of time: so that whatever stretch is asked for, its slowest are known. An account
//! has up to hundreds of parts, so the stretches are wider than the columns of other rows, and one is kept of each.

use crate::sampled::SampledOperation;
use crate::series::Cell;
use trace::Nanos;

/// Stretches of which the slowest operation is kept.
pub const STRETCHES: usize = 128;

/// The slowest operation that ended in a stretch and that a task waited for.
#[derive(Clone, Debug, Default)]
pub struct SlowOperation {
    sampled: Option<Box<SampledOperation>>,
}

impl SlowOperation {
    /// Whether one that took so long is it.
    pub fn wants(&self, total: Nanos) -> bool {
        self.get().is_none_or(|sampled| total > sampled.operation.total())
    }

    /// It is this one.
    pub fn set(&mut self, sampled: SampledOperation) {
        self.sampled = Some(Box::new(sampled));
    }

    /// It, if any ended.
    pub fn get(&self) -> Option<&SampledOperation> {
        self.sampled.as_deref()
    }
}

impl Cell for SlowOperation {
    fn merge(&mut self, other: &Self) {
        // Of equals the one that ended first, whichever was told first.
        let order = |sampled: &SampledOperation| {
            let o = &sampled.operation;
            (std::cmp::Reverse(o.total()), o.to, o.tid)
        };
        if let Some(theirs) = other.get() {
            if self.get().is_none_or(|ours| order(theirs) < order(ours)) {
                self.sampled = other.sampled.clone();
            }
        }
    }
}
