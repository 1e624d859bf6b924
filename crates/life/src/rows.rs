//! Rows of an array with parity: what raid5 sends to its members for a stripe, and whose it is.
//!
//! raid5 handles stripes, not bios. It announces parity with upper sector 0, and what else it reads of a stripe with
//! the place of that data, where no bio of the array need be (`raid5_compute_blocknr`, drivers/md/raid5.c). All members
//! keep a stripe at the same sector, its row, so such a child belongs to the bio whose own data is in the same row.
//! Example: `48320 <- (9,0) 0` on one member, then `48320 <- (9,0) 185280` on another: both belong to the bio at 185280.
//!
//! Until a child with a known parent comes, others of the row are *orphans*. With `raid5 rcw` (the rest of the stripe
//! is read to compute parity) they are all over by then, so orphans stay in their row after their end. A stripe may
//! serve several bios, and each waits for its reads: so they stay after they have found a parent, too.

use crate::op::Op;
use crate::piece::BioId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use trace::{Nanos, Sector};

/// A child whose parent was not known when it was queued.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Orphan {
    pub bio: BioId,
    pub op: Op,
    pub queued: Nanos,
    /// When it was over, if it is.
    pub completed: Option<Nanos>,
    /// Whether it has found a parent.
    pub found: bool,
}

/// The stripes of one upper device that have something in flight or had it lately, by their sector on each member.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    rows: FxHashMap<Sector, Row>,
    /// How long orphans that are over were in flight and found no parent so far, all together.
    unclaimed: Unclaimed,
}

/// Children of an array that belong to none of its bios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unclaimed {
    /// How many reads.
    pub reads: u64,
    /// How long they took, together.
    pub time: Nanos,
}

#[derive(Debug, Default)]
struct Row {
    parent: Option<BioId>,
    orphans: Vec<Orphan>,
}

impl Rows {
    /// More than md's largest stripe cache (32768 pages) is of no use.
    const MAX: usize = 1 << 15;
    /// Members of an array, less one: more orphans of a row are of an older stripe.
    const MAX_ORPHANS: usize = 32;

    /// The parent that was last seen in this row.
    pub fn parent(&self, row: Sector) -> Option<BioId> {
        self.rows.get(&row)?.parent
    }

    /// A child without a parent is in this row.
    pub fn add_orphan(&mut self, row: Sector, orphan: Orphan) {
        let row = self.row(row);
        if row.orphans.len() >= Self::MAX_ORPHANS {
            row.orphans.remove(0);
        }
        row.orphans.push(orphan);
    }

    /// An orphan of this row is over.
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

    /// This row's parent is known, which was queued at `since`; returns those of the row's orphans that it waited for.
    pub fn adopt(&mut self, row: Sector, parent: BioId, since: Nanos) -> SmallVec<[Orphan; 2]> {
        let mut unclaimed = self.unclaimed;
        let row = self.row(row);
        let is_new = row.parent.replace(parent) != Some(parent);
        if row.orphans.is_empty() {
            return SmallVec::new();
        }
        // What was over before this bio was queued was for an earlier stripe here.
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

    /// Reads that are over and belong to no bio of the array that was seen.
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
