//! `compare --json`, schema `iowhy.compare/1`: names once shipped do not change, fields may be added.

use explain::compare::{Blamed, Comparison, Metric, Row};
use serde_json::{json, Value};
use stats::Range;

/// The whole object.
pub fn json(c: &Comparison) -> Value {
    json!({
        "schema": "iowhy.compare/1",
        "before": c.names[0],
        "after": c.names[1],
        "verdict": c.outcome().name(),
        "sure": c.is_sure(),
        "sentence": c.verdict(),
        "unlike": c.is_unlike(),
        "load": c.load.iter().map(|d| json!({ "what": d.text, "unlike": d.unlike })).collect::<Vec<_>>(),
        "settings": c.settings.iter().map(|c| json!({
            "what": c.what,
            "before": c.kept.value, "before_at": c.kept.at.to_string(),
            "after": c.other.value, "after_at": c.other.at.to_string(),
        })).collect::<Vec<_>>(),
        "operations": c.rows.iter().map(row).collect::<Vec<_>>(),
        "tails": c.tails.iter().map(|t| json!({
            "what": t.what,
            "operations": { "before": t.operations[0], "after": t.operations[1] },
            "by_reason": t.reasons.iter().map(|(reason, words, [before, after])| json!({
                "reason": reason, "words": words,
                "mean_ns": { "before": before.round(), "after": after.round() },
            })).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "blame": c.blamed.iter().map(blamed).collect::<Vec<_>>(),
        "notes": c.notes,
    })
}

/// What each operation of a victim lost on average, because of whom.
fn blamed(b: &Blamed) -> Value {
    let each = |[before, after]: [f64; 2]| json!({ "before": before.round(), "after": after.round() });
    json!({
        "victim": b.victim,
        "operations": { "before": b.operations[0], "after": b.operations[1] },
        "lost_ns": each(b.lost),
        "because": b.because.iter().map(|(culprit, ns)| json!({ "culprit": culprit, "lost_ns": each(*ns) })).collect::<Vec<_>>(),
    })
}

fn row(r: &Row) -> Value {
    json!({
        "op": r.op,
        "what": r.what,
        "waited_for": r.counts,
        "metrics": r.metrics.iter().map(metric).collect::<Vec<_>>(),
    })
}

fn metric(m: &Metric) -> Value {
    let side = |blocks: (usize, u64)| json!({ "blocks": blocks.0, "length": blocks.1 });
    json!({
        "name": m.name,
        "threshold_ns": m.threshold,
        "unit": m.unit,
        "before": m.values[0],
        "after": m.values[1],
        "ratio": m.ratio(),
        "outcome": m.outcome().name(),
        "range_95": m.ranges.map(|r| json!({
            "before": range(r.before), "after": range(r.after), "ratio": range(r.ratio),
            "drawn_from": { "before": side(r.blocks[0]), "after": side(r.blocks[1]) },
        })),
        "no_range_why": m.ranges.is_none().then_some(match m.no_range {
            "" => "no interval possible from a summary",
            why => why,
        }),
    })
}

fn range(r: Range) -> Value {
    json!([r.from, r.to])
}
