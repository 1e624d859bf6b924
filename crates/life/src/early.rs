//! Completions with an earlier timestamp than their issue: the clocks of two CPUs disagree.
//!
//! Example: CPU 0 issues a read at 30; CPU 1, whose clock is behind, completes it at 10. In order of timestamps the
//! completion comes first, and its request is not issued yet. The completion is kept until the issue comes, and then
//! ends the request. It is counted as a step back ([`Tally::backward_steps`](crate::Tally)).
//!
//! **Invariant**: each completion kept has a request that waits for its issue, so there are never more of them.

use crate::op::Op;
use crate::piece::{Key, Stage};
use crate::tracker::{IoObserver, IoTracker};
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
}

impl IoTracker {
    /// Keeps a completion if a request of this extent was not issued yet and the device has lost nothing.
    pub(crate) fn keep_early(&mut self, key: Key, e: &Event) -> bool {
        let not_issued = |stage| matches!(stage, Stage::Got | Stage::Inserted);
        let mut here = self.table.chain(key).map(|id| self.table.get(id));
        if self.devices[key.dev as usize].losses > 0
            || e.bytes.0 == 0
            || !here.any(|p| not_issued(p.stage) && p.bytes() == e.bytes)
        {
            return false;
        }
        let (n, end) = self.early.ends.entry(key).or_insert((0, *e));
        (*n, *end) = (*n + 1, *e);
        true
    }

    /// After an issue: ends the request if its completion came before.
    #[inline]
    pub(crate) fn end_early(&mut self, dev: u32, issue: &Event, observer: &mut dyn IoObserver) {
        if !self.early.ends.is_empty() {
            self.end_if_early(dev, issue, observer);
        }
    }

    /// A separate function, so that the usual path through [`IoTracker::complete`] stays inlined.
    #[cold]
    #[inline(never)]
    fn end_if_early(&mut self, dev: u32, issue: &Event, observer: &mut dyn IoObserver) {
        let key = Key { dev, start: issue.sector, op: Op::of(issue) };
        if let Some((n, end)) = self.early.ends.remove(&key) {
            // Of several completions only the last can belong to this issue.
            self.tally.began_before += n as u64 - 1;
            self.complete(dev, &end, observer);
        }
    }
}
