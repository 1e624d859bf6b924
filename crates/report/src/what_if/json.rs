//! `whatif --json`, schema `iowhy.whatif/1`: fields that were shipped keep their names, new ones may be added.

use crate::answer::{without_json, Absence};
use crate::without::{now, Victims};
use explain::Explanation;
use serde::Serialize;
use serde_json::{Map, Value};
use trace::Nanos;
use whatif::arrival::Recorded;
use whatif::device::Model;
use whatif::load::{Kind, Load};
use whatif::metric::{name_of, Metric, Times};
use whatif::predict::{Cell, Lab};
use whatif::question::Set;
use whatif::schedule::{Schedule, Sent};
use whatif::settings::Settings;
use whatif::suggest::Suggestion;

/// Predicted latencies without a task or under other settings; or the reconstructed load, or the order of requests.
/// Times are in nanoseconds.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Supposed<'a> {
    /// The name of this schema.
    schema: &'static str,
    #[serde(flatten)]
    said: Said<'a>,
}

/// The answer to one kind of question.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum Said<'a> {
    /// For --without and --alone.
    Without {
        /// The victims with their measured and predicted latencies.
        victims: Vec<Victim<'a>>,
    },
    /// For --set.
    Predicted {
        /// The name of the device.
        device: &'a str,
        /// The settings that were recorded.
        settings: &'a Settings,
        /// The settings that were asked about, by name.
        #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, String>"))]
        set: Map<String, Value>,
        /// The predictions, one for each class, phase and percentile.
        cells: &'a [Cell],
        /// Models of the device that explain the recording, the best first.
        devices: Vec<Device<'a>>,
    },
    /// For `or` between settings.
    Alternatives {
        /// The name of the device.
        device: &'a str,
        /// One answer for each alternative, in the form that it has alone.
        alternatives: Vec<Supposed<'a>>,
    },
    /// For --sweep.
    Swept {
        /// The name of the device.
        device: &'a str,
        /// The name of the setting whose values were tried.
        swept: &'a str,
        /// One answer for each value.
        values: Vec<Tried<'a>>,
    },
    /// For --suggest.
    Suggested {
        /// The name of the device.
        device: &'a str,
        /// The best settings that were found.
        suggested: Suggested<'a>,
    },
    /// For --explain-load.
    Load {
        /// The name of the device.
        device: &'a str,
        /// The length of the load.
        span_ns: u64,
        /// The latencies that were recorded, by class and phase.
        recorded: Vec<Latency>,
        /// The streams that make up the load.
        streams: Vec<Stream<'a>>,
    },
    /// For --schedule.
    Schedule {
        /// The name of the device.
        device: &'a str,
        /// The settings that were asked about, by name.
        #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, String>"))]
        set: Map<String, Value>,
        /// The recorded requests in the order in which they were issued to the device.
        recorded: Vec<Request>,
        /// The simulated requests in the order in which they were issued to the device.
        simulated: Vec<Request>,
    },
}

/// Operations of one task with their measured and predicted latencies.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Victim<'a> {
    /// The name of the task.
    task: &'a str,
    /// The kind of operation in words.
    op: &'a str,
    /// The name of the device.
    device: String,
    /// Number of its operations.
    count: u64,
    /// Its measured latencies, in nanoseconds.
    now_ns: Now,
    /// Its predicted latencies.
    without: Absence,
}

/// Measured latencies, in nanoseconds.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Now {
    /// The mean.
    mean: Nanos,
    /// The median.
    p50: Nanos,
    /// The 99th percentile.
    p99: Nanos,
}

/// A model of the device that explains the recording.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Device<'a> {
    /// How far its times deviate from the recorded ones; 0 if they are equal.
    score: f64,
    /// The model of the device.
    device: &'a Model,
}

/// A value of the setting with its predictions.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Tried<'a> {
    /// The value that was tried.
    value: u64,
    /// The predictions, one for each class, phase and percentile.
    cells: &'a [Cell],
}

/// The settings that come closest to the aim.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Suggested<'a> {
    /// The settings, each with name and value.
    set: &'a [(String, String)],
    /// Whether they reach the aim.
    reached: bool,
    /// The predictions, one for each class, phase and percentile.
    cells: &'a [Cell],
}

/// Recorded latencies of one class and phase, in nanoseconds.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Latency {
    /// The class of I/O and the phase.
    metric: Metric,
    /// The median; null if there are no values.
    p50: Option<u64>,
    /// The 99th percentile; null if there are no values.
    p99: Option<u64>,
    /// Number of values.
    values: usize,
}

/// A part of the load with its own arrival pattern.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Stream<'a> {
    /// The name of the task that it belongs to.
    name: &'a str,
    /// The arrival pattern.
    stream: Kind,
    /// Number of I/Os.
    arrivals: usize,
    /// Number of them that are writes.
    writes: usize,
    /// The evidence for this arrival pattern.
    support: &'a str,
}

/// A request that was issued to the device.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Request {
    /// The time of its issue, since the first event.
    issued_ns: u64,
    /// The time that it had waited before.
    waited_ns: u64,
    /// Its class: read, sync-write, background-write, flush, other.
    class: &'static str,
    /// The first sector.
    sector: u64,
    /// The size in bytes.
    bytes: u64,
}

impl<'a> Supposed<'a> {
    fn said(said: Said<'a>) -> Supposed<'a> {
        Supposed { schema: "iowhy.whatif/1", said }
    }

    /// The answer to --without and --alone: latencies without a task.
    pub fn without(e: &'a Explanation, victims: &Victims) -> Supposed<'a> {
        let victims = victims.iter().map(|(number, w)| {
            let group = &e.focus.groups[*number];
            let [mean, p50, p99] = now(e, *number);
            Victim {
                task: &group.task,
                op: group.words(),
                device: e.name(group.dev),
                count: group.operations,
                now_ns: Now { mean, p50, p99 },
                without: without_json(w),
            }
        });
        Supposed::said(Said::Without { victims: victims.collect() })
    }

    /// The answer to --set: latencies under other settings.
    pub fn predicted(device: &'a str, set: &Set, lab: &'a Lab, cells: &'a [Cell]) -> Supposed<'a> {
        let devices = lab.devices.iter().map(|d| Device { score: d.score, device: &d.model }).collect();
        Supposed::said(Said::Predicted { device, settings: &lab.settings, set: by_name(set), cells, devices })
    }

    /// The answer to several alternatives.
    pub fn alternatives(device: &'a str, alternatives: Vec<Supposed<'a>>) -> Supposed<'a> {
        Supposed::said(Said::Alternatives { device, alternatives })
    }

    /// The answer to --sweep: latencies for each value of a setting.
    pub fn swept(device: &'a str, swept: &'a str, values: &'a [(u64, Vec<Cell>)]) -> Supposed<'a> {
        let values = values.iter().map(|(value, cells)| Tried { value: *value, cells }).collect();
        Supposed::said(Said::Swept { device, swept, values })
    }

    /// The answer to --suggest: settings for an aim, and whether they reach it.
    pub fn suggested(device: &'a str, found: &'a Suggestion) -> Supposed<'a> {
        let Suggestion { set, reached, cells, .. } = found;
        Supposed::said(Said::Suggested { device, suggested: Suggested { set, reached: *reached, cells } })
    }

    /// The answer to --explain-load: the streams of the load.
    pub fn load(device: &'a str, load: &'a Load, recorded: &Recorded) -> Supposed<'a> {
        let times = Times::recorded(recorded).sort();
        let latency = |metric| {
            let at = |q| times.percentile(metric, q);
            Latency { metric, p50: at(0.5), p99: at(0.99), values: times.values(metric).len() }
        };
        let recorded = times.metrics().map(|(metric, _)| latency(metric)).collect();
        let streams = load.streams.iter().map(|s| Stream {
            name: &s.name,
            stream: s.kind,
            arrivals: s.items.len(),
            writes: s.items.iter().filter(|i| i.write).count(),
            support: &s.support,
        });
        Supposed::said(Said::Load { device, span_ns: load.span, recorded, streams: streams.collect() })
    }

    /// The answer to --schedule: the recorded and the simulated order of requests.
    pub fn schedule(device: &'a str, set: &Set, order: &Schedule) -> Supposed<'a> {
        let [recorded, simulated] =
            [&order.recorded, &order.simulated].map(|sent| sent.iter().map(request).collect());
        Supposed::said(Said::Schedule { device, set: by_name(set), recorded, simulated })
    }
}

fn by_name(set: &Set) -> Map<String, Value> {
    set.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect()
}

fn request(s: &Sent) -> Request {
    Request {
        issued_ns: s.issued,
        waited_ns: s.waited,
        class: name_of(s.class),
        sector: s.sector,
        bytes: s.bytes,
    }
}
