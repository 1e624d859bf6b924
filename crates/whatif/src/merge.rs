//! Finds requests to merge with: those that wait in the scheduler, by first and last sector.
//!
//! `elv_merge` in block/elevator.c of Linux 6.18 looks a request up that ends where the new one begins (back merge), and
//! `dd_request_merge` in block/mq-deadline.c one that begins where the new one ends (front merge, a setting).

use crate::load::Item;
use crate::sched::Slot;
use rustc_hash::FxHashMap;

/// Waiting requests by both of their ends, in sectors.
#[derive(Debug, Default)]
pub struct Waiting {
    ends: FxHashMap<u64, Slot>,
    starts: FxHashMap<u64, Slot>,
}

impl Waiting {
    /// Whether no request waits.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The request that `item` can merge with, and whether `item` would become its front.
    pub fn beside(&self, item: &Item, front_merges: bool) -> Option<(Slot, bool)> {
        let back = self.ends.get(&item.sector).map(|slot| (*slot, false));
        let front = || self.starts.get(&item.end()).filter(|_| front_merges).map(|slot| (*slot, true));
        back.or_else(front)
    }

    /// Adds a request that waits from now on.
    pub fn remember(&mut self, item: &Item, slot: Slot) {
        self.ends.insert(item.end(), slot);
        self.starts.insert(item.sector, slot);
    }

    /// Removes a request that was issued or has grown.
    pub fn forget(&mut self, item: &Item) {
        self.ends.remove(&item.end());
        self.starts.remove(&item.sector);
    }
}
