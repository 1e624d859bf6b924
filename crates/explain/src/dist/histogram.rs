//! Histograms by powers of two, like those of bcc's tools (`print_log2_hist`, src/python/bcc/table.py).

use serde::Serialize;
use trace::Nanos;

/// The unit of a histogram's steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Unit {
    /// Microseconds.
    #[default]
    #[serde(rename = "usecs")]
    Micros,
    /// Milliseconds.
    #[serde(rename = "msecs")]
    Millis,
}

impl Unit {
    /// The unit's name in bcc: `usecs` or `msecs`.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Micros => "usecs",
            Unit::Millis => "msecs",
        }
    }

    fn of(self, t: Nanos) -> u64 {
        match self {
            Unit::Micros => t.0 / 1_000,
            Unit::Millis => t.0 / 1_000_000,
        }
    }
}

/// Number of times per power of two. Step 0 holds 0 and 1; step n holds 2^n to 2^(n+1) - 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// The unit of the steps.
    pub unit: Unit,
    counts: [u64; 64],
}

/// One step of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// Lower bound, in the histogram's unit.
    pub from: u64,
    /// Upper bound (inclusive), in the histogram's unit.
    pub to: u64,
    /// Number of times within the bounds.
    pub count: u64,
}

impl Histogram {
    /// An empty histogram.
    pub fn new(unit: Unit) -> Histogram {
        Histogram { unit, counts: [0; 64] }
    }

    /// Counts a time, rounded down to the unit, as bcc does.
    pub fn record(&mut self, t: Nanos) {
        self.counts[self.unit.of(t).max(1).ilog2() as usize] += 1;
    }

    /// Adds a histogram of the same unit.
    pub fn merge(&mut self, other: &Histogram) {
        self.counts.iter_mut().zip(other.counts).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// The rows from step 0 to the last step that is not empty.
    pub fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let steps = self.counts.iter().rposition(|n| *n > 0).map_or(0, |last| last + 1);
        self.counts[..steps].iter().enumerate().map(|(step, count)| Row {
            from: if step == 0 { 0 } else { 1 << step },
            to: (1u64 << step).wrapping_mul(2).wrapping_sub(1),
            count: *count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_called_as_json_has_them() {
        for unit in [Unit::Micros, Unit::Millis] {
            assert_eq!(serde_json::to_value(unit).unwrap(), unit.name());
        }
    }

    #[test]
    fn of_two_merged_each_row_is_the_sum() {
        let of = |all: &[u64]| {
            let mut h = Histogram::new(Unit::Micros);
            all.iter().for_each(|us| h.record(Nanos(us * 1000)));
            h
        };
        let mut sum = of(&[0, 3, 3, 100]);
        sum.merge(&of(&[1, 2, 9]));
        assert_eq!(sum, of(&[0, 3, 3, 100, 1, 2, 9]));
        let rows: Vec<_> = sum.rows().map(|r| (r.from, r.to, r.count)).collect();
        assert_eq!(rows[..4], [(0, 1, 2), (2, 3, 3), (4, 7, 0), (8, 15, 1)]);
        assert_eq!(rows.last(), Some(&(64, 127, 1)));
    }

    #[test]
    fn the_longest_times_have_their_rows() {
        let mut h = Histogram::new(Unit::Micros);
        h.record(Nanos(u64::MAX));
        let last = h.rows().last().unwrap();
        assert_eq!(last, Row { from: 1 << 54, to: (1 << 55) - 1, count: 1 });
        let mut ms = Histogram::new(Unit::Millis);
        ms.record(Nanos(u64::MAX));
        assert!(ms.rows().count() > 32);
    }
}
