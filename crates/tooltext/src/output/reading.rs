//! A reading: what one tool printed at one time, as rows of numbers under the tool's own names.

use super::number::{Number, Unit};
use evidence::Spot;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use stats::Blocks;
use std::sync::Arc;

/// What one tool printed at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reading {
    /// The tool: `fio`, `iostat`, `xfsdist`, `dd`, ...
    pub tool: &'static str,
    /// What the tool calls it, if it does: the name of fio's job.
    pub name: String,
    /// One for each operation or device.
    pub rows: Vec<Row>,
    /// The tool's options, as far as it prints them: `bs` = `4K-4K`.
    pub settings: Vec<Setting>,
    /// The place in the text where it begins.
    pub at: Spot,
}

/// A line of a reading's table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// What it is about: `read`, `sda`.
    pub of: String,
    /// Numbers by name, in the tool's order. Names are the same for all versions of a tool.
    pub values: Values,
    /// How many took how long, where the tool says so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<Bucket>,
    /// Latencies one by one in their order, where a log has them.
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
    /// How many; or, where the tool prints only parts, which part of all: the unit says which.
    pub count: Number,
}

/// A setting.
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

/// The completion latency is less than this part of the total: the rest passed before, most of it.
const SUBMITTING: f64 = 0.5;

impl Reading {
    /// What it is called: by its tool if by nothing, as fio's results are of which the first line is lost.
    pub fn called(&self) -> &str {
        if self.name.is_empty() {
            self.tool
        } else {
            &self.name
        }
    }

    /// The row about `of`.
    pub fn row(&self, of: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.of == of)
    }

    /// What a setting was set to.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|s| s.name == name).map(|s| s.value.as_str())
    }
}

impl Row {
    /// A row without numbers yet.
    pub(crate) fn of(of: impl Into<String>) -> Row {
        Row { of: of.into(), ..Row::default() }
    }

    /// The number of this name.
    pub fn get(&self, name: &str) -> Option<Number> {
        self.values.get(name)
    }

    /// The number of this name as it is used in arithmetic.
    pub fn value(&self, name: &str) -> Option<f64> {
        Some(self.get(name)?.value)
    }

    /// A number of the latency as a whole: fio's completion latency (`clat`), or where it printed only
    /// the total, `lat`; of syncs their time. Where [submitting](Row::waits_to_submit) takes long, only the total counts.
    pub fn latency(&self, name: &str) -> Option<Number> {
        match self.waits_to_submit() {
            true => self.total_latency(name),
            false => ["clat", "lat", "sync"].iter().find_map(|kind| self.get(&format!("{kind}.{name}"))),
        }
    }

    /// A number of the total latency (`lat`), from the call on.
    pub fn total_latency(&self, name: &str) -> Option<Number> {
        self.get(&format!("lat.{name}"))
    }

    /// Whether the submission latency (`slat`) is most of the total: with an engine that is not asynchronous for this file,
    /// I/O passes in the call that submits it, and the completion latency says nothing (fio(1), "Interpreting the output").
    pub fn waits_to_submit(&self) -> bool {
        let completing = self.value("clat.mean");
        let total = self.value("lat.mean");
        completing.zip(total).is_some_and(|(c, t)| t > 0.0 && c < SUBMITTING * t)
    }

    /// How many the histogram counts in all, and how many of at least `nanoseconds`.
    pub fn slower_than(&self, nanoseconds: f64) -> (f64, f64) {
        let of = |b: &&Bucket| b.from >= nanoseconds;
        let sum = |all: f64, b: &Bucket| all + b.count.value;
        (self.histogram.iter().fold(0.0, sum), self.histogram.iter().filter(of).fold(0.0, sum))
    }
}

impl Values {
    /// Adds a number; of two of one name the first stays. One that is too large for any unit is none.
    pub(crate) fn put(&mut self, name: impl Into<String>, value: f64, unit: Unit, at: Spot) {
        let name = name.into();
        if value.is_finite() && self.get(&name).is_none() {
            self.0.push((name, Number::new(value, unit, at)));
        }
    }

    /// The number of this name.
    pub fn get(&self, name: &str) -> Option<Number> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, number)| *number)
    }

    /// Takes the number of this name out.
    pub(crate) fn take(&mut self, name: &str) -> Option<Number> {
        let at = self.0.iter().position(|(n, _)| n == name)?;
        Some(self.0.remove(at).1)
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Number)> {
        self.0.iter().map(|(name, number)| (name.as_str(), *number))
    }

    /// Whether there are none.
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
