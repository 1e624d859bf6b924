//! Stacked devices: a bio of md or dm, and the bios it sends to the devices below.
//!
//! The kernel announces each child with a remap event (`A`) just before the child is queued: lower device and
//! sector, upper device and sector. The parent is the bio in flight on the upper device that holds the upper
//! sector. Partitions are announced the same way but have no bios of their own.

use crate::bio::Lower;
use crate::op::{Class, Op};
use crate::piece::BioId;
use trace::{Nanos, Sector};

/// Children that were announced and not yet queued. The kernel queues them at once, so a few suffice.
#[derive(Debug, Default)]
pub(crate) struct Announced {
    waiting: Vec<(Sector, BioId)>,
}

impl Announced {
    const MAX: usize = 256;

    pub fn add(&mut self, sector: Sector, parent: BioId) {
        if self.waiting.len() >= Self::MAX {
            self.waiting.remove(0);
        }
        self.waiting.push((sector, parent));
    }

    /// The parent of a bio queued at `sector`.
    pub fn take(&mut self, sector: Sector) -> Option<BioId> {
        if self.waiting.is_empty() {
            return None;
        }
        let at = self.waiting.iter().rposition(|(s, _)| *s == sector)?;
        Some(self.waiting.remove(at).1)
    }
}

/// What of a parent is in flight below, and for how long it was.
///
/// Example: a write on raid5 waits 1 ms in md, reads old data for 5 ms, computes for 1 ms and writes for 6 ms:
/// idle 2, reading 5, writing 6, in all 13.
#[derive(Debug, Default)]
pub(crate) struct Below {
    reads: u32,
    writes: u32,
    since: Nanos,
    lower: Lower,
}

impl Below {
    pub fn new(queued: Nanos) -> Below {
        Below { since: queued, ..Below::default() }
    }

    fn settle(&mut self, now: Nanos) {
        let passed = now.since(self.since);
        let column = match (self.reads, self.writes) {
            (0, 0) => &mut self.lower.idle,
            (_, 0) => &mut self.lower.reading,
            _ => &mut self.lower.writing,
        };
        *column += passed;
        self.since = self.since.max(now);
    }

    pub fn child_queued(&mut self, op: Op, now: Nanos) {
        self.settle(now);
        self.lower.children += 1;
        *self.column(op) += 1;
    }

    pub fn child_completed(&mut self, op: Op, now: Nanos) {
        self.settle(now);
        let column = self.column(op);
        *column = column.saturating_sub(1);
    }

    pub fn end(mut self, now: Nanos) -> Lower {
        self.settle(now);
        self.lower
    }

    fn column(&mut self, op: Op) -> &mut u32 {
        match Class::of(op, trace::Flags(0)) {
            Class::Read => &mut self.reads,
            _ => &mut self.writes,
        }
    }
}
