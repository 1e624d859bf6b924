//! An account in the making: parts are added in order of time, each before those within it.
//!
//! Bounded: who adds a part that has parts asks [`Builder::has_room`] first.

use crate::account::{Account, Node, Part, Wakeup};
use crate::stretch::Wake;
use ledger::Reason;
use trace::{Nanos, Tid};

/// Deeper chains are not followed. An fsync on ext4 over loop on XFS has about 12 levels.
const MAX_DEPTH: u8 = 24;

/// Parts of one operation. A `sync` of ten seconds has some thousand.
const MAX_NODES: usize = 20_000;

/// Wake-ups of one operation that are kept.
const MAX_WAKEUPS: usize = 1000;

/// Parts so far.
pub(crate) struct Builder {
    account: Account,
}

impl Builder {
    pub fn new(from: Nanos, to: Nanos) -> Builder {
        Builder { account: Account { from, to, nodes: Vec::new(), hops: Vec::new() } }
    }

    pub fn finish(self) -> Account {
        self.account
    }

    /// Whether a part at this depth may have parts.
    pub fn has_room(&self, depth: u8) -> bool {
        depth < MAX_DEPTH && self.account.nodes.len() < MAX_NODES
    }

    /// A part that has parts: they come next, one deeper.
    pub fn open(&mut self, part: Part, from: Nanos, to: Nanos, depth: u8) {
        self.account.nodes.push(Node { part, depth, from, to });
    }

    /// A leaf, if it has any length; joined to the one before it of the same reason.
    pub fn leaf(&mut self, reason: Reason, from: Nanos, to: Nanos, depth: u8) {
        if to <= from {
            return;
        }
        match self.account.nodes.last_mut() {
            Some(last) if last.depth == depth && last.part == Part::Leaf(reason) && last.to == from => {
                last.to = to;
            }
            _ => self.open(Part::Leaf(reason), from, to, depth),
        }
    }

    pub fn wakeup(&mut self, wake: &Wake, who: Tid, latency: Nanos, crossed: bool) {
        if self.account.hops.len() < MAX_WAKEUPS {
            let interrupt = wake.context.is_interrupt();
            self.account.hops.push(Wakeup { at: wake.time, by: wake.by, interrupt, who, latency, crossed });
        }
    }
}
