//! How latencies and sizes are spread over the whole recording.

use super::Data;
use crate::html::pack::pack;
use explain::pictured::kind_name;
use life::Class;
use serde::Serialize;
use stats::{class_words, Distribution, Summary};
use trace::Bytes;

/// How latencies of a kind of operation, or of a phase of requests, are spread.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// What it is called.
    name: String,
    /// The phase; `all` for the whole.
    phase: &'static str,
    /// The number of values.
    count: u64,
    /// The longest.
    max: u64,
    /// Packed: of each bucket by how much its lower end exceeds the one before, and its count.
    buckets: String,
    /// Its main numbers, in nanoseconds.
    summary: Summary,
}

/// How large requests of a device and class are.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sizes {
    /// What it is called.
    name: String,
    /// With which requests they compete.
    class: Class,
    /// By size: up to how many bytes, how many requests, their bytes.
    rows: Vec<(Bytes, u64, Bytes)>,
}

impl Data<'_> {
    /// How long requests took, in all and by phase, in the buckets of `explain`.
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

    /// How large requests were, by device and class.
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

/// A distribution: of each bucket by how much its lower end exceeds the one before, then its count.
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
