//! Predicted latencies of a victim in JSON: without a cause or without a culprit.

use super::words::those;
use explain::answer::{Latencies, NotPredictable, Predicted, Without};
use life::Io;
use serde::Serialize;
use trace::{program_and_process, Nanos};
use waits::Absent;

/// Predicted latencies of a victim.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Then {
    /// The mean.
    mean_ns: Span,
    /// The median.
    p50_ns: Span,
    /// The 99th percentile; null with fewer than 100 operations.
    p99_ns: Option<Span>,
}

/// Predicted latencies without a task.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Absence {
    /// The culprit that is assumed absent: a task's name, `everybody`, or null.
    culprit: Option<String>,
    /// The number of its process or thread, if several with this name are distinguished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// The kind of I/O that is assumed absent; null: all of the culprit's.
    io: Option<Io>,
    /// The mean; null if nothing is predicted.
    mean_ns: Option<Span>,
    /// The median; null if nothing is predicted.
    p50_ns: Option<Span>,
    /// The 99th percentile; null if nothing is predicted, or with fewer than 100 operations.
    p99_ns: Option<Span>,
    /// The reason why nothing is predicted, or null.
    refused: Option<&'static str>,
}

/// A prediction, in nanoseconds.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Span {
    /// The predicted value.
    value: Nanos,
    /// The lower bound of its 90 % interval, which comes from the errors of such predictions.
    low: Nanos,
    /// The upper bound of that interval.
    high: Nanos,
}

/// A task's name, and the number of its process if several with this name are distinguished.
pub(super) fn split(task: Option<&str>) -> (Option<String>, Option<u32>) {
    let parts = task.map(program_and_process);
    (parts.map(|(name, _)| name.to_string()), parts.and_then(|(_, pid)| pid).map(|pid| pid.0))
}

pub(super) fn then(l: Latencies) -> Then {
    Then { mean_ns: span(l.mean), p50_ns: span(l.p50), p99_ns: l.p99.map(span) }
}

fn span(p: Predicted) -> Span {
    Span { value: p.value, low: p.low, high: p.high }
}

/// The predicted latencies in the absence of a culprit, for JSON.
pub(crate) fn without(w: &Without) -> Absence {
    let then = w.then.ok();
    let ((culprit, pid), io) = match &w.who {
        Absent::Task(name) => (split(Some(name)), None),
        Absent::Flushes => ((None, None), Some(Io::Flush)),
        Absent::Everybody => ((Some("everybody".into()), None), None),
        Absent::Those(them) => ((Some(those(them)), None), None),
    };
    Absence {
        culprit,
        pid,
        io,
        mean_ns: then.map(|then| span(then.mean)),
        p50_ns: then.map(|then| span(then.p50)),
        p99_ns: then.and_then(|then| then.p99).map(span),
        refused: w.then.err().map(NotPredictable::words),
    }
}
