//! Completions that stand before their issue: the clocks of two CPUs disagree.
//!
//! Example: CPU 0 issues a read at 30, CPU 1, whose clock is behind, completes it at 10. In order of the stamps the
//! completion comes first and finds a request that is not issued yet. It is kept until the issue comes, and then
//! ends the request; the step back is counted as one ([`Tally::backward_steps`](crate::Tally)).
//!
//! **Invariant**: what is kept has a request that waits for its issue, so there is never more of it than of those.

use crate::op::Op;
use crate::piece::{Key, Stage};
use crate::tracker::{IoObserver, IoTracker};
use rustc_hash::FxHashMap;
use trace::Event;

/// Completions that wait for their issue.
#[derive(Default)]
pub(crate) struct Early {
    ends: FxHashMap<Key, (u32, Event)>,
}

impl Early {
    /// How many ends never met an issue: they were of something else, begun before the recording.
    pub fn left(&self) -> u64 {
        self.ends.values().map(|(n, _)| *n as u64).sum()
    }
}

impl IoTracker {
    /// Keeps a completion if a request of this extent is there that was not issued yet, on a device that lost nothing.
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

    /// After an issue: ends the request if its end was seen before.
    #[inline]
    pub(crate) fn end_early(&mut self, dev: u32, issue: &Event, observer: &mut dyn IoObserver) {
        if !self.early.ends.is_empty() {
            self.end_if_early(dev, issue, observer);
        }
    }

    /// Apart, so that the usual way through [`IoTracker::complete`] stays in line.
    #[cold]
    #[inline(never)]
    fn end_if_early(&mut self, dev: u32, issue: &Event, observer: &mut dyn IoObserver) {
        let key = Key { dev, start: issue.sector, op: Op::of(issue) };
        if let Some((n, end)) = self.early.ends.remove(&key) {
            // Of several ends only the last can be this one's.
            self.tally.began_before += n as u64 - 1;
            self.complete(dev, &end, observer);
        }
    }
}
