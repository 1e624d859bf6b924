//! The time axis of the table: victims' lost time by second. In long recordings, pairs of seconds are merged as often as needed, so memory is
//! bounded and every sum stays exact.

use crate::victim::VictimId;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use trace::Nanos;

/// Maximal number of stretches from the first to the last: one hour of seconds.
const MAX: u64 = 3600;

/// The widest stretch, in seconds: it covers everything that a 64-bit clock in nanoseconds can represent.
const MAX_WIDTH: u64 = 1 << 35;

/// Maximal number of stretches over all victims; 65,536 are 3 MB.
const MAX_CELLS: usize = 1 << 16;

/// Sums of one victim in one stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Second {
    /// Number of operations that ended in it.
    pub ops: u64,
    /// Their time, in nanoseconds.
    pub ns: u64,
    /// The lost part of `ns`.
    pub lost: u64,
    /// Bytes that they moved.
    pub bytes: u64,
}

impl Second {
    /// Adds the sums of another stretch.
    pub fn add(&mut self, other: &Second) {
        self.ops += other.ops;
        self.ns = self.ns.saturating_add(other.ns);
        self.lost = self.lost.saturating_add(other.lost);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// The stretches of all victims.
#[derive(Clone, Debug, Default)]
pub struct Seconds {
    /// The width of a stretch is 2 to this power, in seconds.
    doublings: u32,
    cells: FxHashMap<(u64, VictimId), Second>,
    /// The current second and its sums, by victim: an entry in `cells` is reserved, but the sums are not added yet.
    open: Vec<Option<(u64, Second)>>,
    first: Option<u64>,
    last: u64,
}

impl Seconds {
    /// The width of a stretch, in seconds.
    pub fn width(&self) -> u64 {
        1 << self.doublings
    }

    #[inline]
    pub(crate) fn add(&mut self, end: Nanos, victim: VictimId, what: Second) {
        let second = end.0 / 1_000_000_000;
        match self.open.get_mut(victim.0 as usize) {
            Some(Some((at, sum))) if *at == second => sum.add(&what),
            _ => self.begin(second, victim, what),
        }
    }

    #[inline(never)]
    fn begin(&mut self, second: u64, victim: VictimId, what: Second) {
        let at = victim.0 as usize;
        if self.open.len() <= at {
            self.open.resize(at + 1, None);
        }
        let before = self.open[at].replace((second, what));
        self.put_open(victim, before);
        self.reaches(second, second);
        self.put(second >> self.doublings, victim, Second::default());
        self.bound();
    }

    /// Adds the current sums to `cells`.
    pub(crate) fn close(&mut self) {
        for (open, victim) in std::mem::take(&mut self.open).into_iter().zip(0..) {
            self.put_open(VictimId(victim), open);
        }
    }

    fn put_open(&mut self, victim: VictimId, open: Option<(u64, Second)>) {
        if let Some((second, what)) = open {
            self.put(second >> self.doublings, victim, what);
        }
    }

    fn bound(&mut self) {
        while self.cells.len() > MAX_CELLS && self.width() < MAX_WIDTH {
            self.double();
        }
    }

    /// Widens the stretches until there are at most [`MAX`] from the first second to the last.
    fn reaches(&mut self, from: u64, to: u64) {
        let first = self.first.map_or(from, |first| first.min(from));
        self.first = Some(first);
        self.last = self.last.max(to);
        while (self.last >> self.doublings) - (first >> self.doublings) >= MAX {
            self.double();
        }
    }

    fn put(&mut self, at: u64, victim: VictimId, what: Second) {
        self.cells.entry((at, victim)).or_default().add(&what);
    }

    fn double(&mut self) {
        self.doublings += 1;
        for ((at, victim), s) in std::mem::take(&mut self.cells) {
            self.put(at / 2, victim, s);
        }
    }

    /// The stretches of a victim, in order, each with its beginning.
    pub fn of(&self, victim: VictimId) -> Vec<(Nanos, Second)> {
        let open = self.open.get(victim.0 as usize).copied().flatten();
        let open = open.map(|(second, s)| (second >> self.doublings, s));
        let mine = self.cells.iter().filter(|((_, v), _)| *v == victim).map(|((at, _), s)| (*at, *s));
        let mut all = BTreeMap::<u64, Second>::new();
        mine.chain(open).for_each(|(at, s)| all.entry(at).or_default().add(&s));
        let begin = |at: u64| Nanos((at << self.doublings).saturating_mul(1_000_000_000));
        all.into_iter().map(|(at, s)| (begin(at), s)).collect()
    }

    pub(crate) fn merge(&mut self, other: &Seconds, victim: impl Fn(VictimId) -> Option<VictimId>) {
        self.close();
        let Some(first) = other.first else { return };
        // Merges in stretches of the wider axis, so the result does not depend on the order of merging.
        while self.doublings < other.doublings {
            self.double();
        }
        self.reaches(first, other.last);
        for ((at, v), s) in &other.cells {
            let Some(v) = victim(*v) else { continue };
            self.put(at >> (self.doublings - other.doublings), v, *s);
        }
        for (open, v) in other.open.iter().zip(0..) {
            if let Some(v) = victim(VictimId(v)).filter(|_| open.is_some()) {
                self.put_open(v, *open);
            }
        }
        self.bound();
    }
}
