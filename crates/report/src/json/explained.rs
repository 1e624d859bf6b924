//! The object that `explain --json` prints.

use super::operations::Operations;
use super::quality::Quality;
use super::tail::{SentFor, Tail};
use crate::answer::Answered;
use causes::Verdict;
use events::Window;
use explain::{Explanation, Prediction};
use serde::Serialize;
use tooltext::ToolOutput;
use trace::Nanos;

/// The value of the field `schema`.
pub(crate) const SCHEMA: &str = "iowhy.explain/2";

/// Why I/O was slow: one object. Fields may be added; names once shipped do not change.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explained<'a> {
    /// The name of this schema.
    pub(crate) schema: &'static str,
    /// The recording, or the texts, that were read.
    pub(crate) capture: Capture,
    /// What was lost, damaged or out of order.
    pub(crate) quality: Quality,
    /// Operations by kind and place: how many, and their latencies.
    pub(crate) operations: Vec<Operations>,
    /// The slowest 1 % of each kind of operation that a task waits for.
    pub(crate) tail: Tail,
    /// Writes that some tasks sent for others; absent for texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sent_for: Option<Vec<SentFor>>,
    /// All causes that were judged: found ones first, by share.
    pub(crate) causes: &'a [Verdict],
    /// Output of other tools: read alone, or with --with-texts beside a recording.
    #[serde(rename = "texts", skip_serializing_if = "Option::is_none")]
    pub(crate) texts_alone: Option<&'a [ToolOutput]>,
    #[serde(flatten)]
    pub(crate) answered: Answered,
    /// With --predict: the predicted effect of remedies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) predictions: Option<&'a [Prediction]>,
    /// Remarks about texts beside a recording that may be from another machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) texts_remarks: Option<&'a [String]>,
    /// Output of other tools: read alone, or with --with-texts beside a recording.
    #[serde(rename = "texts", skip_serializing_if = "Option::is_none")]
    pub(crate) texts_beside: Option<&'a [ToolOutput]>,
}

/// What was read.
#[derive(Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Capture {
    /// The version of the recorded machine's kernel; null if unknown.
    pub kernel: Option<String>,
    /// The time at which the recording began, RFC 3339; null if unknown.
    pub start: Option<String>,
    /// The time from the first event to the last, in nanoseconds.
    pub duration_ns: Nanos,
    /// The names of devices with I/O.
    pub devices: Vec<String>,
    /// The formats of the recording, or the tools whose output was read.
    pub sources: Vec<String>,
    #[serde(flatten)]
    pub asked: Option<Asked>,
}

/// The selected part of a recording.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Asked {
    /// The selected window of time, with --window; else null. Absent for texts.
    part: Option<Part>,
    /// The filter in words, with --device, --task and the like; null: all tasks. Absent for texts.
    asked: Option<String>,
}

/// A window of time, in nanoseconds since the first event.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Part {
    /// The start of the window.
    from_ns: Nanos,
    /// The end of the window; null: the end of the recording.
    to_ns: Option<Nanos>,
}

impl Explained<'_> {
    /// Cuts each list of recorded items to `rows` rows.
    pub(crate) fn cut(mut self, rows: usize) -> Self {
        self.operations.truncate(rows);
        self.capture.devices.truncate(rows);
        self.quality.cut(rows);
        self.tail.cut(rows);
        self
    }
}

impl Capture {
    pub fn of(e: &Explanation) -> Capture {
        let to = |w: Window| (w.end != Window::default().end).then_some(w.end);
        let part = e.subject.window.map(|w| Part { from_ns: w.start, to_ns: to(w) });
        Capture {
            kernel: e.kernel().map(str::to_string),
            start: e.began().and_then(rfc3339),
            duration_ns: e.duration(),
            devices: e.facts.devices.iter().map(|d| e.name(d.id)).collect(),
            sources: e.subject.sources.clone(),
            asked: Some(Asked { part, asked: e.asked() }),
        }
    }
}

fn rfc3339(ns: u128) -> Option<String> {
    let since = std::time::Duration::new((ns / 1_000_000_000) as u64, (ns % 1_000_000_000) as u32);
    let time = std::time::UNIX_EPOCH.checked_add(since)?;
    Some(humantime::format_rfc3339_nanos(time).to_string())
}
