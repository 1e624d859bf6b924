//! Completions with an earlier timestamp than their issue: the clocks of two CPUs disagree.
//!
//! Example: CPU 0 issues a read at 30; CPU 1, whose clock is behind, completes it at 10. In order of timestamps the
//! completion comes first, and its request is not issued yet. The completion is kept until the issue comes, and then
//! ends the request. It is counted as a step back ([`Tally::backward_steps`](crate::Tally)).
//!
//! **Invariant**: each completion kept has a request that waits for its issue, so there are never more of them.

use crate::piece::Key;
use rustc_hash::FxHashMap;
use trace::Event;

/// Completions that wait for their issue, by key: how many, and the last one.
#[derive(Default)]
pub(crate) struct Early {
    ends: FxHashMap<Key, (u32, Event)>,
}

impl Early {
    /// Number of completions that never met an issue: they belong to I/O begun before the recording.
    pub fn left(&self) -> u64 {
        self.ends.values().map(|(n, _)| *n as u64).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Keeps a completion until the issue comes.
    pub fn keep(&mut self, key: Key, e: &Event) {
        let (n, end) = self.ends.entry(key).or_insert((0, *e));
        (*n, *end) = (*n + 1, *e);
    }

    /// Takes what was kept for a request that is issued now.
    pub fn take(&mut self, key: Key) -> Option<(u32, Event)> {
        self.ends.remove(&key)
    }
}
