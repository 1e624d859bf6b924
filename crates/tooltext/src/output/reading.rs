//! A reading: the output of one tool at one time, as rows of numbers under the tool's own names.

use super::number::{Number, Unit};
use evidence::Spot;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use stats::Blocks;
use std::sync::Arc;

/// The output of one tool at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reading {
    /// The tool: `fio`, `iostat`, `xfsdist`, `dd`, ...
    pub tool: &'static str,
    /// The tool's name for it, for example the name of fio's job; empty if there is none.
    pub name: String,
    /// One row per operation or device.
    pub rows: Vec<Row>,
    /// The tool's options, if printed: `bs` = `4K-4K`.
    pub settings: Vec<Setting>,
    /// The place of its start in the text.
    pub at: Spot,
}

/// A row of a reading's table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// The subject of the row: `read`, `sda`.
    pub of: String,
    /// Numbers by name, in the tool's order. Names are the same for all versions of a tool.
    pub values: Values,
    /// Distribution of latencies; empty if the tool prints none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<Bucket>,
    /// Individual latencies in order, if a log has them.
    #[serde(skip)]
    pub in_order: Option<Arc<Blocks>>,
}

/// Numbers by name, in the order in which they were printed.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(with = "std::collections::BTreeMap<String, Number>")
)]
pub struct Values(Vec<(String, Number)>);

/// The number of values between these bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bucket {
    /// The inclusive lower bound, in nanoseconds.
    pub from: f64,
    /// The exclusive upper bound, in nanoseconds.
    pub below: f64,
    /// The number of values; if the tool prints only parts of all, that part: the unit tells which.
    pub count: Number,
}

/// A setting with its place.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Setting {
    /// The name: `ioengine`.
    pub name: String,
    /// The value: `libaio`.
    pub value: String,
    /// Its place in the text.
    pub at: Spot,
}

/// Submission dominates if the completion latency is below this part of the total.
const SUBMITTING: f64 = 0.5;

impl Reading {
    /// Its name; the tool's name if there is none, for example for fio's results without their first line.
    pub fn called(&self) -> &str {
        if self.name.is_empty() {
            self.tool
        } else {
            &self.name
        }
    }

    /// The row with the subject `of`.
    pub fn row(&self, of: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.of == of)
    }

    /// The value of a setting.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|s| s.name == name).map(|s| s.value.as_str())
    }
}

impl Row {
    /// A row without numbers.
    pub(crate) fn of(of: impl Into<String>) -> Row {
        Row { of: of.into(), ..Row::default() }
    }

    /// The number with this name.
    pub fn get(&self, name: &str) -> Option<Number> {
        self.values.get(name)
    }

    /// The value of the number with this name.
    pub fn value(&self, name: &str) -> Option<f64> {
        Some(self.get(name)?.value)
    }

    /// A number of the latency: fio's completion latency (`clat`), or, if it printed only the total, `lat`; for syncs
    /// their time. If [submission](Row::waits_to_submit) dominates, the total is used.
    pub fn latency(&self, name: &str) -> Option<Number> {
        match self.waits_to_submit() {
            true => self.total_latency(name),
            false => ["clat", "lat", "sync"].iter().find_map(|kind| self.get(&format!("{kind}.{name}"))),
        }
    }

    /// A number of the total latency (`lat`), measured from the call.
    pub fn total_latency(&self, name: &str) -> Option<Number> {
        self.get(&format!("lat.{name}"))
    }

    /// Whether the submission latency (`slat`) is most of the total: with an engine that is not asynchronous for this file,
    /// I/O happens in the submitting call, and the completion latency is meaningless (fio(1), "Interpreting the output").
    pub fn waits_to_submit(&self) -> bool {
        let completing = self.value("clat.mean");
        let total = self.value("lat.mean");
        completing.zip(total).is_some_and(|(c, t)| t > 0.0 && c < SUBMITTING * t)
    }

    /// The total count of the histogram, and the count of values of at least `nanoseconds`.
    pub fn slower_than(&self, nanoseconds: f64) -> (f64, f64) {
        let of = |b: &&Bucket| b.from >= nanoseconds;
        let sum = |all: f64, b: &Bucket| all + b.count.value;
        (self.histogram.iter().fold(0.0, sum), self.histogram.iter().filter(of).fold(0.0, sum))
    }
}

impl Values {
    /// Adds a number; the first of two with the same name is kept. Infinite values are ignored.
    pub(crate) fn put(&mut self, name: impl Into<String>, value: f64, unit: Unit, at: Spot) {
        let name = name.into();
        if value.is_finite() && self.get(&name).is_none() {
            self.0.push((name, Number::new(value, unit, at)));
        }
    }

    /// The number with this name.
    pub fn get(&self, name: &str) -> Option<Number> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, number)| *number)
    }

    /// Removes the number with this name and returns it.
    pub(crate) fn take(&mut self, name: &str) -> Option<Number> {
        let at = self.0.iter().position(|(n, _)| n == name)?;
        Some(self.0.remove(at).1)
    }

    /// All names and numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Number)> {
        self.0.iter().map(|(name, number)| (name.as_str(), *number))
    }

    /// Whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (name, number) in &self.0 {
            map.serialize_entry(name, number)?;
        }
        map.end()
    }
}
