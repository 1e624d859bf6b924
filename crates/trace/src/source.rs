//! The source of events: a trait that the reader of each format implements.

use crate::error::Error;
use crate::event::Batch;
use crate::quality::Quality;

/// A stream of events in time order.
pub trait Source: Send {
    /// Clears `batch` and fills it with the next events. Returns `false` if there are no more; the batch is then empty.
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, Error>;

    /// Bytes of input consumed so far, for progress.
    fn position(&self) -> u64;

    /// Total bytes of input; `None` if not known in advance (a pipe).
    fn size(&self) -> Option<u64>;

    /// Counts so far of what was lost, truncated, out of order or not understood; final after `fill` returned `false`.
    fn quality(&self) -> Quality;
}
