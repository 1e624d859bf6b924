//! Distributions as JSON, schema `iowhy.dist/1`. Times are in nanoseconds but for the steps of histograms.

use explain::dist::{Dist, Groups, Layer, Where};
use explain::Places;
use serde_json::{json, Value};
use stats::Distribution;
use trace::DevId;

/// The whole object.
pub fn json(dist: &Dist, places: &Places) -> Value {
    let whole = dist.whole();
    let layers = |groups: &Groups| -> Vec<Value> {
        let one = |((fs, dev), kinds): (&Where, &_)| {
            let rows = dist.layers((*fs, *dev), kinds);
            let row = |r: &Layer| {
                json!({
                    "layer": r.layer, "of": r.family.words(), "words": r.words, "count": r.times.count(),
                    "without_io": (r.layer == "operation").then_some(r.without_io), "latency_ns": times(&r.times),
                })
            };
            json!({
                "filesystem": fs.name(), "device": device(*dev, places),
                "layers": rows.iter().map(row).collect::<Vec<_>>(),
            })
        };
        groups.iter().map(one).collect()
    };
    let mut all = json!({
        "schema": "iowhy.dist/1",
        "unit": dist.question.unit.name(),
        "operations": operations(&whole, places),
        "layers": layers(&whole),
        "left_out": dist.left_out,
    });
    if let (Some(length), Some(all)) = (dist.question.interval, all.as_object_mut()) {
        let one = |(from, groups): (trace::Nanos, &Groups)| json!({ "from_ns": from, "to_ns": from + length, "operations": operations(groups, places) });
        all.insert("intervals".into(), dist.intervals().map(one).collect());
    }
    all
}

fn operations(groups: &Groups, places: &Places) -> Vec<Value> {
    let mut all = Vec::new();
    for ((fs, dev), kinds) in groups {
        for (kind, t) in kinds {
            all.push(json!({
                "filesystem": fs.name(),
                "device": device(*dev, places),
                "mount": places.mount(*dev).map(|m| m.0),
                "op": kind.1.name(),
                "count": t.latency.count(),
                "errors": t.errors,
                "without_io": t.without_io,
                "latency_ns": times(&t.latency),
                "histogram": t.histogram.rows().collect::<Vec<_>>(),
            }));
        }
    }
    all
}

fn device(dev: DevId, places: &Places) -> Option<String> {
    (dev != DevId(0)).then(|| places.device(dev))
}

fn times(d: &Distribution) -> Value {
    json!(d.summary())
}
