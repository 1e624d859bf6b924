//! `compare --json`, schema `iowhy.compare/1`: fields that were shipped keep their names, new ones may be added.

use evidence::{At, Conflict};
use explain::compare::{self, Difference, Outcome, Tails};
use serde::Serialize;
use stats::Range;
use tooltext::Unit;

/// A comparison of two recordings or runs.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison<'a> {
    /// The name of this schema.
    schema: &'static str,
    /// The name of the first side.
    before: &'a str,
    /// The name of the second side.
    after: &'a str,
    /// The outcome over all operations that a task waits for.
    verdict: Outcome,
    /// Whether chance is an unlikely explanation; null for summaries.
    sure: Option<bool>,
    /// The verdict in one sentence.
    sentence: String,
    /// Whether the loads differ so much that the sides are not comparable.
    unlike: bool,
    /// Differences between the loads.
    load: Vec<Load<'a>>,
    /// Settings that differ between the sides.
    settings: Vec<Setting<'a>>,
    /// Metrics of each kind of operation that both sides have.
    operations: Vec<Operations<'a>>,
    /// Where the time of the slowest operations went, by kind.
    tails: Vec<Tail<'a>>,
    /// Lost time of operations by culprit; empty for texts.
    blame: Vec<Blame<'a>>,
    /// Remarks on how far the comparison can be trusted, one sentence each.
    notes: &'a [String],
}

/// A difference between the loads.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Load<'a> {
    /// The difference in words.
    what: &'a str,
    /// Whether it makes the sides incomparable.
    unlike: bool,
}

/// A setting that differs between the sides.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Setting<'a> {
    /// The name of the setting.
    what: &'a str,
    /// Its value before.
    before: &'a str,
    /// The source of the value before.
    before_at: &'a At,
    /// Its value after.
    after: &'a str,
    /// The source of the value after.
    after_at: &'a At,
}

/// One kind of operation on both sides.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Operations<'a> {
    /// Its name in --fail-if.
    op: &'a str,
    /// Its name in words.
    what: &'a str,
    /// Whether a task waits for it.
    waited_for: bool,
    /// Its metrics.
    metrics: Vec<Metric<'a>>,
}

/// A metric on both sides.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Metric<'a> {
    /// Its name: p99, d2c.p99, iops, slow and outliers (the share that took at least threshold_ns), ...
    name: &'a str,
    /// For slow: the lower p99 of the two sides; for outliers: twice that; else null.
    threshold_ns: Option<u64>,
    /// The unit of its values.
    unit: Unit,
    /// Its value before.
    before: f64,
    /// Its value after.
    after: f64,
    /// `after` divided by `before`; null if `before` is 0.
    ratio: Option<f64>,
    /// Whether this metric differs, and how.
    outcome: Outcome,
    /// 95 % intervals of the values and their ratio; null if unknown.
    range_95: Option<Ranges>,
    /// Why there is no interval; null if there is one.
    no_range_why: Option<&'a str>,
}

/// 95 % intervals, each with its lower and upper end.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Ranges {
    /// The interval of the value before.
    before: [f64; 2],
    /// The interval of the value after.
    after: [f64; 2],
    /// The interval of the ratio; its upper end is null if it has none, because there were no such operations before.
    ratio: [Option<f64>; 2],
    /// The samples from which the intervals were drawn.
    drawn_from: Sides<Blocks>,
}

/// The sample from which an interval was drawn.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Blocks {
    /// Number of blocks of consecutive operations.
    blocks: usize,
    /// Number of operations in a block.
    length: u64,
}

/// A value of each side.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Sides_of_{T}"))]
struct Sides<T> {
    /// The value of the first side.
    before: T,
    /// The value of the second side.
    after: T,
}

/// Where the time of the slowest operations of one kind went.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Tail<'a> {
    /// The name of the kind.
    what: &'a str,
    /// Number of operations that are among the slowest.
    operations: Sides<u64>,
    /// Their mean time by reason.
    by_reason: Vec<ByReason>,
}

/// The mean time with one reason.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ByReason {
    /// The name of the reason.
    reason: &'static str,
    /// The reason in words.
    words: &'static str,
    /// The mean time of an operation with this reason, in nanoseconds.
    mean_ns: Sides<f64>,
}

/// The lost time of a victim that both sides have.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Blame<'a> {
    /// The victim's name.
    victim: &'a str,
    /// Number of its operations.
    operations: Sides<u64>,
    /// The mean time lost by each operation, in nanoseconds.
    lost_ns: Sides<f64>,
    /// The same by culprit.
    because: Vec<Because<'a>>,
}

/// The time that a victim lost because of one culprit.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Because<'a> {
    /// The culprit and the kind of its I/O.
    culprit: &'a str,
    /// The mean time lost by each operation because of this culprit, in nanoseconds.
    lost_ns: Sides<f64>,
}

impl<T> From<[T; 2]> for Sides<T> {
    fn from([before, after]: [T; 2]) -> Sides<T> {
        Sides { before, after }
    }
}

/// The whole object.
pub fn json(c: &explain::Comparison) -> Comparison<'_> {
    Comparison {
        schema: "iowhy.compare/1",
        before: &c.names[0],
        after: &c.names[1],
        verdict: c.outcome(),
        sure: c.is_sure(),
        sentence: c.verdict(),
        unlike: c.is_unlike(),
        load: c.load.iter().map(|Difference { text, unlike }| Load { what: text, unlike: *unlike }).collect(),
        settings: c.settings.iter().map(setting).collect(),
        operations: c.rows.iter().map(operations).collect(),
        tails: c.tails.iter().map(tail).collect(),
        blame: c.blamed.iter().map(blamed).collect(),
        notes: &c.notes,
    }
}

fn setting(c: &Conflict) -> Setting<'_> {
    Setting {
        what: &c.what,
        before: &c.kept.value,
        before_at: &c.kept.at,
        after: &c.other.value,
        after_at: &c.other.at,
    }
}

fn tail(t: &Tails) -> Tail<'_> {
    let by_reason = t.reasons.iter().map(|(reason, words, means)| ByReason {
        reason,
        words,
        mean_ns: means.map(f64::round).into(),
    });
    Tail { what: &t.what, operations: t.operations.into(), by_reason: by_reason.collect() }
}

/// The mean lost time of a victim's operations, in all and by culprit, rounded to nanoseconds.
fn blamed(b: &compare::Blamed) -> Blame<'_> {
    let each = |times: [f64; 2]| times.map(f64::round).into();
    let because = b.because.iter().map(|(culprit, ns)| Because { culprit, lost_ns: each(*ns) });
    Blame {
        victim: &b.victim,
        operations: b.operations.into(),
        lost_ns: each(b.lost),
        because: because.collect(),
    }
}

fn operations(r: &compare::Row) -> Operations<'_> {
    Operations {
        op: &r.op,
        what: &r.what,
        waited_for: r.counts,
        metrics: r.metrics.iter().map(metric).collect(),
    }
}

fn metric(m: &compare::Metric) -> Metric<'_> {
    Metric {
        name: &m.name,
        threshold_ns: m.threshold,
        unit: m.unit,
        before: m.values[0],
        after: m.values[1],
        ratio: m.ratio(),
        outcome: m.outcome(),
        range_95: m.ranges.map(ranges),
        no_range_why: m.ranges.is_none().then_some(match m.no_range {
            "" => "no interval possible from a summary",
            why => why,
        }),
    }
}

fn ranges(r: compare::Ranges) -> Ranges {
    let range = |r: Range| [r.from, r.to];
    let drawn_from = r.blocks.map(|(blocks, length)| Blocks { blocks, length }).into();
    let ratio = range(r.ratio).map(|end| end.is_finite().then_some(end));
    Ranges { before: range(r.before), after: range(r.after), ratio, drawn_from }
}
