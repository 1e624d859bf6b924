//! Rows of a parity array: finds the parent of what raid5 sends to its members for a stripe.
//!
//! raid5 handles stripes, not bios. It announces parity with upper sector 0. It announces other reads of a stripe with
//! the sector of that data, where there need be no bio of the array (`raid5_compute_blocknr`, drivers/md/raid5.c). All
//! members keep a stripe at the same sector, its row, so a child belongs to the bio whose own data is in the same row.
//! Example: `48320 <- (9,0) 0` on one member, then `48320 <- (9,0) 185280` on another: both belong to the bio at 185280.
//!
//! Until a child with a known parent comes, others of the row are *orphans*. With `raid5 rcw` (the rest of the stripe
//! is read to compute parity) all are completed by then, so orphans stay in their row after their end. A stripe may
//! serve several bios, each of which waits for its reads. So orphans also stay after they have found a parent.

use crate::bio_id::BioId;
use crate::op::Op;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use trace::{Nanos, Sector};

/// A child whose parent was not known when it was queued.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Orphan {
    pub bio: BioId,
    pub op: Op,
    pub queued: Nanos,
    /// When it was completed; `None` while in flight.
    pub completed: Option<Nanos>,
    /// Whether a parent has been found.
    pub found: bool,
}

/// Stripes of one upper device with current or recent I/O, by their sector on each member.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    rows: FxHashMap<Sector, Row>,
    /// Completed reads among the orphans for which no parent was found so far.
    unclaimed: Unclaimed,
}

/// Reads that an array sent to its members and that belong to none of its bios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unclaimed {
    /// Number of reads.
    pub reads: u64,
    /// Sum of their times in flight.
    pub time: Nanos,
}

#[derive(Debug, Default)]
struct Row {
    parent: Option<BioId>,
    orphans: Vec<Orphan>,
}

impl Rows {
    /// Largest number of rows: md's largest stripe cache (32768 pages).
    const MAX: usize = 1 << 15;
    /// Largest number of orphans in a row: the array's members less one. Older ones belong to an earlier stripe.
    const MAX_ORPHANS: usize = 32;

    /// The last parent seen in this row.
    pub fn parent(&self, row: Sector) -> Option<BioId> {
        self.rows.get(&row)?.parent
    }

    /// Adds a child without a parent to this row.
    pub fn add_orphan(&mut self, row: Sector, orphan: Orphan) {
        let row = self.row(row);
        if row.orphans.len() >= Self::MAX_ORPHANS {
            row.orphans.remove(0);
        }
        row.orphans.push(orphan);
    }

    /// Notes that an orphan of this row is completed.
    pub fn orphan_over(&mut self, row: Sector, bio: BioId, op: Op, queued: Nanos, now: Nanos) {
        let orphans = self.rows.get_mut(&row).map(|r| &mut r.orphans);
        let here = orphans.and_then(|o| o.iter_mut().find(|o| o.bio == bio));
        let found = here.is_some_and(|o| {
            o.completed = Some(now);
            o.found
        });
        if !found && op == Op::Read {
            self.unclaimed.reads += 1;
            self.unclaimed.time += now.since(queued);
        }
    }

    /// Sets this row's parent, queued at `since`. Returns the orphans of the row that it waited for.
    pub fn adopt(&mut self, row: Sector, parent: BioId, since: Nanos) -> SmallVec<[Orphan; 2]> {
        let mut unclaimed = self.unclaimed;
        let row = self.row(row);
        let is_new = row.parent.replace(parent) != Some(parent);
        if row.orphans.is_empty() {
            return SmallVec::new();
        }
        // An orphan completed before this bio was queued belonged to an earlier stripe.
        row.orphans.retain(|o| o.completed.is_none_or(|c| c > since));
        let mut adopted = SmallVec::new();
        for orphan in row.orphans.iter_mut().filter(|o| !o.found || (is_new && o.completed.is_some())) {
            adopted.push(*orphan);
            if let Some(completed) = orphan.completed.filter(|_| !orphan.found && orphan.op == Op::Read) {
                unclaimed.reads = unclaimed.reads.saturating_sub(1);
                unclaimed.time = unclaimed.time.since(completed.since(orphan.queued));
            }
            orphan.found = true;
        }
        self.unclaimed = unclaimed;
        adopted
    }

    /// Completed reads that belong to no recorded bio of the array.
    pub fn unclaimed(&self) -> Unclaimed {
        self.unclaimed
    }

    fn row(&mut self, row: Sector) -> &mut Row {
        if self.rows.len() >= Self::MAX && !self.rows.contains_key(&row) {
            self.rows.clear();
        }
        self.rows.entry(row).or_default()
    }
}
