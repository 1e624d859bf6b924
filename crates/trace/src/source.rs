//! Where events come from: one trait that every format's reader implements.

use crate::error::Error;
use crate::event::Batch;
use crate::quality::Quality;

/// A stream of events in time order.
pub trait Source: Send {
    /// Clears `batch` and fills it with the next events. `false`: there are no more, and the batch is empty.
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, Error>;

    /// How many bytes of input were consumed so far (for progress).
    fn position(&self) -> u64;

    /// How many bytes there are in all, where that is known beforehand.
    fn size(&self) -> Option<u64>;

    /// What was lost, cut off, out of order or not understood so far; whole after `fill` said `false`.
    fn quality(&self) -> Quality;
}
