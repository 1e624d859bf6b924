//! Stacked devices: a bio of md or dm, and the bios it sends to the devices below.
//!
//! The kernel announces each child with a remap event (`A`) just before the child is queued: lower device and
//! sector, upper device and sector. The parent is the bio in flight on the upper device that holds the upper
//! sector. Partitions are announced the same way but have no bios of their own.
//! What raid5 sends down in whole stripes is announced with places that tell less: see [`crate::rows`].

use crate::op::{Class, Op};
use crate::piece::BioId;
use serde::Serialize;
use trace::{Flags, Nanos, Sector};

/// A child that was announced and is not yet queued.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Child {
    /// Its own first sector.
    pub sector: Sector,
    /// The upper device.
    pub upper: u32,
    /// The bio that sends it, if it is known.
    pub parent: Option<BioId>,
}

/// Children announced on one device. The kernel queues them at once, so a few suffice.
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

    /// What was announced of the bio queued at `sector`.
    pub fn take(&mut self, sector: Sector) -> Option<Child> {
        if self.waiting.is_empty() {
            return None;
        }
        let at = self.waiting.iter().rposition(|c| c.sector == sector)?;
        Some(self.waiting.remove(at))
    }
}

/// What a bio of a stacked device has in flight below.
// In order of what counts more where several are true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Busy {
    /// Nothing: it waits in the driver itself.
    Idle,
    /// Reads only.
    Reading,
    /// A write (or flush, or discard), perhaps beside reads.
    Writing,
    /// It changed too often to be kept apart.
    Mixed,
}

/// A stretch of a bio's time and what it had in flight below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What was in flight.
    pub busy: Busy,
    /// Until when; it begins where the step before it ends, the first at the bio's `Q`.
    pub until: Nanos,
}

/// How a bio of a stacked device spent its time.
///
/// Example: a write on raid5 waits 1 ms in md, reads old data for 5 ms, computes for 1 ms and writes for 6 ms:
/// idle until 1, reading until 6, idle until 7, writing until 13.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lower {
    /// Bios sent to devices below.
    pub children: u32,
    /// The steps, touching.
    pub steps: Vec<Step>,
}

/// A [`Lower`] in the making.
#[derive(Debug, Default)]
pub(crate) struct Below {
    reads: u32,
    others: u32,
    lower: Lower,
    /// What was found to be its own only when it was over, or long in flight.
    late: Vec<Late>,
}

/// A bio below that was in flight for a stretch of the past.
#[derive(Clone, Copy, Debug)]
struct Late {
    busy: Busy,
    from: Nanos,
    to: Nanos,
}

impl Below {
    /// A bio that was split into thousands of children changes its state so often that it could not be read.
    const MAX_STEPS: usize = 256;
    /// 1 MiB in stripes of 4 KiB, a disk of each read before.
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

    /// A child that was in flight then has been found now.
    pub fn child_found(&mut self, op: Op, from: Nanos, to: Nanos) {
        self.lower.children += 1;
        self.was_busy(op, from, to);
    }

    /// A child that is still in flight has been found now.
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

    /// The bio that sent all this began at `queued` and is over.
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
    /// Adds a step; where there are too many, the last one takes it in.
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

    /// What was in flight at some time counts for what the steps say of it: idle becomes reading or writing, reading
    /// becomes writing. Example: idle until 10, writing until 20, and a read from 2 to 8: idle until 2, reading until 8,
    /// idle until 10, writing until 20.
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
