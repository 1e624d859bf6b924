//! `compare --json`, schema `iowhy.compare/1`: names once shipped do not change, fields may be added.

use evidence::{At, Conflict};
use explain::compare::{self, Difference, Outcome, Tails};
use serde::Serialize;
use stats::Range;
use tooltext::Unit;

/// Two recordings or runs, side by side.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison<'a> {
    /// The name of this schema.
    schema: &'static str,
    /// What the first side is called.
    before: &'a str,
    /// What the second is called.
    after: &'a str,
    /// The verdict.
    verdict: Outcome,
    /// Whether chance is an unlikely explanation; null for summaries.
    sure: Option<bool>,
    /// The same in a sentence.
    sentence: String,
    /// Whether the loads differ.
    unlike: bool,
    /// Differences of the load.
    load: Vec<Load<'a>>,
    /// Settings that differ.
    settings: Vec<Setting<'a>>,
    /// Numbers of each kind that both sides have.
    operations: Vec<Operations<'a>>,
    /// Where the time of the slowest went.
    tails: Vec<Tail<'a>>,
    /// The culprits of operations' lost time; empty of texts.
    blame: Vec<Blame<'a>>,
    /// What else must be known to trust it, a sentence each.
    notes: &'a [String],
}

/// A difference of the load.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Load<'a> {
    /// The load in words.
    what: &'a str,
    /// Whether it makes the loads differ.
    unlike: bool,
}

/// A setting that differs.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Setting<'a> {
    /// What was set.
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

/// One kind of operation.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Operations<'a> {
    /// Its name in --fail-if.
    op: &'a str,
    /// Its name in words.
    what: &'a str,
    /// Whether a task waits for it.
    waited_for: bool,
    /// Its numbers.
    metrics: Vec<Metric<'a>>,
}

/// A number on both sides.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Metric<'a> {
    /// Its name: p99, d2c.p99, iops, slow and outliers (the share that took at least threshold_ns), ...
    name: &'a str,
    /// Of slow: the lower p99 of the two sides; of outliers: twice that.
    threshold_ns: Option<u64>,
    /// Its unit.
    unit: Unit,
    /// Its value before.
    before: f64,
    /// Its value after.
    after: f64,
    /// After divided by before; null where that is 0.
    ratio: Option<f64>,
    /// Whether the metric differs.
    outcome: Outcome,
    /// Where it lies with 95 % certainty; null where that is not known.
    range_95: Option<Ranges>,
    /// Why there is no range; null where there is one.
    no_range_why: Option<&'a str>,
}

/// Where a number lies with 95 % certainty, each from and to.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Ranges {
    /// Before.
    before: [f64; 2],
    /// After.
    after: [f64; 2],
    /// The ratio; to is null where it has no upper end, since there were none before.
    ratio: [Option<f64>; 2],
    /// What the ranges were drawn from.
    drawn_from: Sides<Blocks>,
}

/// What a range was drawn from.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Blocks {
    /// Blocks of consecutive operations.
    blocks: usize,
    /// Operations in each.
    length: u64,
}

/// The same on both sides.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Sides_of_{T}"))]
struct Sides<T> {
    /// Before.
    before: T,
    /// After.
    after: T,
}

/// Where the time of the slowest of one kind went.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Tail<'a> {
    /// Its name.
    what: &'a str,
    /// How many are among the slowest.
    operations: Sides<u64>,
    /// Their time by reason.
    by_reason: Vec<ByReason>,
}

/// A reason.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ByReason {
    /// The name of the reason.
    reason: &'static str,
    /// The reason in words.
    words: &'static str,
    /// Of each operation, in nanoseconds.
    mean_ns: Sides<f64>,
}

/// A victim that both sides have.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Blame<'a> {
    /// The victim's name.
    victim: &'a str,
    /// How many operations.
    operations: Sides<u64>,
    /// The mean time lost by each operation, in nanoseconds.
    lost_ns: Sides<f64>,
    /// The same by culprit.
    because: Vec<Because<'a>>,
}

/// The culprits of a victim's lost time.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Because<'a> {
    /// Who, and by which I/O.
    culprit: &'a str,
    /// What each operation lost because of it on average, in nanoseconds.
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

/// What each operation of a victim lost on average, because of whom.
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
