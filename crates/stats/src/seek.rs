//! Distances between consecutive I/Os on a device: sequential, in strides, or random.
//!
//! The definitions are those of btt: fed with queue and issue events, these are its Q2Q and D2D seek tables (btt(1),
//! and its users' guide, "seek information"). The distance from one extent `[start, end)` to the next, in sectors:
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
//! Extents of no length (flushes) do not move the head and are skipped. Unlike btt, this module does not count a seek from
//! sector 0 to the very first I/O, and its median is the median: btt 2.09 prints 0 for the distances 0, 2, 100, 1000, 10000.

use crate::common::{Common, Mode};
use crate::distribution::Distribution;
use serde::{Deserialize, Serialize};
use trace::{Bytes, Sector};

/// How a distance is measured; see the module's documentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// From the nearer end of the last extent; 0 on overlap.
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

/// Sectors `start..end`, `end` not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Extent {
    start: u64,
    end: u64,
}

impl Seeks {
    /// An empty row of I/Os.
    pub fn new(measure: Measure) -> Self {
        Seeks { measure, ..Seeks::default() }
    }

    /// Adds the next I/O in order of time, of length `len` at `start`. Extents of less than a sector are skipped.
    pub fn record(&mut self, start: Sector, len: Bytes) {
        if len.sectors() == 0 {
            return;
        }
        let next = Extent { start: start.0, end: start.after(len).0 };
        self.first.get_or_insert(next);
        self.move_to(next);
        self.last = Some(next);
    }

    /// Appends what was seen `later` on the same device, including the seek between the two.
    ///
    /// Exact except for the mode, whose bounds may be wider. `later`'s distances must be of the same measure.
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

    /// Number of distances: one less than I/Os with a length.
    pub fn count(&self) -> u64 {
        self.distances.count()
    }

    /// Number of I/Os that began exactly where the one before ended, whatever the measure.
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

    /// The most frequent distance; `None` if none is proven to be.
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
        /// Everything but the mode is exact; the mode is, too, while every distance has its own count.
        #[test]
        fn merging_is_exact(e in extents(), cut in 0usize..600) {
            let (a, b) = e.split_at(cut.min(e.len()));
            let mut merged = of(Measure::Closest, a);
            merged.merge(&of(Measure::Closest, b));
            let whole = of(Measure::Closest, &e);
            prop_assert_eq!(&merged.distances, &whole.distances);
            prop_assert_eq!((merged.sequential, merged.first, merged.last), (whole.sequential, whole.first, whole.last));
            if whole.common.is_exact() {
                prop_assert_eq!(merged, whole);
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
