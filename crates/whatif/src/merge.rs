//! Which requests may merge: those that wait in the scheduler, by where they end and where they begin.
//!
//! `elv_merge` in block/elevator.c of Linux 6.18 looks a request up that ends where the new one begins (back merge), and
//! `dd_request_merge` in block/mq-deadline.c one that begins where the new one ends (front merge, a setting).

use crate::load::Item;
use crate::sched::Slot;
use rustc_hash::FxHashMap;

/// Requests that wait, by both of their ends, in sectors.
#[derive(Debug, Default)]
pub struct Waiting {
    ends: FxHashMap<u64, Slot>,
    starts: FxHashMap<u64, Slot>,
}

impl Waiting {
    /// No task waits.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The one beside `item`, and whether `item` would be its front.
    pub fn beside(&self, item: &Item, front_merges: bool) -> Option<(Slot, bool)> {
        let back = self.ends.get(&item.sector).map(|slot| (*slot, false));
        let front = || self.starts.get(&item.end()).filter(|_| front_merges).map(|slot| (*slot, true));
        back.or_else(front)
    }

    /// It waits from now on.
    pub fn remember(&mut self, item: &Item, slot: Slot) {
        self.ends.insert(item.end(), slot);
        self.starts.insert(item.sector, slot);
    }

    /// It has gone to the device, or has grown.
    pub fn forget(&mut self, item: &Item) {
        self.ends.remove(&item.end());
        self.starts.remove(&item.sector);
    }
}
