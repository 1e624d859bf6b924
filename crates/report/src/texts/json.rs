//! `explain --json` for texts: fields that only a trace can fill are present but empty; `texts` has every
//! number with its unit and place.

use crate::answer::Answered;
use crate::json::explained::{Capture, Explained, SCHEMA};
use crate::json::operations::{Latency, Level, Numbers, Operations, Scope, TextSource};
use crate::json::quality::Quality;
use crate::json::tail::Tail;
use explain::texts::{devices, tools};
use explain::Explanation;
use tooltext::{Row, ToolOutput};

/// The whole object for texts without a recording.
pub(crate) fn explained(e: &Explanation, answered: Answered) -> Explained<'_> {
    let outputs = &e.texts.outputs;
    let sources = tools(outputs).into_iter().map(str::to_string).collect();
    Explained {
        schema: SCHEMA,
        capture: Capture { devices: devices(outputs), sources, ..Capture::default() },
        quality: Quality {
            events: 0,
            lost: 0,
            unmatched: 0,
            clock_steps: 0,
            verdict: e.texts.trust(),
            notes: notes(outputs),
            counted: None,
        },
        operations: operations(outputs),
        tail: Tail::default(),
        sent_for: None,
        causes: &e.texts.verdicts,
        texts_alone: Some(outputs),
        answered,
        predictions: e.predictions.as_deref(),
        texts_remarks: None,
        texts_beside: None,
    }
}

fn notes(outputs: &[ToolOutput]) -> Vec<String> {
    let counters = "counters are totals: they cannot say where a single operation's time went".to_string();
    let left_out = |m: &ToolOutput| {
        let first = m.first_left_out.filter(|_| m.left_out > 0)?;
        Some(format!("{}: {} numbers are left out, the first at {}", m.file, m.left_out, m.at(first)))
    };
    std::iter::once(counters).chain(outputs.iter().filter_map(left_out)).collect()
}

/// fio's operations, one entry for each row with latencies; `run` counts from 1.
fn operations(outputs: &[ToolOutput]) -> Vec<Operations> {
    let mut all = vec![];
    for output in outputs {
        for (i, run) in output.runs.iter().enumerate() {
            for reading in run.of("fio") {
                let told = || TextSource { file: output.file.clone(), run: i + 1, label: run.label.clone() };
                let rows = reading.rows.iter().filter(|r| r.latency("max").is_some());
                all.extend(rows.map(|row| operation(&reading.name, row, told())));
            }
        }
    }
    all
}

fn operation(name: &str, row: &Row, told: TextSource) -> Operations {
    let whole = |v: Option<f64>| v.map(|v| v.round().max(0.0) as u64);
    let latency = |name: &str| whole(row.latency(name).map(|n| n.value));
    Operations {
        scope: Scope::Task,
        name: name.into(),
        device: None,
        op: row.of.clone(),
        level: Level::Operation,
        numbers: Numbers {
            count: whole(row.value("count")),
            bytes: whole(row.value("bytes")),
            latency_ns: Latency {
                min: latency("min"),
                mean: latency("mean"),
                p50: latency("p50"),
                p90: latency("p90"),
                p99: latency("p99"),
                p999: latency("p99.9"),
                max: latency("max"),
                count: None,
            },
            ..Numbers::default()
        },
        by_class: None,
        told: Some(told),
    }
}
