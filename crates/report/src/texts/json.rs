//! `explain --json` of texts: what a trace would tell is there and empty; `texts` has every
//! number with its unit and place.

use crate::json;
use explain::texts::{devices, tools, Texts};
use serde_json::{json, Map, Value};
use tooltext::{Mail, Row};

/// All but the answer.
pub(crate) fn fields(texts: &Texts) -> Map<String, Value> {
    let mails = &texts.mails;
    json::fields(json!({
        "schema": json::SCHEMA,
        "capture": { "kernel": null, "start": null, "duration_ns": 0, "devices": devices(mails), "sources": tools(mails) },
        "quality": {
            "events": 0, "lost": 0, "unmatched": 0, "clock_steps": 0,
            "verdict": texts.trust().name(),
            "notes": notes(mails),
        },
        "operations": operations(mails),
        "tail": { "threshold_ns": 0, "operations": 0, "total_ns": 0, "by_reason": [] },
        "causes": texts.verdicts,
        "texts": mails,
    }))
}

fn notes(mails: &[Mail]) -> Vec<String> {
    let counters = "counters are sums: where the time of a single operation went they cannot say".to_string();
    let left_out = |m: &Mail| {
        let first = m.first_left_out.filter(|_| m.left_out > 0)?;
        Some(format!("{}: {} numbers are left out, the first at {}", m.file, m.left_out, m.at(first)))
    };
    std::iter::once(counters).chain(mails.iter().filter_map(left_out)).collect()
}

/// fio's operations; each reading of each run is one, `run` counts from 1.
fn operations(mails: &[Mail]) -> Vec<Value> {
    let mut all = vec![];
    for mail in mails {
        for (i, run) in mail.runs.iter().enumerate() {
            for reading in run.of("fio") {
                for row in reading.rows.iter().filter(|r| r.latency("max").is_some()) {
                    let mut v = operation(row);
                    if let Some(fields) = v.as_object_mut() {
                        fields.insert("name".into(), reading.name.as_str().into());
                        fields.insert("file".into(), mail.file.as_str().into());
                        fields.insert("run".into(), (i + 1).into());
                        fields.insert("label".into(), run.label.as_str().into());
                    }
                    all.push(v);
                }
            }
        }
    }
    all
}

fn operation(row: &Row) -> Value {
    let whole = |v: Option<f64>| v.map(|v| v.round().max(0.0) as u64);
    let latency = |name: &str| whole(row.latency(name).map(|n| n.value));
    json!({
        "scope": "task", "name": "", "op": row.of, "level": "operation",
        "count": whole(row.value("count")), "bytes": whole(row.value("bytes")),
        "latency_ns": {
            "min": latency("min"), "mean": latency("mean"), "p50": latency("p50"), "p90": latency("p90"),
            "p99": latency("p99"), "p999": latency("p99.9"), "max": latency("max"),
        },
        "phases": {},
    })
}
