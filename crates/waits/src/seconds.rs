//! The time axis: what victims lost, by second. Of long recordings two seconds become one as often as needed, so memory is
//! bounded and every sum stays exact.

use crate::table::VictimId;
use rustc_hash::FxHashMap;
use trace::Nanos;

/// Stretches that are kept at most; an hour of seconds.
const MAX: u64 = 3600;

/// What happened to one victim in one stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Second {
    /// Operations that ended in it.
    pub ops: u64,
    /// Their time.
    pub ns: u64,
    /// What of it was lost.
    pub lost: u64,
}

/// All stretches.
#[derive(Clone, Debug, Default)]
pub struct Seconds {
    /// How many seconds one stretch is, as a power of two.
    doublings: u32,
    cells: FxHashMap<(u64, VictimId), Second>,
    first: Option<u64>,
    last: u64,
}

impl Seconds {
    /// How long a stretch is, in seconds.
    pub fn width(&self) -> u64 {
        1 << self.doublings
    }

    pub(crate) fn add(&mut self, end: Nanos, victim: VictimId, what: Second) {
        let second = end.0 / 1_000_000_000;
        let first = *self.first.get_or_insert(second);
        self.first = Some(first.min(second));
        self.last = self.last.max(second);
        while (self.last - self.first.unwrap_or(first)) >> self.doublings >= MAX {
            self.double();
        }
        let cell = self.cells.entry((second >> self.doublings, victim)).or_default();
        cell.ops += what.ops;
        cell.ns = cell.ns.saturating_add(what.ns);
        cell.lost = cell.lost.saturating_add(what.lost);
    }

    fn double(&mut self) {
        self.doublings += 1;
        for ((at, victim), s) in std::mem::take(&mut self.cells) {
            let cell = self.cells.entry((at / 2, victim)).or_default();
            cell.ops += s.ops;
            cell.ns = cell.ns.saturating_add(s.ns);
            cell.lost = cell.lost.saturating_add(s.lost);
        }
    }

    /// The stretches of a victim, in order, each with the time at which it begins.
    pub fn of(&self, victim: VictimId) -> Vec<(Nanos, Second)> {
        let mine = self.cells.iter().filter(|((_, v), _)| *v == victim);
        let mut all: Vec<_> =
            mine.map(|((at, _), s)| (Nanos((at << self.doublings).saturating_mul(1_000_000_000)), *s)).collect();
        all.sort_unstable_by_key(|(at, _)| *at);
        all
    }

    pub(crate) fn merge(&mut self, other: &Seconds, victim: impl Fn(VictimId) -> VictimId) {
        for ((at, v), s) in &other.cells {
            let begin = Nanos((at << other.doublings).saturating_mul(1_000_000_000));
            self.add(begin, victim(*v), *s);
        }
    }
}
