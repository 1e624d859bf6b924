//! Accesses over time and place: requests on a grid of time and sector, by task and direction.
//!
//! Both steps are powers of two and double when the grid gets too wide or too high. **Invariant**: each step is the
//! smallest with which everything fits, so it depends on what was counted and not on the order.

use rustc_hash::FxHashMap;
use trace::{Nanos, Sector};

/// Largest number of columns (time) and rows (place).
pub const EXTENT_GRID: (u64, u64) = (512, 256);
/// Largest number of cells kept by task. In a fuller grid, cells of further tasks are merged under task 0.
const MOST_CELLS: usize = 300_000;

/// Task and direction of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Who {
    /// A number of [`Tasks`](crate::Tasks).
    pub task: u32,
    /// Whether they are writes or discards.
    pub writes: bool,
}

/// The grid, with the number of requests in each cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extents {
    time: Axis,
    place: Axis,
    cells: FxHashMap<(u64, u64, Who), u32>,
}

/// One axis of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The step as a power of two, in ns or sectors.
    pub shift: u32,
    /// The first and the last step that has requests, counted from zero.
    pub span: Option<(u64, u64)>,
}

impl Axis {
    /// Extends the axis to a value. Returns by how many powers of two the step grew.
    fn take(&mut self, value: u64, most: u64) -> u32 {
        let mut grown = 0;
        loop {
            let step = value >> self.shift;
            let (first, last) = self.span.map_or((step, step), |(a, b)| (a.min(step), b.max(step)));
            if last - first < most {
                self.span = Some((first, last));
                return grown;
            }
            self.shift += 1;
            self.span = self.span.map(|(a, b)| (a / 2, b / 2));
            grown += 1;
        }
    }
}

impl Default for Extents {
    fn default() -> Extents {
        // The finest steps: 66 us and 4 KiB.
        let (time, place) = (Axis { shift: 16, span: None }, Axis { shift: 3, span: None });
        Extents { time, place, cells: FxHashMap::default() }
    }
}

impl Extents {
    /// Counts a request completed at `at`.
    pub fn record(&mut self, at: Nanos, start: Sector, who: Who) {
        let columns = self.time.take(at.0, EXTENT_GRID.0);
        let rows = self.place.take(start.0, EXTENT_GRID.1);
        if columns + rows > 0 {
            self.coarsen(columns, rows);
        }
        self.add((at.0 >> self.time.shift, start.0 >> self.place.shift, who), 1);
    }

    /// Adds the counts of `other`. Both must use the same task numbers.
    pub fn merge(&mut self, other: &Extents) {
        let ends = |axis: &Axis| axis.span.map(|(a, b)| (a << axis.shift, b << axis.shift));
        let (Some(times), Some(places)) = (ends(&other.time), ends(&other.place)) else { return };
        let columns = other.time.shift.saturating_sub(self.time.shift);
        let rows = other.place.shift.saturating_sub(self.place.shift);
        self.time = grown(self.time, columns);
        self.place = grown(self.place, rows);
        let columns =
            columns + [times.0, times.1].map(|t| self.time.take(t, EXTENT_GRID.0)).iter().sum::<u32>();
        let rows = rows + [places.0, places.1].map(|p| self.place.take(p, EXTENT_GRID.1)).iter().sum::<u32>();
        self.coarsen(columns, rows);
        for ((column, row, who), n) in &other.cells {
            let (by, down) = (self.time.shift - other.time.shift, self.place.shift - other.place.shift);
            self.add((column >> by, row >> down, *who), *n);
        }
    }

    /// The same grid, coarser by these powers of two.
    pub fn coarser(&self, columns: u32, rows: u32) -> Extents {
        let mut coarse = self.clone();
        coarse.time = grown(coarse.time, columns);
        coarse.place = grown(coarse.place, rows);
        coarse.coarsen(columns, rows);
        coarse
    }

    /// The axes of time and place.
    pub fn axes(&self) -> (Axis, Axis) {
        (self.time, self.place)
    }

    /// Number of cells with requests.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Cells in order: column, row, task and direction, number of requests.
    pub fn cells(&self) -> Vec<(u64, u64, Who, u32)> {
        let mut all: Vec<_> = self.cells.iter().map(|((c, r, who), n)| (*c, *r, *who, *n)).collect();
        all.sort_unstable();
        all
    }

    fn add(&mut self, mut key: (u64, u64, Who), n: u32) {
        if self.cells.len() >= MOST_CELLS && !self.cells.contains_key(&key) {
            key.2.task = crate::tasks::OTHERS;
        }
        let cell = self.cells.entry(key).or_default();
        *cell = cell.saturating_add(n);
    }

    fn coarsen(&mut self, columns: u32, rows: u32) {
        for ((column, row, who), n) in std::mem::take(&mut self.cells) {
            let shifted = |v: u64, by: u32| v.checked_shr(by).unwrap_or(0);
            self.add((shifted(column, columns), shifted(row, rows), who), n);
        }
    }
}

fn grown(axis: Axis, by: u32) -> Axis {
    let down = |v: u64| v.checked_shr(by).unwrap_or(0);
    Axis { shift: (axis.shift + by).min(u64::BITS - 1), span: axis.span.map(|(a, b)| (down(a), down(b))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Writes = Vec<(u64, u64, u32, bool)>;

    fn of(told: &Writes) -> Extents {
        let mut e = Extents::default();
        told.iter().for_each(|(t, s, task, writes)| {
            e.record(Nanos(*t), Sector(*s), Who { task: *task, writes: *writes })
        });
        e
    }

    fn told() -> impl Strategy<Value = Writes> {
        (0u32..64, 0u32..64).prop_flat_map(|(time, place)| {
            let below = |bits: u32| 0..=u64::MAX >> (63 - bits);
            prop::collection::vec((below(time), below(place), 0u32..3, any::<bool>()), 0..40)
        })
    }

    proptest! {
        #[test]
        fn merging_is_exact(a in told(), b in told()) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            let all = [a, b].concat();
            prop_assert_eq!(&merged, &of(&all));
            prop_assert_eq!(merged.cells().iter().map(|c| c.3 as usize).sum::<usize>(), all.len());
        }
    }
}
