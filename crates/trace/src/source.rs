//! The source of events: a trait that the reader of each format implements.

use crate::error::Error;
use crate::event::Batch;
use crate::quality::Quality;

/// A stream of events in time order.
pub trait Source: Send {
    /// Clears `batch` and fills it with the next events. Returns `false` if there are no more; the batch is then empty.
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, Error>;

    /// The same events from the beginning, without opening the recording once more; `None` if that is no faster.
    fn again(&self) -> Option<Box<dyn Source>> {
        None
    }

    /// Names of kernel functions are not needed: the texts of addresses may be missing. To be called before the first `fill`.
    fn without_symbols(&mut self) {}

    /// Bytes of input consumed so far, for progress.
    fn position(&self) -> u64;

    /// Total bytes of input; `None` if not known in advance (a pipe).
    fn size(&self) -> Option<u64>;

    /// Counts so far of what was lost, truncated, out of order or not understood; final after `fill` returned `false`.
    fn quality(&self) -> Quality;
}
