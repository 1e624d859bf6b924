//! A row of columns over time for pictures: like [`Series`](crate::Series), but fine enough for recordings of a second.
//!
//! Columns begin at multiples of the step, counted from the clock's zero. When there would be more than
//! [`MOST_COLUMNS`] (or another limit given by type), neighbours are merged and the step doubles.
//!
//! **Invariant**: the step is the smallest power of two (from [`FINEST`] on) with which the row fits. So it depends on
//! what was counted and not on the order, and merging is exact.

use crate::series::Cell;
use std::collections::VecDeque;
use trace::Nanos;

/// Largest number of columns: as many as a wide screen has pixels, so that a part can still be enlarged.
pub const MOST_COLUMNS: usize = 1024;

/// The finest step as a power of two: 2^16 ns, 66 us. A recording of 67 ms fills the row with these.
pub const FINEST: u32 = 16;

/// A row of columns; see the module's documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns<C, const MOST: usize = MOST_COLUMNS> {
    shift: u32,
    first: u64,
    columns: VecDeque<C>,
}

impl<C, const MOST: usize> Default for Columns<C, MOST> {
    fn default() -> Self {
        Columns { shift: FINEST, first: 0, columns: VecDeque::new() }
    }
}

impl<C: Cell, const MOST: usize> Columns<C, MOST> {
    /// The column that covers `time`, for counting.
    #[inline]
    pub fn at(&mut self, time: Nanos) -> &mut C {
        let at = (time.0 >> self.shift).wrapping_sub(self.first) as usize;
        if at < self.columns.len() {
            return &mut self.columns[at];
        }
        self.cover(time, time);
        &mut self.columns[((time.0 >> self.shift) - self.first) as usize]
    }

    /// Calls `add` for each column between two times, with the length of time within it.
    pub fn over(&mut self, from: Nanos, to: Nanos, mut add: impl FnMut(&mut C, Nanos)) {
        if to <= from {
            return;
        }
        let last = Nanos(to.0 - 1);
        self.at(from);
        self.at(last);
        for column in from.0 >> self.shift..=last.0 >> self.shift {
            let (begin, end) = (column << self.shift, (column << self.shift).saturating_add(1 << self.shift));
            let part = to.0.min(end) - from.0.max(begin);
            add(&mut self.columns[(column - self.first) as usize], Nanos(part));
        }
    }

    /// Adds what `other` counted.
    pub fn merge(&mut self, other: &Self) {
        if other.columns.is_empty() {
            return;
        }
        while self.shift < other.shift {
            self.double();
        }
        let last = other.first + other.columns.len() as u64 - 1;
        self.cover(Nanos(other.first << other.shift), Nanos(last << other.shift));
        for (i, theirs) in other.columns.iter().enumerate() {
            let time = (other.first + i as u64) << other.shift;
            self.columns[((time >> self.shift) - self.first) as usize].merge(theirs);
        }
    }

    /// The same row with columns of at least 2^`shift` ns.
    pub fn with_shift(&self, shift: u32) -> Self {
        let mut coarse = self.clone();
        while coarse.shift < shift.min(u64::BITS - 1) {
            coarse.double();
        }
        coarse
    }

    /// The step as a power of two, in ns.
    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Each column with the time at which it begins, in order and without gaps.
    pub fn iter(&self) -> impl Iterator<Item = (Nanos, &C)> {
        let time = move |i| Nanos((self.first + i as u64) << self.shift);
        self.columns.iter().enumerate().map(move |(i, c)| (time(i), c))
    }

    /// Extends the row to cover both of these times, with larger steps if needed.
    fn cover(&mut self, from: Nanos, to: Nanos) {
        loop {
            let (from, to) = (from.0 >> self.shift, to.0 >> self.shift);
            let (first, last) = match self.columns.len() {
                0 => (from, to),
                n => (from.min(self.first), to.max(self.first + n as u64 - 1)),
            };
            if last - first < MOST as u64 {
                if !self.columns.is_empty() {
                    (first..self.first).for_each(|_| self.columns.push_front(C::default()));
                }
                self.first = first;
                self.columns.resize((last - first + 1) as usize, C::default());
                return;
            }
            self.double();
        }
    }

    fn double(&mut self) {
        self.shift += 1;
        let mut doubled: VecDeque<C> = VecDeque::new();
        for (i, column) in self.columns.drain(..).enumerate() {
            match doubled.back_mut() {
                Some(pair) if (self.first + i as u64) % 2 == 1 => pair.merge(&column),
                _ => doubled.push_back(column),
            }
        }
        self.first /= 2;
        self.columns = doubled;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(times: &[u64]) -> Columns<u64> {
        let mut row = Columns::default();
        times.iter().for_each(|t| *row.at(Nanos(*t)) += 1);
        row
    }

    fn times() -> impl Strategy<Value = Vec<u64>> {
        (0u32..60, any::<u32>()).prop_flat_map(|(shift, from)| {
            prop::collection::vec(0u64..1 << shift, 0..50)
                .prop_map(move |v| v.into_iter().map(|t| t.saturating_add(u64::from(from))).collect())
        })
    }

    proptest! {
        #[test]
        fn merging_is_exact_and_nothing_is_lost(a in times(), b in times()) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            let mut all = [a, b].concat();
            prop_assert_eq!(&merged, &of(&all));
            all.reverse();
            prop_assert_eq!(&merged, &of(&all));
            prop_assert!(merged.len() <= MOST_COLUMNS);
            prop_assert_eq!(merged.iter().map(|c| *c.1).sum::<u64>(), all.len() as u64);
        }

        #[test]
        fn a_stretch_of_time_is_all_there(from in any::<u64>(), length in 0u64..1 << 50, again in any::<u32>()) {
            let mut row: Columns<u64> = Columns::default();
            let to = from.saturating_add(length);
            row.over(Nanos(from), Nanos(to), |c, part| *c += part.0);
            row.at(Nanos(u64::from(again)));
            prop_assert_eq!(row.iter().map(|c| *c.1).sum::<u64>(), to - from);
        }
    }

    #[test]
    fn a_row_may_be_shorter() {
        let mut row: Columns<u64, 4> = Columns::default();
        (0..9).for_each(|n| *row.at(Nanos(n << FINEST)) += 1);
        assert_eq!((row.len(), row.shift()), (3, FINEST + 2));
        assert_eq!(row.iter().map(|c| *c.1).collect::<Vec<_>>(), [4, 4, 1]);
    }

    #[test]
    fn a_wild_clock_stays_bounded() {
        let row = of(&[u64::MAX, 0, u64::MAX / 2]);
        assert!(row.len() <= MOST_COLUMNS);
        assert_eq!(row.iter().map(|c| *c.1).sum::<u64>(), 3);
    }
}
