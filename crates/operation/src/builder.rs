//! Builds an account: parts are added in order of time, each before the parts within it.
//!
//! The size is bounded: before adding a part that contains others, the caller asks [`Builder::has_room`].

use crate::account::{Account, Node, Part, Wakeup};
use crate::stretch::Wake;
use ledger::Reason;
use trace::{Nanos, Tid};

/// Largest depth of a chain. An fsync on ext4 over loop on XFS has about 12 levels.
const MAX_DEPTH: u8 = 24;

/// Largest number of parts of one operation. A `sync` of ten seconds has a few thousand.
const MAX_NODES: usize = 20_000;

/// An operation that waits for one request has hardly more parts.
const USUAL: usize = 10;

/// Largest number of wakeups kept for one operation.
const MAX_WAKEUPS: usize = 1000;

/// An account under construction.
pub(crate) struct Builder {
    account: Account,
}

impl Builder {
    pub fn new(from: Nanos, to: Nanos) -> Builder {
        Builder::of(Account { from, to, nodes: Vec::with_capacity(USUAL), hops: Vec::new() })
    }

    /// Goes on with an account of which only the end is missing.
    pub fn of(account: Account) -> Builder {
        Builder { account }
    }

    pub fn finish(self) -> Account {
        self.account
    }

    /// Whether a part at this depth may contain parts.
    pub fn has_room(&self, depth: u8) -> bool {
        depth < MAX_DEPTH && self.account.nodes.len() < MAX_NODES
    }

    /// Adds a part that contains others, which are added next, one level deeper.
    pub fn open(&mut self, part: Part, from: Nanos, to: Nanos, depth: u8) {
        self.account.nodes.push(Node { part, depth, from, to });
    }

    /// Adds a leaf, unless it is empty. It is joined to a leaf of the same reason just before it.
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
