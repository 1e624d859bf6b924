//! `dist --json`, schema `iowhy.dist/1`: distributions of latencies.

use explain::dist::{Dist, Groups, Layer, Row, Unit, Where};
use explain::Places;
use serde::Serialize;
use stats::Summary;
use trace::{DevId, Nanos};

/// Distributions of latencies by file system. Times are in nanoseconds except for the bounds of histograms.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Distributions {
    /// The name of this schema.
    schema: &'static str,
    /// The unit of the histograms' bounds.
    unit: Unit,
    /// One entry per file system, device and kind of operation.
    operations: Vec<Operations>,
    /// Latencies layer by layer, from the operation to the device.
    layers: Vec<Layers>,
    /// Number of operations on further file systems, which are not counted because there were too many.
    left_out: u64,
    /// With --interval: `operations` of each interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<Vec<Interval>>,
}

/// Operations of one kind on one file system.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Operations {
    /// The type of the file system, such as `ext4`.
    filesystem: &'static str,
    /// Its device; null if unknown.
    device: Option<String>,
    /// Its mount point; null if unknown.
    mount: Option<String>,
    /// The kind of operation, such as `fsync`.
    op: &'static str,
    /// Number of operations.
    count: u64,
    /// Number of operations that failed.
    errors: u64,
    /// Number of operations that waited for no I/O.
    without_io: u64,
    /// Their latencies, in nanoseconds.
    latency_ns: Summary,
    /// Their number by latency; bounds are powers of two of `unit`.
    histogram: Vec<Row>,
}

/// The layers below a file system.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Layers {
    /// The type of the file system, such as `ext4`.
    filesystem: &'static str,
    /// Its device; null if unknown.
    device: Option<String>,
    /// The layers, from the operation down to the device.
    layers: Vec<OfLayer>,
}

/// Latencies of one family of operations in one layer.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct OfLayer {
    /// `operation`, `bio` or `request`.
    layer: &'static str,
    /// The family of operations: reads, writes or syncs.
    of: &'static str,
    /// The row's name on the screen.
    words: String,
    /// Number of operations, bios or requests.
    count: u64,
    /// For operations: how many waited for no I/O; else null.
    without_io: Option<u64>,
    /// Latencies in this layer, in nanoseconds.
    latency_ns: Summary,
}

/// An interval of the recording.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Interval {
    /// Its start, in nanoseconds since the first event.
    from_ns: Nanos,
    /// Its end, in nanoseconds since the first event.
    to_ns: Nanos,
    /// One entry per file system, device and kind of operation.
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
