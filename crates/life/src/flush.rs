//! Flushes of a device's cache, and which writes wait for them.
//!
//! The kernel turns a write with a preflush on a device without FUA into three steps (block/blk-flush.c): a
//! flush, the write, a flush; an empty flush bio into one. The flush is a request of its own without a sector,
//! shared by all that wait for one, and the trace does not say who they are. But the order does: the flush
//! before a write's data is the last one completed before that data was issued, and the one after it is the
//! last one completed before the write's end.
//!
//! Each hardware queue has flushes of its own, and those of two queues end in any order. The queues are mapped to
//! CPUs, so of several flushes the one on the same CPU is meant. Example: CPU 0 issues a flush, CPU 1 issues
//! another, and a completion comes in on CPU 1: it is that of the second.

use crate::names::TaskName;
use crate::timeline::FlushWait;
use std::collections::VecDeque;
use trace::{Cpu, Nanos};

/// The flushes of one device that were completed last.
#[derive(Debug, Default)]
pub(crate) struct Flushes {
    completed: VecDeque<(Cpu, FlushWait)>,
    /// Who asked for one last: the next flush is that one's, or at least also that one's.
    pub asked: Option<TaskName>,
}

impl Flushes {
    /// One for each hardware queue that flushes at the same time: tasks that call fsync at once.
    const MAX: usize = 16;

    /// A flush was completed.
    pub fn complete(&mut self, flush: FlushWait, cpu: Cpu) {
        if self.completed.len() >= Self::MAX {
            self.completed.pop_front();
        }
        self.completed.push_back((cpu, flush));
    }

    /// The last flush that was both issued and completed after `from`: on this CPU if there is one.
    pub fn since(&self, from: Nanos, cpu: Cpu) -> Option<FlushWait> {
        let after = || self.completed.iter().rev().filter(|(_, f)| f.issued >= from);
        let here = after().find(|(c, _)| *c == cpu);
        here.or_else(|| after().next()).map(|(_, f)| *f)
    }
}
