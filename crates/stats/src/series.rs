//! What happened in each second, in bounded memory for traces of any length.
//!
//! A series is a row of cells, one for each second between the first and the last value counted. When there would be
//! more than [`MOST_CELLS`], neighbours are merged and the step doubles: 1 s, 2 s, 4 s, ... Cells begin at multiples
//! of the step counted from the clock's zero, never at the first event.
//!
//! **Invariant**: the step is the smallest one with which the row fits. So step and cells depend on *what* was
//! counted, not on the order, and merging two series is exact: the result is the series of everything in both.
//!
//! ```text
//! MOST_CELLS = 4, one event each at   5 s   6 s   8 s        step 1 s:  5:1 6:1 7:0 8:1
//! and one more at 9 s: five cells, too many                 step 2 s:  4:1 6:1 8:2
//! ```

use serde::{de, Deserialize, Deserializer, Serialize};
use std::collections::VecDeque;
use trace::Nanos;

/// Largest number of cells: 68 minutes at one second each. Enough for a plot as wide as any screen.
pub const MOST_CELLS: usize = 4096;

/// What is counted in one step of time. `merge` must be commutative and associative, with `default()` as its zero.
pub trait Cell: Clone + Default {
    /// Adds what `other` counted.
    fn merge(&mut self, other: &Self);
}

impl Cell for u64 {
    fn merge(&mut self, other: &u64) {
        *self = self.saturating_add(*other);
    }
}

impl Cell for crate::distribution::Distribution {
    fn merge(&mut self, other: &Self) {
        crate::distribution::Distribution::merge(self, other);
    }
}

/// A row of cells over time; see the module's documentation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Series<C> {
    /// The step in seconds, a power of two.
    step_s: u64,
    /// The first cell covers `first * step_s ..` seconds.
    first: u64,
    cells: VecDeque<C>,
}

impl<C> Default for Series<C> {
    fn default() -> Self {
        Series { step_s: 1, first: 0, cells: VecDeque::new() }
    }
}

impl<C: Cell> Series<C> {
    /// An empty series.
    pub fn new() -> Self {
        Self::default()
    }

    /// The cell that covers `time`, for counting.
    #[inline]
    pub fn at(&mut self, time: Nanos) -> &mut C {
        let second = time.0 / Nanos::SECOND.0;
        // Nearly always the cell exists. The step is a power of two, so a shift replaces a slow division.
        let at = (second >> self.step_s.trailing_zeros()).wrapping_sub(self.first) as usize;
        if at < self.cells.len() {
            return &mut self.cells[at];
        }
        self.cover(second, second);
        &mut self.cells[(second / self.step_s - self.first) as usize]
    }

    /// Adds what `other` counted.
    pub fn merge(&mut self, other: &Series<C>) {
        let (Some(start), Some(last)) =
            (other.seconds_of(0), other.seconds_of(other.cells.len().wrapping_sub(1)))
        else {
            return;
        };
        while self.step_s < other.step_s {
            self.double();
        }
        self.cover(start, last);
        for (i, theirs) in other.cells.iter().enumerate() {
            let second = (other.first + i as u64) * other.step_s;
            self.cells[(second / self.step_s - self.first) as usize].merge(theirs);
        }
    }

    /// Length of time that a cell covers.
    pub fn step(&self) -> Nanos {
        Nanos(self.step_s.saturating_mul(Nanos::SECOND.0))
    }

    /// Each cell with the time at which it begins, in order and without gaps.
    pub fn cells(&self) -> impl Iterator<Item = (Nanos, &C)> {
        let second = move |i| (self.first + i as u64) * self.step_s;
        self.cells.iter().enumerate().map(move |(i, c)| (Nanos(second(i).saturating_mul(Nanos::SECOND.0)), c))
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The second at which cell `i` begins; `None` if there is no such cell.
    fn seconds_of(&self, i: usize) -> Option<u64> {
        self.cells.get(i).map(|_| (self.first + i as u64) * self.step_s)
    }

    /// Extends the row to cover both of these seconds, with larger steps if needed.
    fn cover(&mut self, from: u64, to: u64) {
        loop {
            let (from, to) = (from / self.step_s, to / self.step_s);
            let (first, last) = match self.cells.len() {
                0 => (from, to),
                n => (from.min(self.first), to.max(self.first + n as u64 - 1)),
            };
            if last - first < MOST_CELLS as u64 {
                if !self.cells.is_empty() {
                    (first..self.first).for_each(|_| self.cells.push_front(C::default()));
                }
                self.first = first;
                self.cells.resize((last - first + 1) as usize, C::default());
                return;
            }
            self.double();
        }
    }

    /// Merges neighbours and doubles the step.
    fn double(&mut self) {
        self.step_s *= 2;
        let mut doubled: VecDeque<C> = VecDeque::new();
        for (i, cell) in self.cells.drain(..).enumerate() {
            // A pair begins at every even index counted from the clock's zero.
            match doubled.back_mut() {
                Some(pair) if (self.first + i as u64) % 2 == 1 => pair.merge(&cell),
                _ => doubled.push_back(cell),
            }
        }
        self.first /= 2;
        self.cells = doubled;
    }
}

impl<'de, C: Cell + Deserialize<'de>> Deserialize<'de> for Series<C> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Written<C> {
            step_s: u64,
            first: u64,
            cells: VecDeque<C>,
        }
        let Written { step_s, first, cells } = Written::<C>::deserialize(from)?;
        // The largest second that fits a clock in nanoseconds.
        let last_second = u64::MAX / Nanos::SECOND.0;
        let end = first.checked_add(cells.len() as u64).and_then(|end| end.checked_mul(step_s));
        let possible = end.is_some_and(|end| end.saturating_sub(step_s) <= last_second);
        if !step_s.is_power_of_two() || cells.len() > MOST_CELLS || !possible {
            return Err(de::Error::custom(format!(
                "not a series: step of {step_s} s, {} cells from {first} (at most {MOST_CELLS}, step a power of two)",
                cells.len()
            )));
        }
        Ok(Series { step_s, first, cells })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(seconds: &[u64]) -> Series<u64> {
        let mut series = Series::new();
        for &s in seconds {
            *series.at(Nanos(s * Nanos::SECOND.0 + 999_999_999)) += 1;
        }
        series
    }

    fn rows(series: &Series<u64>) -> Vec<(u64, u64)> {
        series.cells().map(|(t, n)| (t.0 / Nanos::SECOND.0, *n)).collect()
    }

    #[test]
    fn grows_both_ways_and_fills_gaps() {
        assert_eq!(rows(&of(&[7, 5, 5, 8])), [(5, 2), (6, 0), (7, 1), (8, 1)]);
        assert_eq!(of(&[7]).step(), Nanos::SECOND);
        assert!(Series::<u64>::new().cells().next().is_none());
    }

    #[test]
    fn halves_the_resolution_when_full() {
        let n = MOST_CELLS as u64;
        let full: Vec<u64> = (3..3 + n).collect();
        assert_eq!((of(&full).step_s, of(&full).cells.len()), (1, MOST_CELLS));
        let more: Vec<u64> = (3..4 + n).collect();
        let series = of(&more);
        assert_eq!(series.step(), Nanos(2_000_000_000));
        assert_eq!(rows(&series)[..2], [(2, 1), (4, 2)]);
        assert_eq!(rows(&series).iter().map(|r| r.1).sum::<u64>(), n + 1);
    }

    #[test]
    fn a_wild_clock_stays_bounded() {
        let mut series: Series<u64> = Series::new();
        for t in [u64::MAX, 0, u64::MAX / 2] {
            *series.at(Nanos(t)) += 1;
        }
        assert!(series.cells.len() <= MOST_CELLS);
        assert_eq!(series.cells().map(|c| c.1).sum::<u64>(), 3);
    }

    #[test]
    fn impossible_json_is_refused() {
        for json in [
            r#"{"step_s":3,"first":0,"cells":[]}"#,
            r#"{"step_s":0,"first":0,"cells":[1]}"#,
            r#"{"step_s":1,"first":18446744073709551615,"cells":[1,2]}"#,
            r#"{"step_s":9223372036854775808,"first":7,"cells":[1]}"#,
        ] {
            assert!(serde_json::from_str::<Series<u64>>(json).is_err(), "{json}");
        }
        let long = Series { step_s: 1, first: 0, cells: vec![0u64; MOST_CELLS + 1].into() };
        assert!(serde_json::from_str::<Series<u64>>(&serde_json::to_string(&long).unwrap()).is_err());
    }

    fn seconds() -> impl Strategy<Value = Vec<u64>> {
        (0u64..100_000, 1u64..40_000)
            .prop_flat_map(|(from, len)| prop::collection::vec(from..from + len, 0..60))
    }

    proptest! {
        #[test]
        fn merging_is_exact(a in seconds(), b in seconds()) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            prop_assert_eq!(merged, of(&[a, b].concat()));
        }

        #[test]
        fn order_does_not_matter_and_nothing_is_lost(mut a in seconds()) {
            let series = of(&a);
            a.reverse();
            prop_assert_eq!(&series, &of(&a));
            for (start, count) in rows(&series) {
                let end = start + series.step_s;
                prop_assert_eq!(count, a.iter().filter(|s| (start..end).contains(s)).count() as u64);
            }
            prop_assert_eq!(rows(&series).iter().map(|r| r.1).sum::<u64>(), a.len() as u64);
        }

        #[test]
        fn json_round_trips(a in seconds()) {
            let series = of(&a);
            let json = serde_json::to_string(&series).unwrap();
            prop_assert_eq!(serde_json::from_str::<Series<u64>>(&json).unwrap(), series);
        }
    }
}
