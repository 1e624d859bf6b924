//! A row of a group's tail, with the part of its time that causes have left unclaimed.

use stats::TailRow;
use std::ops::Deref;
use trace::Nanos;

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
