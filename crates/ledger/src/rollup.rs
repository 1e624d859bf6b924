//! Adds up many ledgers: the time of the slowest operations by reason.

use crate::ledger::Ledger;
use crate::reason::Reason;
use serde::Serialize;
use trace::Nanos;

/// The time of many operations by reason. Merging two roll-ups is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RollUp {
    /// Number of operations.
    pub operations: u64,
    /// Sum of their durations.
    pub total: Nanos,
    /// `total` by reason ([`Reason::index`]); sums to `total`.
    by_reason: [Nanos; Reason::COUNT],
}

impl RollUp {
    /// Adds the ledger of one operation.
    #[inline]
    pub fn add(&mut self, ledger: &Ledger) {
        self.operations += 1;
        self.total += ledger.total();
        for s in &ledger.segments {
            self.by_reason[s.reason.index()] += s.length();
        }
    }

    /// Counts an operation whose parts are added with [`RollUp::spend`].
    #[inline]
    pub fn count(&mut self, total: Nanos) {
        self.operations += 1;
        self.total += total;
    }

    /// Adds a part of a counted operation's time. The parts must sum to its duration.
    #[inline]
    pub fn spend(&mut self, reason: Reason, time: Nanos) {
        self.by_reason[reason.index()] += time;
    }

    /// Adds another roll-up.
    pub fn merge(&mut self, other: &RollUp) {
        self.operations += other.operations;
        self.total += other.total;
        for (mine, theirs) in self.by_reason.iter_mut().zip(other.by_reason) {
            *mine += theirs;
        }
    }

    /// The time with this reason.
    pub fn of(&self, reason: Reason) -> Nanos {
        self.by_reason[reason.index()]
    }

    /// The part of `total` with this reason, 0 to 1.
    pub fn share(&self, reason: Reason) -> f64 {
        if self.total.0 == 0 {
            return 0.0;
        }
        self.of(reason).0 as f64 / self.total.0 as f64
    }

    /// Reasons with time, the largest first.
    pub fn by_size(&self) -> Vec<(Reason, Nanos)> {
        let mut all: Vec<_> =
            Reason::ALL.iter().map(|r| (*r, self.of(*r))).filter(|(_, t)| t.0 > 0).collect();
        all.sort_by_key(|(_, t)| std::cmp::Reverse(*t));
        all
    }
}
