//! A row of a group's tail with what causes left of it.

use stats::TailRow;
use std::ops::Deref;
use trace::Nanos;

/// A row of a group's tail, and what of it no cause has claimed.
#[derive(Clone, Copy, Debug)]
pub struct Claimable {
    /// The row.
    pub row: TailRow,
    /// What of its time is unclaimed.
    pub left: Nanos,
}

impl Deref for Claimable {
    type Target = TailRow;

    fn deref(&self) -> &TailRow {
        &self.row
    }
}
