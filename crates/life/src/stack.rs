//! Stacked devices: links a bio of md or dm to the bios it sends to the devices below.
//!
//! The kernel announces each child with a remap event (`A`) just before the child is queued. The event has the lower
//! device and sector, and the upper device and sector. The parent is the bio in flight on the upper device that
//! contains the upper sector. Partitions are announced the same way but have no bios of their own. For what raid5
//! sends below in whole stripes, the announced sector does not identify the parent: see [`crate::rows`].

use crate::bio_id::BioId;
use crate::op::{Class, Op};
use serde::Serialize;
use trace::{Flags, Nanos, Sector};

/// A child that was announced (`A`) and is not yet queued.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Child {
    /// Its first sector on the lower device.
    pub sector: Sector,
    /// Index of the upper device.
    pub upper: u32,
    /// The bio that sends it, if known.
    pub parent: Option<BioId>,
}

/// Children announced on one device. The kernel queues them at once, so few are kept.
#[derive(Debug, Default)]
pub(crate) struct Announced {
    waiting: Vec<Child>,
}

impl Announced {
    const MAX: usize = 256;

    pub fn add(&mut self, child: Child) {
        if self.waiting.len() >= Self::MAX {
            self.waiting.remove(0);
        }
        self.waiting.push(child);
    }

    /// Takes the announced child that is queued at `sector`, if any.
    pub fn take(&mut self, sector: Sector) -> Option<Child> {
        if self.waiting.is_empty() {
            return None;
        }
        let at = self.waiting.iter().rposition(|c| c.sector == sector)?;
        Some(self.waiting.remove(at))
    }
}

/// What a bio of a stacked device has in flight below.
// The order is that of precedence where several are true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Busy {
    /// Nothing: the bio waits in the driver itself.
    Idle,
    /// Reads only.
    Reading,
    /// A write, flush or discard, perhaps beside reads.
    Writing,
    /// The state changed too often to record every change.
    Mixed,
}

/// An interval of a bio's time, with what it had in flight below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What was in flight below.
    pub busy: Busy,
    /// End of the interval. It begins at the end of the step before; the first step begins at the bio's `Q`.
    pub until: Nanos,
}

/// How a bio of a stacked device spent its time.
///
/// Example: a write on raid5 waits 1 ms in md, reads old data for 5 ms, computes for 1 ms and writes for 6 ms:
/// idle until 1, reading until 6, idle until 7, writing until 13.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lower {
    /// Number of bios sent to devices below.
    pub children: u32,
    /// The intervals, contiguous and in order.
    pub steps: Vec<Step>,
}

/// A [`Lower`] under construction.
#[derive(Debug, Default)]
pub(crate) struct Below {
    reads: u32,
    others: u32,
    lower: Lower,
    /// Children found late: when they were already completed, or had been in flight for a while.
    late: Vec<Late>,
}

/// An interval in the past in which a child was in flight.
#[derive(Clone, Copy, Debug)]
struct Late {
    busy: Busy,
    from: Nanos,
    to: Nanos,
}

impl Below {
    /// Largest number of steps. A bio split into thousands of children changes its state too often to be readable.
    const MAX_STEPS: usize = 256;
    /// Enough for 1 MiB in stripes of 4 KiB with one read for each.
    const MAX_LATE: usize = 256;

    fn settle(&mut self, now: Nanos) {
        let busy = match (self.reads, self.others) {
            (0, 0) => Busy::Idle,
            (_, 0) => Busy::Reading,
            _ => Busy::Writing,
        };
        self.lower.push(Step { busy, until: now }, Self::MAX_STEPS);
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

    /// Adds a child that was in flight from `from` to `to` and is now found to belong to this bio.
    pub fn child_found(&mut self, op: Op, from: Nanos, to: Nanos) {
        self.lower.children += 1;
        self.was_busy(op, from, to);
    }

    /// Adds a child that is in flight since `from` and is now found to belong to this bio.
    pub fn child_found_in_flight(&mut self, op: Op, from: Nanos, now: Nanos) {
        self.was_busy(op, from, now);
        self.child_queued(op, now);
    }

    fn was_busy(&mut self, op: Op, from: Nanos, to: Nanos) {
        let busy = if is_read(op) { Busy::Reading } else { Busy::Writing };
        if self.late.len() < Self::MAX_LATE && from < to {
            self.late.push(Late { busy, from, to });
        }
    }

    /// Ends the account of a bio that was queued at `queued` and completed at `now`.
    pub fn end(mut self, queued: Nanos, now: Nanos) -> Lower {
        self.settle(now);
        if !self.late.is_empty() {
            self.lower.fill_in(queued, &self.late);
        }
        self.lower
    }

    fn column(&mut self, op: Op) -> &mut u32 {
        if is_read(op) {
            &mut self.reads
        } else {
            &mut self.others
        }
    }
}

fn is_read(op: Op) -> bool {
    Class::of(op, Flags(0)) == Class::Read
}

impl Lower {
    /// Appends a step. If there are too many, the last one is extended instead.
    fn push(&mut self, step: Step, max: usize) {
        let full = self.steps.len() >= max;
        match self.steps.last_mut() {
            Some(last) if last.busy == step.busy || full => {
                last.until = last.until.max(step.until);
                if full && last.busy != step.busy {
                    last.busy = Busy::Mixed;
                }
            }
            Some(last) if last.until >= step.until => {}
            _ => self.steps.push(step),
        }
    }

    /// Corrects the steps with children found late: idle becomes reading or writing, reading becomes writing. Example:
    /// idle until 10, writing until 20, and a read from 2 to 8: idle until 2, reading until 8, idle until 10, writing
    /// until 20.
    fn fill_in(&mut self, begin: Nanos, late: &[Late]) {
        let steps = std::mem::take(&mut self.steps);
        let mut edges: Vec<Nanos> = late.iter().flat_map(|l| [l.from, l.to]).collect();
        edges.sort_unstable();
        edges.dedup();
        let mut from = begin;
        for step in steps {
            let inside = edges.partition_point(|e| *e <= from)..edges.partition_point(|e| *e < step.until);
            let ends = edges.get(inside).unwrap_or_default().iter().copied().chain([step.until]);
            for until in ends {
                let then = late.iter().filter(|l| l.from <= from && until <= l.to).map(|l| l.busy);
                let busy = then.chain([step.busy]).max().unwrap_or(step.busy);
                self.push(Step { busy, until }, usize::MAX);
                from = from.max(until);
            }
        }
    }
}
