//! Predicted latencies in JSON: of a victim, without a cause or without somebody.

use super::words::those;
use explain::answer::{Latencies, NotPredictable, Predicted, Without};
use life::Io;
use serde::Serialize;
use trace::{program_and_process, Nanos};
use waits::Absent;

/// Predicted latencies.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Then {
    /// The mean latency.
    mean_ns: Span,
    /// The median.
    p50_ns: Span,
    /// The p99; null of fewer than 100 operations.
    p99_ns: Option<Span>,
}

/// Predicted latencies without a task.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Absence {
    /// The task taken away, `everybody`, or null.
    culprit: Option<String>,
    /// A process of it, or the thread, where several of that name are told apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// Without which I/O; null: all of it.
    io: Option<Io>,
    /// The mean latency; null where nothing is predicted.
    mean_ns: Option<Span>,
    /// The median; null where nothing is predicted.
    p50_ns: Option<Span>,
    /// The p99; null where nothing is predicted, and of fewer than 100 operations.
    p99_ns: Option<Span>,
    /// Why nothing is predicted, or null.
    refused: Option<&'static str>,
}

/// A prediction, in nanoseconds.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Span {
    /// The value.
    value: Nanos,
    /// The lower bound of its 90 % interval: how far off such predictions were.
    low: Nanos,
    /// The upper bound.
    high: Nanos,
}

/// A task's name, and the process by which it is told from others of the name.
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

/// Latencies without a task.
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
