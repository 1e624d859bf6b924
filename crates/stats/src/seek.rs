//! How far apart consecutive I/Os lie on the device: sequential, in strides, or at random.
//!
//! Same definitions as btt, whose Q2Q and D2D seek tables these are when fed with queue and issue events (btt(1), and
//! its users' guide, "seek information"). The distance from one extent `[start, end)` to the next, in sectors:
//!
//! ```text
//! closest  (btt's default)   0 if the next one's start or end lies within start..=end of the last one;
//!                            else from its start to the nearer of the last one's start and end
//! absolute (btt -a)          from its start to the last one's end
//!
//!              last: 1000..1008     next: 300..308      closest 700, absolute 708
//!              last: 1000..1008     next: 1008..1016    0 and 0: sequential
//! ```
//!
//! Extents of no length (flushes) do not move the head and are skipped. Unlike btt we do not count a seek from sector 0
//! to the very first I/O, and our median is the median: btt 2.09 prints 0 for the distances 0, 2, 100, 1000, 10000.
//!
//! The mode, the distance seen most often, would need a count for each distance ever seen. [`Seeks`] keeps
//! [`TRACKED`] of them by the method of Misra and Gries ("Finding repeated elements", 1982): when a new distance finds
//! no place, all counts are lowered by one and those at 0 leave. Each true count then lies between the count kept and
//! that plus the number of lowerings, which itself is at most `count / (TRACKED + 1)`. A mode is named only if these
//! bounds prove it, so a random pattern has none, and a stride that makes up a few percent is always found.

use crate::Distribution;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use trace::{Bytes, Sector};

/// Distances counted one by one, for the mode: one that makes up more than 1 in 256 of all is never missed.
pub const TRACKED: usize = 256;

/// Which distance is meant; see the module's head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// From the nearer end of the last extent, 0 on overlap.
    #[default]
    Closest,
    /// From the end of the last extent.
    Absolute,
}

/// The distances between consecutive I/Os of one device, in sectors of 512 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeks {
    measure: Measure,
    distances: Distribution,
    sequential: u64,
    common: Common,
    first: Option<Extent>,
    last: Option<Extent>,
}

/// The distance seen most often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mode {
    /// In sectors.
    pub distance: u64,
    /// It was seen at least this often.
    pub at_least: u64,
    /// And at most this often.
    pub at_most: u64,
}

/// Sectors `start..end`, `end` not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Extent {
    start: u64,
    end: u64,
}

impl Seeks {
    /// No I/O seen yet.
    pub fn new(measure: Measure) -> Self {
        Seeks { measure, ..Seeks::default() }
    }

    /// The next I/O in order of time covers `len` from `start`. Extents of less than a sector are skipped.
    pub fn record(&mut self, start: Sector, len: Bytes) {
        if len.sectors() == 0 {
            return;
        }
        let next = Extent { start: start.0, end: start.after(len).0 };
        self.first.get_or_insert(next);
        self.move_to(next);
        self.last = Some(next);
    }

    /// Appends what was seen `later` on the same device, with the seek between the two.
    ///
    /// Exact except for the mode, whose bounds may be wider than in one go. `later`'s distances must be of the same measure.
    pub fn merge(&mut self, later: &Seeks) {
        debug_assert!(self.measure == later.measure || self.last.is_none());
        if let (Some(first), Some(last)) = (later.first, later.last) {
            if self.first.is_none() {
                self.measure = later.measure;
            }
            self.first.get_or_insert(first);
            self.move_to(first);
            self.last = Some(last);
        }
        self.distances.merge(&later.distances);
        self.sequential = self.sequential.saturating_add(later.sequential);
        self.common.merge(&later.common);
    }

    fn move_to(&mut self, next: Extent) {
        let Some(last) = self.last else { return };
        let distance = self.measure.distance(last, next);
        self.distances.record(distance);
        self.sequential = self.sequential.saturating_add((next.start == last.end) as u64);
        self.common.add(distance);
    }

    /// How many distances: one less than I/Os that had a length.
    pub fn count(&self) -> u64 {
        self.distances.count()
    }

    /// How many I/Os began exactly where the one before ended, whatever the measure.
    pub fn sequential(&self) -> u64 {
        self.sequential
    }

    /// The mean distance in sectors, 0 if there was none.
    pub fn mean(&self) -> f64 {
        self.distances.mean()
    }

    /// The median distance in sectors, right to 1/128.
    pub fn median(&self) -> u64 {
        self.distances.quantile(0.5)
    }

    /// The distance seen most often, if one surely was.
    pub fn mode(&self) -> Option<Mode> {
        self.common.mode()
    }

    /// All distances, in sectors.
    pub fn distances(&self) -> &Distribution {
        &self.distances
    }
}

impl Measure {
    fn distance(self, last: Extent, next: Extent) -> u64 {
        let touched = last.start..=last.end;
        match self {
            Measure::Closest if touched.contains(&next.start) || touched.contains(&next.end) => 0,
            Measure::Closest => next.start.abs_diff(last.start).min(next.start.abs_diff(last.end)),
            Measure::Absolute => next.start.abs_diff(last.end),
        }
    }
}

/// The most common distances by Misra and Gries, mergeable as in Agarwal et al., "Mergeable summaries" (2012).
///
/// Every distance of a recording comes by here, and of a random pattern each is new. So the counts stand in a small
/// table that stays in the processor's cache: a distance has the first slot, from that of its hash on, that is its own
/// or free. Example: 56 and 700 both hash to 9; 56 came first and has slot 9, so 700 has slot 10.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
struct Common {
    /// Distance and count, each count too low by at most `lowered`; 0: free. Empty, or [`SLOTS`] long.
    slots: Vec<(u64, u64)>,
    /// Slots that are not free: at most [`TRACKED`].
    used: usize,
    lowered: u64,
}

/// Half of them are free, so that looking for one ends soon.
const SLOTS: usize = 2 * TRACKED;

/// The written form of [`Common`].
#[derive(Serialize, Deserialize)]
struct Written {
    counts: FxHashMap<u64, u64>,
    lowered: u64,
}

impl From<Written> for Common {
    fn from(w: Written) -> Common {
        let mut common = Common { lowered: w.lowered, ..Common::default() };
        common.keep(w.counts);
        common
    }
}

impl From<Common> for Written {
    fn from(c: Common) -> Written {
        Written { counts: c.counts().collect(), lowered: c.lowered }
    }
}

impl PartialEq for Common {
    fn eq(&self, other: &Common) -> bool {
        let all = |c: &Common| c.counts().collect::<FxHashMap<_, _>>();
        self.lowered == other.lowered && all(self) == all(other)
    }
}

impl Eq for Common {}

impl Common {
    fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.slots.iter().copied().filter(|(_, count)| *count > 0)
    }

    /// The count of a distance; 0 if it has none yet.
    #[inline]
    fn count(&mut self, distance: u64) -> &mut u64 {
        if self.slots.is_empty() {
            self.slots = vec![(0, 0); SLOTS];
        }
        // The high bits of a product with 2^64 / golden ratio (Knuth, TAOCP 6.4).
        let mut at = distance.wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> (usize::BITS - SLOTS.ilog2());
        while self.slots[at].1 > 0 && self.slots[at].0 != distance {
            at = (at + 1) % SLOTS;
        }
        let (place, count) = &mut self.slots[at];
        *place = distance;
        count
    }

    #[inline]
    fn add(&mut self, distance: u64) {
        let is_full = self.used == TRACKED;
        let count = self.count(distance);
        if *count == 0 && is_full {
            return self.lower();
        }
        let is_new = *count == 0;
        *count = count.saturating_add(1);
        self.used += is_new as usize;
    }

    /// All counts are lowered by one, for a distance seen once that has no place (and would be lowered to 0 itself).
    fn lower(&mut self) {
        let counts: Vec<_> = self.counts().map(|(distance, count)| (distance, count - 1)).collect();
        self.lowered = self.lowered.saturating_add(1);
        self.keep(counts);
    }

    fn merge(&mut self, other: &Common) {
        let mut counts: FxHashMap<u64, u64> = self.counts().collect();
        for (distance, n) in other.counts() {
            let count = counts.entry(distance).or_default();
            *count = count.saturating_add(n);
        }
        self.lowered = self.lowered.saturating_add(other.lowered);
        self.keep(counts);
    }

    /// Keeps `TRACKED` of these counts: lowers all by the largest one that has no place.
    fn keep(&mut self, counts: impl IntoIterator<Item = (u64, u64)>) {
        let mut counts: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
        if counts.len() > TRACKED {
            let (_, &mut (_, by), _) = counts.select_nth_unstable_by(TRACKED, |a, b| b.1.cmp(&a.1));
            counts.iter_mut().for_each(|(_, count)| *count = count.saturating_sub(by));
            counts.retain(|(_, count)| *count > 0);
            self.lowered = self.lowered.saturating_add(by);
        }
        self.slots.fill((0, 0));
        self.used = counts.len();
        for (distance, count) in counts {
            *self.count(distance) = count;
        }
    }

    fn mode(&self) -> Option<Mode> {
        let (distance, at_least) = self.counts().max_by_key(|&(_, count)| count)?;
        // Every other distance, kept or not, was seen at most this often.
        let rival = self.counts().filter(|&(d, _)| d != distance).map(|(_, c)| c).max().unwrap_or(0);
        let rival = rival.saturating_add(self.lowered);
        let mode = Mode { distance, at_least, at_most: at_least.saturating_add(self.lowered) };
        (at_least > rival).then_some(mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(measure: Measure, extents: &[(u64, u64)]) -> Seeks {
        let mut seeks = Seeks::new(measure);
        extents
            .iter()
            .for_each(|&(start, sectors)| seeks.record(Sector(start), Bytes::from_sectors(sectors)));
        seeks
    }

    #[test]
    fn worked_examples_of_the_module_head() {
        for (next, closest, absolute) in [((300, 8), 700, 708), ((1008, 8), 0, 0)] {
            let extents = [(1000, 8), next];
            assert_eq!(of(Measure::Closest, &extents).mean(), closest as f64);
            assert_eq!(of(Measure::Absolute, &extents).mean(), absolute as f64);
        }
    }

    /// Number and mean as btt 2.09 printed them for these extents, less its first seek from sector 0.
    #[test]
    fn same_as_btt() {
        type Case = (&'static [(u64, u64)], u64, f64, f64);
        let cases: &[Case] = &[
            (&[(0, 8), (100, 8), (300, 8), (1000, 8)], 4, 244.0, 244.0),
            (&[(1000, 8), (300, 8), (100, 8), (0, 8)], 4, 500.0, 506.0),
            (&[(0, 8), (8, 8), (16, 8), (24, 8)], 4, 0.0, 0.0),
            (&[(100, 100), (150, 8), (50, 60), (0, 300), (10, 5)], 5, 50.0, 131.6),
            (&[(100, 8), (0, 0), (100, 8), (5, 0), (1000, 8)], 3, 330.7, 333.3),
            (&[(0, 8), (1000, 8), (0, 8), (1000, 8), (2000, 8), (500, 8)], 6, 912.7, 915.3),
        ];
        for &(extents, count, closest, absolute) in cases {
            for (measure, mean) in [(Measure::Closest, closest), (Measure::Absolute, absolute)] {
                let seeks = of(measure, extents);
                assert_eq!(seeks.count() + 1, count);
                let with_first = (seeks.distances().sum() + extents[0].0 as u128) as f64 / count as f64;
                assert!((with_first - mean).abs() <= 0.05 + 1e-9, "{measure:?} {extents:?}: {with_first}");
            }
        }
    }

    #[test]
    fn a_stride_has_a_mode_and_a_median() {
        let strided: Vec<_> = (0..100).map(|i| (i * 64, 8)).chain([(1_000_000, 8)]).collect();
        let seeks = of(Measure::Closest, &strided);
        assert_eq!(seeks.mode(), Some(Mode { distance: 56, at_least: 99, at_most: 99 }));
        assert_eq!((seeks.median(), seeks.count(), seeks.sequential()), (56, 100, 0));
    }

    #[test]
    fn no_mode_where_none_stands_out() {
        assert_eq!(of(Measure::Closest, &[]).mode(), None);
        let all_differ: Vec<_> = (0..5000).map(|i| (i * i, 1)).collect();
        let seeks = of(Measure::Closest, &all_differ);
        assert_eq!(seeks.mode(), None);
        assert!(seeks.common.counts().count() <= TRACKED);
    }

    fn extents() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let extent = prop_oneof![
            3 => (0u64..20, 0u64..4),
            1 => (any::<u64>(), any::<u64>()),
            1 => (0u64..100_000, 1u64..100),
        ];
        prop::collection::vec(extent, 0..600)
    }

    proptest! {
        /// All of it but the mode, and the mode too while every distance has its own count.
        #[test]
        fn merging_is_exact(e in extents(), cut in 0usize..600) {
            let (a, b) = e.split_at(cut.min(e.len()));
            let mut merged = of(Measure::Closest, a);
            merged.merge(&of(Measure::Closest, b));
            let whole = of(Measure::Closest, &e);
            prop_assert_eq!(&merged.distances, &whole.distances);
            prop_assert_eq!((merged.sequential, merged.first, merged.last), (whole.sequential, whole.first, whole.last));
            if whole.common.lowered == 0 {
                prop_assert_eq!(merged, whole);
            }
        }

        /// What is claimed of counts holds for the true ones, merged or not.
        #[test]
        fn bounds_of_common_distances_hold(
            d in prop::collection::vec(prop_oneof![0u64..8, 0u64..2000], 0..3000), cut in 0usize..3000,
        ) {
            let (a, b) = d.split_at(cut.min(d.len()));
            let (mut common, mut later) = (Common::default(), Common::default());
            a.iter().for_each(|&d| common.add(d));
            b.iter().for_each(|&d| later.add(d));
            common.merge(&later);
            let mut truth: FxHashMap<u64, u64> = FxHashMap::default();
            d.iter().for_each(|d| *truth.entry(*d).or_default() += 1);
            let kept: FxHashMap<u64, u64> = common.counts().collect();
            prop_assert!(kept.len() <= TRACKED);
            prop_assert!(common.lowered <= d.len() as u64 / (TRACKED as u64 + 1));
            for (d, &n) in &truth {
                let kept = kept.get(d).copied().unwrap_or(0);
                prop_assert!((kept..=kept + common.lowered).contains(&n));
            }
            if let Some(mode) = common.mode() {
                let n = truth[&mode.distance];
                prop_assert!((mode.at_least..=mode.at_most).contains(&n));
                prop_assert!(truth.iter().all(|(d, &other)| *d == mode.distance || other < n));
            }
        }

        #[test]
        fn json_round_trips(e in extents()) {
            let seeks = of(Measure::Absolute, &e);
            let json = serde_json::to_string(&seeks).unwrap();
            prop_assert_eq!(serde_json::from_str::<Seeks>(&json).unwrap(), seeks);
        }
    }
}
