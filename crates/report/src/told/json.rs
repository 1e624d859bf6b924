//! `explain --json` of texts, schema `iowhy.explain/1`: what a trace would tell is there and empty; `texts` has every
//! number with its unit and place.

use super::Told;
use serde_json::{json, Value};
use tooltext::{Mail, Row};

impl Told {
    /// The whole object.
    pub fn to_json(&self) -> Value {
        json!({
            "schema": "iowhy.explain/1",
            "capture": { "kernel": null, "start": null, "duration_ns": 0, "devices": devices(&self.mails), "sources": super::tools(&self.mails) },
            "quality": {
                "events": 0, "lost": 0, "unmatched": 0, "clock_steps": 0,
                "verdict": if self.mails.iter().any(Mail::has_readings) { "good" } else { "unusable" },
                "notes": self.notes(),
            },
            "operations": self.operations(),
            "tail": { "threshold_ns": 0, "operations": 0, "total_ns": 0, "by_reason": [] },
            "causes": self.verdicts.iter().map(|v| serde_json::to_value(v).unwrap_or_default()).collect::<Vec<_>>(),
            "texts": self.texts(),
        })
    }

    /// The texts with all their numbers.
    pub fn texts(&self) -> Vec<Value> {
        self.mails.iter().map(|m| serde_json::to_value(m).unwrap_or_default()).collect()
    }

    fn notes(&self) -> Vec<String> {
        let counters =
            "counters are sums: where the time of a single operation went they cannot say".to_string();
        let left_out = |m: &Mail| {
            let first = m.first_left_out.filter(|_| m.left_out > 0)?;
            Some(format!("{}: {} numbers are left out, the first at {}", m.file, m.left_out, m.at(first)))
        };
        std::iter::once(counters).chain(self.mails.iter().filter_map(left_out)).collect()
    }

    /// fio's operations; each reading of each run is one, `run` counts from 1.
    fn operations(&self) -> Vec<Value> {
        let mut all = vec![];
        for mail in &self.mails {
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
}

/// The devices of which texts have numbers.
pub(super) fn devices(mails: &[Mail]) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for reading in mails.iter().flat_map(|m| &m.runs).flat_map(|r| &r.readings) {
        for row in &reading.rows {
            let device = reading.tool == "iostat" && row.of != "cpu" || row.get("read.ios").is_some();
            if device && !names.contains(&row.of) {
                names.push(row.of.clone());
            }
        }
    }
    names
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
