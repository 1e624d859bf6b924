//! The time axis: what victims lost, by second. Of long recordings two seconds become one as often as needed, so memory is
//! bounded and every sum stays exact.

use crate::table::VictimId;
use rustc_hash::FxHashMap;
use trace::Nanos;

/// Stretches that are kept at most; an hour of seconds.
const MAX: u64 = 3600;

/// The widest stretch: nothing a 64-bit clock of nanoseconds can say is later.
const MAX_WIDTH: u64 = 1 << 35;

/// Stretches of all victims together that are kept at most; 3 MB.
const MAX_CELLS: usize = 1 << 16;

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
        self.reaches(second, second);
        self.put(second >> self.doublings, victim, what);
        while self.cells.len() > MAX_CELLS && self.width() < MAX_WIDTH {
            self.double();
        }
    }

    /// Sees to it that there are not too many stretches from the first second to the last.
    fn reaches(&mut self, from: u64, to: u64) {
        let first = self.first.map_or(from, |first| first.min(from));
        self.first = Some(first);
        self.last = self.last.max(to);
        while (self.last >> self.doublings) - (first >> self.doublings) >= MAX {
            self.double();
        }
    }

    fn put(&mut self, at: u64, victim: VictimId, what: Second) {
        let cell = self.cells.entry((at, victim)).or_default();
        cell.ops += what.ops;
        cell.ns = cell.ns.saturating_add(what.ns);
        cell.lost = cell.lost.saturating_add(what.lost);
    }

    fn double(&mut self) {
        self.doublings += 1;
        for ((at, victim), s) in std::mem::take(&mut self.cells) {
            self.put(at / 2, victim, s);
        }
    }

    /// The stretches of a victim, in order, each with the time at which it begins.
    pub fn of(&self, victim: VictimId) -> Vec<(Nanos, Second)> {
        let mine = self.cells.iter().filter(|((_, v), _)| *v == victim);
        let mut all: Vec<_> = mine
            .map(|((at, _), s)| (Nanos((at << self.doublings).saturating_mul(1_000_000_000)), *s))
            .collect();
        all.sort_unstable_by_key(|(at, _)| *at);
        all
    }

    pub(crate) fn merge(&mut self, other: &Seconds, victim: impl Fn(VictimId) -> Option<VictimId>) {
        let Some(first) = other.first else { return };
        // In stretches of the wider of the two, so that it does not matter which is added to which.
        while self.doublings < other.doublings {
            self.double();
        }
        self.reaches(first, other.last);
        for ((at, v), s) in &other.cells {
            let Some(v) = victim(*v) else { continue };
            self.put(at >> (self.doublings - other.doublings), v, *s);
        }
        while self.cells.len() > MAX_CELLS && self.width() < MAX_WIDTH {
            self.double();
        }
    }
}
