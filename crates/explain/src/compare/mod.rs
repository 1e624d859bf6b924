//! Whether it got better: two recordings, or two runs of texts, side by side.
//!
//! What is unlike about settings and load comes first, since then the rest compares two things. Then each
//! percentile with its ratio and, where latencies were recorded one by one, the range in which the ratio lies
//! with 95 % certainty ([`stats::Estimate`]). A ratio whose range holds 1 is *no difference shown*, never
//! "the same". Of summaries, as fio prints them, there is no range, and that is said.

mod blamed;
mod condition;
mod kinds;
mod metrics;
mod mixed;
mod moved;
mod pair;
mod recordings;
#[cfg(test)]
mod tests;
mod texts;
mod verdict;

pub use blamed::Blamed;
pub use condition::{Condition, Untried};
pub use mixed::First;
pub use moved::Moved;
pub use texts::{choose, RunOf};
pub use verdict::{span, times, Outcome};

use evidence::Conflict;
use stats::Range;
use tooltext::Unit;

/// Two sides, compared.
#[derive(Debug, Default)]
pub struct Comparison {
    /// What the sides are called.
    pub names: [String; 2],
    /// Settings that differ.
    pub settings: Vec<Conflict>,
    /// Differences in what was asked for, and remarks on them.
    pub load: Vec<Difference>,
    /// The numbers of each kind of operation that both sides have.
    pub rows: Vec<Row>,
    /// The kinds that only one of two recordings has, before and after: what the other would have is 0.
    pub only: [Vec<Row>; 2],
    /// What tasks waited for most on one side, if the other has none of that kind: the kinds that both have say little then.
    pub elsewhere: Option<String>,
    /// Where the time of the slowest went.
    pub tails: Vec<Tails>,
    /// The culprits of operations' lost time; empty of texts.
    pub blamed: Vec<Blamed>,
    /// Whether one side has whole operations, and the other the bios below them.
    pub levels_differ: bool,
    /// What else must be known to trust it.
    pub notes: Vec<String>,
}

/// A difference of the load.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// In words.
    pub text: String,
    /// Whether the two loads are unlike because of it.
    pub unlike: bool,
}

/// One kind of operation on both sides.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Its name in a condition: `read`.
    pub op: String,
    /// Its name in a sentence: `reads on vda`.
    pub what: String,
    /// How much it matters: the time of its slowest, or how early it stands in a text.
    pub weight: f64,
    /// Whether a task waits for it.
    pub counts: bool,
    /// How many the side with fewer has, of recordings.
    pub least: Option<u64>,
    /// How much of its time was won and lost, of recordings.
    pub moved: Option<Moved>,
    /// Its numbers.
    pub metrics: Vec<Metric>,
}

/// One number on both sides.
#[derive(Clone, Debug)]
pub struct Metric {
    /// `p99`, `d2c.p99`, `mean`, `lost` (the time that all of them lost), `iops`; `slow` and `outliers` are shares of operations that took at least `threshold`.
    pub name: String,
    /// Of `slow`: the lower p99 of the two sides, in nanoseconds; of `outliers`: twice that.
    pub threshold: Option<u64>,
    /// The unit of both.
    pub unit: Unit,
    /// Before and after.
    pub values: [f64; 2],
    /// Where before, after and their ratio lie.
    pub ranges: Option<Ranges>,
    /// Why there is no range; nothing where there never is one, of summaries.
    pub no_range: &'static str,
}

/// Where a number lies.
#[derive(Clone, Copy, Debug)]
pub struct Ranges {
    /// Before.
    pub before: Range,
    /// After.
    pub after: Range,
    /// The ratio; its upper end is infinite where there was nothing before.
    pub ratio: Range,
    /// The ratio with 99 % certainty.
    pub ratio_99: Range,
    /// Blocks that were drawn from, on each side, and the values in each.
    pub blocks: [(usize, u64); 2],
}

/// Where the time of the slowest of one kind went, on both sides.
#[derive(Clone, Debug)]
pub struct Tails {
    /// Of what.
    pub what: String,
    /// How many, before and after.
    pub operations: [u64; 2],
    /// By reason: its name, its words, the mean nanoseconds of each operation before and after.
    pub reasons: Vec<(&'static str, &'static str, [f64; 2])>,
}

impl Metric {
    /// How many times as much it is after. `None` if it was nothing before.
    pub fn ratio(&self) -> Option<f64> {
        let [before, after] = self.values;
        (before > 0.0).then(|| after / before)
    }

    /// Whether more of it is better, `None` if it is neither.
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
    /// A number of it.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|m| m.name == name)
    }
}

impl Comparison {
    /// Whether the loads differ.
    pub fn is_unlike(&self) -> bool {
        self.load.iter().any(|d| d.unlike)
    }
}
