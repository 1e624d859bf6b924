//! `whatif --json`, schema `iowhy.whatif/1`: names once shipped do not change, fields may be added.

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

/// Predicted latencies without a task or under other settings; or the load that was found, or the order of requests.
/// Times are in nanoseconds.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Supposed<'a> {
    /// The name of this schema.
    schema: &'static str,
    #[serde(flatten)]
    said: Said<'a>,
}

/// What was asked for.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum Said<'a> {
    /// With --without and --alone.
    Without {
        /// The victims and their latencies.
        victims: Vec<Victim<'a>>,
    },
    /// With --set.
    Predicted {
        /// The device.
        device: &'a str,
        /// The settings that were recorded.
        settings: &'a Settings,
        /// What was set, by name.
        #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, String>"))]
        set: Map<String, Value>,
        /// The predictions.
        cells: &'a [Cell],
        /// Devices that explain the recording, the best first.
        devices: Vec<Device<'a>>,
    },
    /// With `or` between settings.
    Alternatives {
        /// The device.
        device: &'a str,
        /// The answer for each, as one is alone.
        alternatives: Vec<Supposed<'a>>,
    },
    /// With --sweep.
    Swept {
        /// The device.
        device: &'a str,
        /// The setting of which values were tried.
        swept: &'a str,
        /// The answer for each value.
        values: Vec<Tried<'a>>,
    },
    /// With --suggest.
    Suggested {
        /// The device.
        device: &'a str,
        /// What was found.
        suggested: Suggested<'a>,
    },
    /// With --explain-load.
    Load {
        /// The device.
        device: &'a str,
        /// How long the load is.
        span_ns: u64,
        /// The latencies that were recorded.
        recorded: Vec<Latency>,
        /// What the load is made of.
        streams: Vec<Stream<'a>>,
    },
    /// With --schedule.
    Schedule {
        /// The device.
        device: &'a str,
        /// What was set, by name.
        #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, String>"))]
        set: Map<String, Value>,
        /// The requests that were recorded, in the order in which they went to the device.
        recorded: Vec<Request>,
        /// The same in the model.
        simulated: Vec<Request>,
    },
}

/// Operations of one task, as they were and as they would be.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Victim<'a> {
    /// The task.
    task: &'a str,
    /// The operation.
    op: &'a str,
    /// The device.
    device: String,
    /// How many operations.
    count: u64,
    /// Their latencies as recorded, in nanoseconds.
    now_ns: Now,
    /// Their predicted latencies.
    without: Absence,
}

/// Latencies as they were.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Now {
    /// The mean.
    mean: Nanos,
    /// The median.
    p50: Nanos,
    /// One in a hundred took longer.
    p99: Nanos,
}

/// A device that explains the recording.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Device<'a> {
    /// The deviation of its times from the recorded ones; 0 is equal.
    score: f64,
    /// Its model.
    device: &'a Model,
}

/// A value that was tried.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Tried<'a> {
    /// The value of the setting.
    value: u64,
    /// The predictions.
    cells: &'a [Cell],
}

/// Settings that come closest to an aim.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Suggested<'a> {
    /// The settings, each its name and value.
    set: &'a [(String, String)],
    /// Whether that reaches the aim.
    reached: bool,
    /// The predictions.
    cells: &'a [Cell],
}

/// A latency that was recorded.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Latency {
    /// The metric.
    metric: Metric,
    /// The median.
    p50: Option<u64>,
    /// One in a hundred is more.
    p99: Option<u64>,
    /// How many values.
    values: usize,
}

/// A part of the load with its own arrival pattern.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Stream<'a> {
    /// The task it belongs to.
    name: &'a str,
    /// Its arrival pattern.
    stream: Kind,
    /// How many I/Os.
    arrivals: usize,
    /// How many of them are writes.
    writes: usize,
    /// The evidence for it.
    support: &'a str,
}

/// A request that went to the device.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Request {
    /// When, since the first event.
    issued_ns: u64,
    /// How long it had waited.
    waited_ns: u64,
    /// The class: read, sync-write, background-write, flush, other.
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

    /// Predictions without a task.
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

    /// What settings would have done.
    pub fn predicted(device: &'a str, set: &Set, lab: &'a Lab, cells: &'a [Cell]) -> Supposed<'a> {
        let devices = lab.devices.iter().map(|d| Device { score: d.score, device: &d.model }).collect();
        Supposed::said(Said::Predicted { device, settings: &lab.settings, set: by_name(set), cells, devices })
    }

    /// The same of several.
    pub fn alternatives(device: &'a str, alternatives: Vec<Supposed<'a>>) -> Supposed<'a> {
        Supposed::said(Said::Alternatives { device, alternatives })
    }

    /// What values of a setting would have done.
    pub fn swept(device: &'a str, swept: &'a str, values: &'a [(u64, Vec<Cell>)]) -> Supposed<'a> {
        let values = values.iter().map(|(value, cells)| Tried { value: *value, cells }).collect();
        Supposed::said(Said::Swept { device, swept, values })
    }

    /// Settings for an aim, and whether they reach it.
    pub fn suggested(device: &'a str, found: &'a Suggestion) -> Supposed<'a> {
        let Suggestion { set, reached, cells, .. } = found;
        Supposed::said(Said::Suggested { device, suggested: Suggested { set, reached: *reached, cells } })
    }

    /// The streams of a load.
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

    /// In which order requests went to the device, and would have gone.
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
