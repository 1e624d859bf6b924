//! Stacked devices: a bio of md or dm, and the bios it sends to the devices below.
//!
//! The kernel announces each child with a remap event (`A`) just before the child is queued: lower device and
//! sector, upper device and sector. The parent is the bio in flight on the upper device that holds the upper
//! sector. Partitions are announced the same way but have no bios of their own.
//!
//! raid5 announces parity with upper sector 0 (`raid5_compute_blocknr` in drivers/md/raid5.c), before or after the
//! data of its stripe. All members keep a stripe at the same sector, so parity belongs to the bio whose data is
//! in the same [`Rows`] row. Example: `48320 <- (9,0) 0` on one member, then `48320 <- (9,0) 185280` on another:
//! both belong to the bio at 185280.

use crate::op::{Class, Op};
use crate::piece::BioId;
use rustc_hash::FxHashMap;
use serde::Serialize;
use smallvec::SmallVec;
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

/// The stripes of one upper device that have something in flight, by the sector they have on each member.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    rows: FxHashMap<Sector, Row>,
}

#[derive(Debug, Default)]
struct Row {
    parent: Option<BioId>,
    orphans: SmallVec<[BioId; 2]>,
}

impl Rows {
    /// More than md's largest stripe cache (32768 pages) is of no use.
    const MAX: usize = 1 << 15;
    const MAX_ORPHANS: usize = 16;

    /// The parent that was last seen in this row.
    pub fn parent(&self, row: Sector) -> Option<BioId> {
        self.rows.get(&row)?.parent
    }

    /// A child without a parent is in this row.
    pub fn add_orphan(&mut self, row: Sector, child: BioId) {
        let row = self.row(row);
        if row.orphans.len() < Self::MAX_ORPHANS {
            row.orphans.push(child);
        }
    }

    /// This row's parent is known; returns its children that waited for that.
    pub fn adopt(&mut self, row: Sector, parent: BioId) -> SmallVec<[BioId; 2]> {
        let row = self.row(row);
        row.parent = Some(parent);
        std::mem::take(&mut row.orphans)
    }

    fn row(&mut self, row: Sector) -> &mut Row {
        if self.rows.len() >= Self::MAX {
            self.rows.clear();
        }
        self.rows.entry(row).or_default()
    }
}

/// What a bio of a stacked device has in flight below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
}

impl Below {
    /// A bio that was split into thousands of children changes its state so often that nobody would read it.
    const MAX_STEPS: usize = 256;

    fn settle(&mut self, now: Nanos) {
        let busy = match (self.reads, self.others) {
            (0, 0) => Busy::Idle,
            (_, 0) => Busy::Reading,
            _ => Busy::Writing,
        };
        let full = self.lower.steps.len() >= Self::MAX_STEPS;
        match self.lower.steps.last_mut() {
            Some(last) if last.busy == busy || full => {
                last.until = last.until.max(now);
                if full && last.busy != busy {
                    last.busy = Busy::Mixed;
                }
            }
            Some(last) if last.until >= now => {}
            _ => self.lower.steps.push(Step { busy, until: now }),
        }
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
        match Class::of(op, Flags(0)) {
            Class::Read => &mut self.reads,
            _ => &mut self.others,
        }
    }
}
