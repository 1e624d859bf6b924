//! Distributions as JSON, schema `iowhy.dist/1`.

use explain::dist::{Dist, Groups, Layer, Row, Unit, Where};
use explain::Places;
use serde::Serialize;
use stats::Summary;
use trace::{DevId, Nanos};

/// How long operations took, by file system. Times are in nanoseconds except for the bounds of histograms.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Distributions {
    /// The name of this schema.
    schema: &'static str,
    /// The unit of the histograms' bounds.
    unit: Unit,
    /// By file system, device and operation.
    operations: Vec<Operations>,
    /// Layer by layer, from the operation to the device.
    layers: Vec<Layers>,
    /// Operations of further file systems, of which there were too many.
    left_out: u64,
    /// With --interval: the same of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<Vec<Interval>>,
}

/// Operations of one kind on one file system.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Operations {
    /// The kind of file system.
    filesystem: &'static str,
    /// Its device; null where that is not known.
    device: Option<String>,
    /// Where it is mounted; null where that is not known.
    mount: Option<String>,
    /// The operation.
    op: &'static str,
    /// The number of values.
    count: u64,
    /// How many failed.
    errors: u64,
    /// How many waited for no I/O.
    without_io: u64,
    /// How long they took, in nanoseconds.
    latency_ns: Summary,
    /// By doubling bounds.
    histogram: Vec<Row>,
}

/// The layers below a file system.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Layers {
    /// The kind of file system.
    filesystem: &'static str,
    /// Its device; null where that is not known.
    device: Option<String>,
    /// The layers, from above.
    layers: Vec<OfLayer>,
}

/// What one layer had of one kind of operation.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct OfLayer {
    /// `operation`, `bio` or `request`.
    layer: &'static str,
    /// Of which operations.
    of: &'static str,
    /// The same in words.
    words: String,
    /// The number of values.
    count: u64,
    /// Of operations: how many waited for no I/O.
    without_io: Option<u64>,
    /// How long they took, in nanoseconds.
    latency_ns: Summary,
}

/// A stretch of the recording.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Interval {
    /// When it begins, in nanoseconds since the first event.
    from_ns: Nanos,
    /// When it ends.
    to_ns: Nanos,
    /// By file system, device and operation.
    operations: Vec<Operations>,
}

/// The whole object.
pub fn json(dist: &Dist, places: &Places) -> Distributions {
    let whole = dist.whole();
    let layers = |((fs, dev), kinds): (&Where, &_)| Layers {
        filesystem: fs.name(),
        device: device(*dev, places),
        layers: dist.layers((*fs, *dev), kinds).into_iter().map(layer).collect(),
    };
    let intervals = |length: Nanos| {
        let one = |(from_ns, groups): (Nanos, &Groups)| Interval {
            from_ns,
            to_ns: from_ns + length,
            operations: operations(groups, places),
        };
        dist.intervals().map(one).collect()
    };
    Distributions {
        schema: "iowhy.dist/1",
        unit: dist.question.unit,
        operations: operations(&whole, places),
        layers: whole.iter().map(layers).collect(),
        left_out: dist.left_out,
        intervals: dist.question.interval.map(intervals),
    }
}

fn operations(groups: &Groups, places: &Places) -> Vec<Operations> {
    let all = groups.iter().flat_map(|(place, kinds)| kinds.iter().map(move |(kind, t)| (place, kind, t)));
    let one = |((fs, dev), kind, t): (&Where, &explain::dist::Ranked, &explain::dist::Times)| Operations {
        filesystem: fs.name(),
        device: device(*dev, places),
        mount: places.mount(*dev).map(|m| m.0.to_string()),
        op: kind.1.name(),
        count: t.latency.count(),
        errors: t.errors,
        without_io: t.without_io,
        latency_ns: t.latency.summary(),
        histogram: t.histogram.rows().collect(),
    };
    all.map(one).collect()
}

fn layer(r: Layer) -> OfLayer {
    OfLayer {
        layer: r.layer,
        of: r.family.words(),
        count: r.times.count(),
        without_io: (r.layer == "operation").then_some(r.without_io),
        latency_ns: r.times.summary(),
        words: r.words,
    }
}

fn device(dev: DevId, places: &Places) -> Option<String> {
    (dev != DevId(0)).then(|| places.device(dev))
}
