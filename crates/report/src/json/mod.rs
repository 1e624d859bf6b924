//! `explain --json`, schema `iowhy.explain/2`: names once shipped do not change, fields may be added.

pub(crate) mod operations;
pub(crate) mod quality;
pub(crate) mod tail;

use crate::answer::{self, Answered};
use causes::Verdict;
use events::Window;
use explain::{Answer, Explanation, Prediction};
use operations::Operations;
use quality::Quality;
use serde::Serialize;
use tail::{SentFor, Tail};
use tooltext::ToolOutput;
use trace::Nanos;

/// The schema's name.
pub(crate) const SCHEMA: &str = "iowhy.explain/2";

/// Why I/O was slow: one object. Fields may be added; names once shipped do not change.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explained<'a> {
    /// The name of this schema.
    pub(crate) schema: &'static str,
    /// What was read.
    pub(crate) capture: Capture,
    /// What was lost, damaged or out of order.
    pub(crate) quality: Quality,
    /// What was done, by kind and place.
    pub(crate) operations: Vec<Operations>,
    /// The slowest 1 % of each kind that a task waits for.
    pub(crate) tail: Tail,
    /// What some tasks sent for others; not of texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sent_for: Option<Vec<SentFor>>,
    /// Every cause that was judged, found ones first, by share.
    pub(crate) causes: &'a [Verdict],
    /// Texts of other tools: alone, or with --with-texts beside a recording.
    #[serde(rename = "texts", skip_serializing_if = "Option::is_none")]
    pub(crate) texts_alone: Option<&'a [ToolOutput]>,
    #[serde(flatten)]
    pub(crate) answered: Answered,
    /// With --predict: what remedies would have done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) predictions: Option<&'a [Prediction]>,
    /// Texts beside a recording that may be of another machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) texts_remarks: Option<&'a [String]>,
    /// Texts of other tools: alone, or with --with-texts beside a recording.
    #[serde(rename = "texts", skip_serializing_if = "Option::is_none")]
    pub(crate) texts_beside: Option<&'a [ToolOutput]>,
}

/// What was read.
#[derive(Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Capture {
    /// The kernel of the recorded machine.
    pub kernel: Option<String>,
    /// When the recording began, RFC 3339.
    pub start: Option<String>,
    /// From the first event to the last, in nanoseconds.
    pub duration_ns: Nanos,
    /// Devices with I/O.
    pub devices: Vec<String>,
    /// Formats of the recording, or tools whose output was read.
    pub sources: Vec<String>,
    #[serde(flatten)]
    pub asked: Option<Asked>,
}

/// What of a recording was asked about.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Asked {
    /// The part of it, with --window; else null. Not of texts.
    part: Option<Part>,
    /// The filter in words, with --device, --task and the like; null: all tasks. Not of texts.
    asked: Option<String>,
}

/// A part of a recording, in nanoseconds since the first event.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Part {
    /// Where it begins.
    from_ns: Nanos,
    /// Where it ends; null: with the recording.
    to_ns: Option<Nanos>,
}

/// The whole object: of texts alone with all their numbers, of a recording without those of the texts beside it.
pub fn to_json(e: &Explanation) -> Explained<'_> {
    to_json_of(e, &Answer::of(e))
}

/// The same, with the answer read off it before.
pub(crate) fn to_json_of<'a>(e: &'a Explanation, a: &Answer) -> Explained<'a> {
    let answered = answer::to_json(e, a);
    if e.is_of_texts() {
        return crate::texts::explained(e, answered);
    }
    Explained {
        schema: SCHEMA,
        capture: Capture::of(e),
        quality: Quality::of(e),
        operations: operations::of(e),
        tail: Tail::of(e),
        sent_for: Some(tail::sent_for(e)),
        causes: &e.verdicts,
        texts_alone: None,
        answered,
        predictions: e.predictions.as_deref(),
        texts_remarks: (!e.texts.outputs.is_empty()).then_some(&e.texts.remarks),
        texts_beside: None,
    }
}

/// The same with the texts beside a recording.
pub fn to_json_with_texts(e: &Explanation) -> Explained<'_> {
    let texts_beside = (!e.is_of_texts()).then_some(&e.texts.outputs[..]);
    Explained { texts_beside, ..to_json(e) }
}

impl Explained<'_> {
    /// No list of what was recorded has more rows than this.
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
