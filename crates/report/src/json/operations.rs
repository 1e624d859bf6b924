//! Operations in JSON, by kind and place: how many, and their latencies.

use explain::Explanation;
use life::{Class, Op};
use serde::Serialize;
use stats::{class_op, Device, Distribution, OpKey, OpStats};
use std::collections::BTreeMap;
use trace::DevId;

/// Operations of one kind in one place.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Operations {
    /// The kind of thing that `name` names.
    pub scope: Scope,
    /// The name of a device, a type of file system, or a job of fio.
    pub name: String,
    /// For a file system: its device; null if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<Option<String>>,
    /// The operation: read, write, fsync, ...
    pub op: String,
    /// What is counted: requests, bios, or operations of tasks.
    pub level: Level,
    #[serde(flatten)]
    pub numbers: Numbers,
    /// The same by class, if there is more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_class: Option<BTreeMap<Class, Numbers>>,
    #[serde(flatten)]
    pub told: Option<TextSource>,
}

/// The kind of thing that a name names.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    /// A block device.
    Device,
    /// A type of file system.
    Filesystem,
    /// A task: a job of fio.
    Task,
}

/// What is counted or described.
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// Requests to a device.
    Request,
    /// Bios: what a file system or a stacked device asks for.
    Bio,
    /// Operations of tasks: system calls, page faults, commits.
    Operation,
}

/// Counts and latencies of operations of one kind.
#[derive(Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Numbers {
    /// The number of operations; for texts null if the tool did not print it.
    pub count: Option<u64>,
    /// Bytes moved; for texts null if the tool did not print it.
    pub bytes: Option<u64>,
    /// Number of bios that were merged into other requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merges: Option<u64>,
    /// How many times the driver requeued a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requeues: Option<u64>,
    /// Number of operations that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<u64>,
    /// Their latencies, in nanoseconds.
    pub latency_ns: Latency,
    /// Their latencies by phase.
    pub phases: Phases,
}

/// Latencies in nanoseconds; for texts null if the tool did not print it.
#[derive(Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Latency {
    /// The shortest latency.
    pub min: Option<u64>,
    /// The mean.
    pub mean: Option<u64>,
    /// The median.
    pub p50: Option<u64>,
    /// The 90th percentile.
    pub p90: Option<u64>,
    /// The 99th percentile.
    pub p99: Option<u64>,
    /// The 99.9th percentile.
    pub p999: Option<u64>,
    /// The longest latency.
    pub max: Option<u64>,
    /// The number of latencies; absent for texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// Latencies by phase of a bio or request; empty for operations and texts.
#[derive(Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Phases {
    /// From queue to request: waiting for a tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    q2g: Option<Latency>,
    /// From request to insertion.
    #[serde(skip_serializing_if = "Option::is_none")]
    g2i: Option<Latency>,
    /// From insertion to issue: in the scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    i2d: Option<Latency>,
    /// From issue to completion: in the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    d2c: Option<Latency>,
    /// From queue to completion.
    #[serde(skip_serializing_if = "Option::is_none")]
    q2c: Option<Latency>,
}

/// The text of a tool from which the numbers come.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct TextSource {
    /// For texts: the name of the file.
    pub file: String,
    /// For texts: the number of the run in the file, from 1.
    pub run: usize,
    /// For texts: the label before the run.
    pub label: String,
}

/// All operations of a recording: of tasks first, then requests and bios by device.
pub(crate) fn of(e: &Explanation) -> Vec<Operations> {
    let mut all: Vec<Operations> =
        e.facts.operations.groups.iter().map(|(key, stats)| of_tasks(e, key, stats)).collect();
    for device in &e.facts.devices {
        for op in Op::ALL {
            all.extend(operation(e, device, op, Level::Request, |c| &device.requests[c.index()]));
            all.extend(operation(e, device, op, Level::Bio, |c| &device.bios[c.index()].phases));
        }
    }
    all
}

/// Operations of tasks: system calls, page faults, commits.
fn of_tasks(e: &Explanation, key: &OpKey, stats: &OpStats) -> Operations {
    Operations {
        scope: Scope::Filesystem,
        name: e.filesystem(key),
        device: Some((key.dev != DevId(0)).then(|| e.name(key.dev))),
        op: key.kind.name().into(),
        level: Level::Operation,
        numbers: Numbers {
            count: Some(stats.latency.count()),
            bytes: Some(stats.bytes),
            errors: Some(stats.errors),
            latency_ns: Latency::of(&stats.latency),
            ..Numbers::default()
        },
        by_class: None,
        told: None,
    }
}

fn operation<'a>(
    e: &Explanation,
    device: &Device,
    op: Op,
    level: Level,
    of: impl Fn(Class) -> &'a stats::Phases,
) -> Option<Operations> {
    let mut sum = stats::Phases::default();
    let mut by_class = BTreeMap::new();
    for class in Class::ALL.into_iter().filter(|c| class_op(*c) == op && of(*c).count > 0) {
        sum.merge(of(class));
        by_class.insert(class, Numbers::of(of(class)));
    }
    (sum.count > 0).then(|| Operations {
        scope: Scope::Device,
        name: e.name(device.id),
        device: None,
        op: op.name().into(),
        level,
        numbers: Numbers::of(&sum),
        by_class: Some(by_class).filter(|all| all.len() > 1),
        told: None,
    })
}

impl Numbers {
    fn of(p: &stats::Phases) -> Numbers {
        let [q2g, g2i, i2d, d2c, q2c] = p.each().map(|(_, d)| Some(Latency::of(d)));
        Numbers {
            count: Some(p.count),
            bytes: Some(p.bytes.0),
            merges: Some(p.merges),
            requeues: Some(p.requeues),
            errors: Some(p.errors),
            latency_ns: Latency::of(explain::latency(p)),
            phases: Phases { q2g, g2i, i2d, d2c, q2c },
        }
    }
}

impl Latency {
    fn of(d: &Distribution) -> Latency {
        let s = d.summary();
        let [min, mean, p50, p90, p99, p999, max] =
            [s.min, s.mean, s.p50, s.p90, s.p99, s.p999, s.max].map(Some);
        Latency { min, mean, p50, p90, p99, p999, max, count: Some(d.count()) }
    }
}
