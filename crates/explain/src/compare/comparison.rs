//! What a comparison found: settings and load that differ, and the numbers of each kind of operation on both sides.

use super::blamed::Blamed;
use super::moved::Moved;
use evidence::Conflict;
use stats::Range;
use tooltext::Unit;

/// A comparison of two sides, before and after.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Names of the sides.
    pub names: [String; 2],
    /// Settings that differ.
    pub settings: Vec<Conflict>,
    /// Differences of the load, and remarks on them.
    pub load: Vec<Difference>,
    /// The numbers of each kind of operation that both sides have.
    pub rows: Vec<Row>,
    /// Kinds that only one of two recordings has, before and after; the numbers of the other side are 0.
    pub only: [Vec<Row>; 2],
    /// The kind that tasks on one side waited for most, if the other side has none of it: then the common kinds say little.
    pub elsewhere: Option<String>,
    /// Where the slowest operations spent their time, by kind.
    pub tails: Vec<Tails>,
    /// The culprits of operations' lost time; empty for texts.
    pub blamed: Vec<Blamed>,
    /// Whether one side has whole operations and the other the bios below them.
    pub levels_differ: bool,
    /// Notes on how far to trust the comparison.
    pub notes: Vec<String>,
}

/// A difference of the load.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// A clause for the screen.
    pub text: String,
    /// Whether it makes the two loads incomparable.
    pub unlike: bool,
}

/// One kind of operation on both sides.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Its name in a condition. Example: `read`.
    pub op: String,
    /// Its name in a sentence. Example: `reads on vda`.
    pub what: String,
    /// Its weight: the time of its slowest operations in nanoseconds; for texts 1 / (1 + position).
    pub weight: f64,
    /// Whether a task waits for it.
    pub counts: bool,
    /// Number of operations on the side with fewer; `None` for summaries.
    pub least: Option<u64>,
    /// How much of its time was gained and lost; `None` for summaries.
    pub moved: Option<Moved>,
    /// Its numbers.
    pub metrics: Vec<Metric>,
}

/// One number on both sides.
#[derive(Clone, Debug)]
pub struct Metric {
    /// `p99`, `d2c.p99`, `mean`, `lost` (the lost time of all), `iops`. `slow`, `outliers`: share of operations that took `threshold` or longer.
    pub name: String,
    /// For `slow`: the lower p99 of the two sides, in nanoseconds; for `outliers`: twice that. Else `None`.
    pub threshold: Option<u64>,
    /// The unit of both values.
    pub unit: Unit,
    /// The values before and after.
    pub values: [f64; 2],
    /// The ranges of before, after and their ratio.
    pub ranges: Option<Ranges>,
    /// Why there is no range; empty for summaries, which never have one.
    pub no_range: &'static str,
}

/// The ranges of a number and its ratio.
#[derive(Clone, Copy, Debug)]
pub struct Ranges {
    /// The 95 % range of the value before.
    pub before: Range,
    /// The 95 % range of the value after.
    pub after: Range,
    /// The 95 % range of the ratio; its upper end is infinite if the value before is 0.
    pub ratio: Range,
    /// The 99 % range of the ratio.
    pub ratio_99: Range,
    /// Number of blocks that were resampled on each side, and values per block.
    pub blocks: [(usize, u64); 2],
}

/// Where the slowest operations of one kind spent their time, on both sides.
#[derive(Clone, Debug)]
pub struct Tails {
    /// The kind of operation. Example: `reads on vda`.
    pub what: String,
    /// Number of slowest operations, before and after.
    pub operations: [u64; 2],
    /// By reason: name, words, mean nanoseconds per operation before and after.
    pub reasons: Vec<(&'static str, &'static str, [f64; 2])>,
}

impl Metric {
    /// After divided by before; `None` if before is 0.
    pub fn ratio(&self) -> Option<f64> {
        let [before, after] = self.values;
        (before > 0.0).then(|| after / before)
    }

    /// Whether a larger value is better; `None` if it is neither better nor worse.
    pub fn more_is_better(&self) -> Option<bool> {
        match self.unit {
            Unit::Nanoseconds => Some(false),
            Unit::Share if self.threshold.is_some() => Some(false),
            Unit::PerSecond | Unit::BytesPerSecond => Some(true),
            _ => None,
        }
    }
}

impl Row {
    /// The number with this name.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|m| m.name == name)
    }
}

impl Comparison {
    /// Whether the loads differ so much that the sides are not comparable.
    pub fn is_unlike(&self) -> bool {
        self.load.iter().any(|d| d.unlike)
    }
}
