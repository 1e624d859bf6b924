//! Flushes of a device's cache, and which writes wait for them.
//!
//! The kernel turns a write with a preflush on a device without FUA into three steps (block/blk-flush.c): a
//! flush, the write, a flush; an empty flush bio into one. The flush is a request of its own without a sector,
//! shared by all that wait for one, and the trace does not say who they are. But the order does: the flush
//! before a write's data is the last one completed before that data was issued, and the one after it is the
//! last one completed before the write's end.

use crate::timeline::FlushWait;
use std::collections::VecDeque;
use trace::Nanos;

/// The flushes of one device.
#[derive(Debug, Default)]
pub(crate) struct Flushes {
    last: Option<FlushWait>,
    issued: VecDeque<Nanos>,
}

impl Flushes {
    /// A device has one or two flushes in flight per hardware queue.
    const MAX: usize = 4096;

    pub fn issue(&mut self, now: Nanos) {
        if self.issued.len() >= Self::MAX {
            self.issued.pop_front();
        }
        self.issued.push_back(now);
    }

    /// The oldest flush in flight was completed.
    pub fn complete(&mut self, now: Nanos) {
        if let Some(issued) = self.issued.pop_front() {
            self.last = Some(FlushWait { issued, completed: now });
        }
    }

    /// The last flush that was both issued and completed after `from`.
    pub fn since(&self, from: Nanos) -> Option<FlushWait> {
        self.last.filter(|f| f.issued >= from)
    }
}
