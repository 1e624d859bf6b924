//! The slowest operation of each interval, so that the slowest of any selected time are known. An account has up to
//! hundreds of parts, so the intervals are wider than other columns, and one operation is kept for each.

use crate::sampled::SampledOperation;
use crate::series::Cell;
use trace::Nanos;

/// Largest number of intervals.
pub const STRETCHES: usize = 128;

/// The slowest operation that ended in an interval and that a task waited for.
#[derive(Clone, Debug, Default)]
pub struct SlowOperation {
    sampled: Option<Box<SampledOperation>>,
}

impl SlowOperation {
    /// Whether an operation of this duration is slower than the one kept.
    pub fn wants(&self, total: Nanos) -> bool {
        self.get().is_none_or(|sampled| total > sampled.operation.total())
    }

    /// Replaces the operation kept.
    pub fn set(&mut self, sampled: SampledOperation) {
        self.sampled = Some(Box::new(sampled));
    }

    /// The operation kept; `None` if none ended in the interval.
    pub fn get(&self) -> Option<&SampledOperation> {
        self.sampled.as_deref()
    }
}

impl Cell for SlowOperation {
    fn merge(&mut self, other: &Self) {
        // Among equal ones, the one that ended first, in whatever order they were added.
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
