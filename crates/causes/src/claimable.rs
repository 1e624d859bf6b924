//! A row of a group's tail, with the part of its time that causes have left unclaimed.

use ledger::Reason;
use stats::TailRow;
use std::ops::Deref;
use trace::Nanos;

/// Reasons of time that passes while the device flushes, or until it begins to.
pub(crate) const FLUSHING: [Reason; 3] = [Reason::Preflush, Reason::Postflush, Reason::FlushQueue];

/// A row of a group's tail, with its unclaimed time.
#[derive(Clone, Copy, Debug)]
pub struct Claimable {
    /// The row, with all of its time.
    pub row: TailRow,
    /// Its unclaimed time, at most the row's time.
    pub left: Nanos,
}

impl Deref for Claimable {
    type Target = TailRow;

    fn deref(&self) -> &TailRow {
        &self.row
    }
}
