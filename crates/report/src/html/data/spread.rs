//! Distributions of latencies and sizes over the whole recording.

use super::input::Data;
use crate::html::pack::pack;
use explain::pictured::kind_name;
use life::Class;
use serde::Serialize;
use stats::{class_words, Distribution, Summary};
use trace::Bytes;

/// The latencies of a kind of operation, or of a phase of requests.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// The name of this kind on the page.
    name: String,
    /// The phase, such as `d2c`; `all` for operations.
    phase: &'static str,
    /// The number of values.
    count: u64,
    /// The longest latency, in nanoseconds.
    max: u64,
    /// Packed: for each bucket the difference of its lower bound from the one before, and its count.
    buckets: String,
    /// Percentiles and other key numbers, in nanoseconds.
    summary: Summary,
}

/// The sizes of requests of one device and class.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sizes {
    /// The name of device and class on the page.
    name: String,
    /// The class of requests with which they compete.
    class: Class,
    /// Rows by size: upper bound in bytes, number of requests, their bytes.
    rows: Vec<(Bytes, u64, Bytes)>,
}

impl Data<'_> {
    /// The latencies of kinds of operations, and of requests by phase, in the buckets of `explain`.
    pub(super) fn latency(&self) -> Vec<Spread> {
        let e = &self.shown.explanation;
        let mut all = vec![];
        for key in self.kinds() {
            if let Some(stats) = e.facts.operations.groups.get(&key) {
                all.push(distribution(kind_name(self.at, &key), "all", &stats.latency));
            }
        }
        for device in self.devices().iter().filter_map(|id| e.facts.device(*id)) {
            for class in Class::ALL {
                let phases = device.phases(class);
                let name = format!("{} {}", e.name(device.id), class_words(class));
                for (phase, d) in phases.each() {
                    if !d.is_empty() {
                        all.push(distribution(name.clone(), phase, d));
                    }
                }
            }
        }
        all
    }

    /// The sizes of requests, by device and class.
    pub(super) fn sizes(&self) -> Vec<Sizes> {
        let e = &self.shown.explanation;
        let cells = &e.facts.cells;
        let sums = cells.sum(|k| Some((k.dev, Class::of(k.op, k.flags).index(), k.size)));
        let mut all = vec![];
        for dev in self.devices() {
            for class in Class::ALL {
                let rows: Vec<_> = sums
                    .iter()
                    .filter(|((d, c, _), p)| *d == dev && *c == class.index() && p.count > 0 && p.bytes.0 > 0)
                    .map(|((.., upper), p)| (upper.upper(), p.count, p.bytes))
                    .collect();
                if !rows.is_empty() {
                    let name = format!("{} {}", e.name(dev), class_words(class));
                    all.push(Sizes { name, class, rows });
                }
            }
        }
        all
    }
}

/// The distribution, packed: for each bucket the difference of its lower bound from the one before, and its count.
fn distribution(name: String, phase: &'static str, d: &Distribution) -> Spread {
    let mut before = 0;
    let steps = d.buckets().flat_map(|b| {
        let step = b.lower - before;
        before = b.lower;
        [step, b.count]
    });
    let buckets = pack(steps.collect::<Vec<_>>());
    Spread { name, phase, count: d.count(), max: d.max(), buckets, summary: d.summary() }
}
