//! `answer`, `victims` and `unexplained` of `iowhy.explain/2`.

use super::line::line;
use super::words::those;
use causes::{Acts, Remedy};
use explain::answer::{Answer, Because, Predicted, Source, Sufferer, Without};
use explain::blame::Which;
use explain::Explanation;
use serde_json::{json, Value};
use trace::{DevId, Nanos};
use waits::{Absent, CulpritKind};

/// The three fields.
pub(crate) fn to_json(e: &Explanation, a: &Answer) -> [(&'static str, Value); 3] {
    let first = a.victims.first();
    let answer = json!({
        "line": line(e, a),
        "kind": a.kind.name(),
        "cause": a.cause,
        "root": a.root,
        "victim": first.map(|v| &v.task),
        "op": first.map(|v| op(e, v)),
        "device": first.map(|v| device(e, v)),
        "culprit": a.culprit.as_ref().and_then(|c| c.name.clone()),
        "of": match e.subject.which {
            Which::All => "all",
            Which::Slowest => "tail",
        },
        "explained": a.explained.map(rounded),
        "try": a.remedies(e).into_iter().map(remedy).collect::<Vec<_>>(),
    });
    let all: u64 = a.victims.iter().map(|v| v.lost.0).sum();
    let victims: Vec<Value> = a.victims.iter().map(|v| victim(e, v, all)).collect();
    [("answer", answer), ("victims", victims.into()), ("unexplained", json!(a.unexplained().map(rounded)))]
}

fn remedy(r: &Remedy) -> Value {
    let on = match &r.acts {
        Acts::Victim => "victim",
        Acts::Culprit(_) => "culprit",
        Acts::Device => "device",
        Acts::Host => "host",
    };
    json!({ "what": r.what, "command": r.command(), "on": on })
}

/// A part, to a millionth.
fn rounded(part: f64) -> f64 {
    (part * 1e6).round() / 1e6
}

fn op(e: &Explanation, v: &Sufferer) -> String {
    let group = e.focus.groups.get(v.group);
    group.map_or(String::new(), |g| g.op.map_or(g.words().to_string(), |op| op.kind.name().to_string()))
}

fn device(e: &Explanation, v: &Sufferer) -> Option<String> {
    e.focus.groups.get(v.group).filter(|g| g.dev != DevId(0)).map(|g| e.name(g.dev))
}

fn victim(e: &Explanation, v: &Sufferer, all: u64) -> Value {
    let group = e.focus.groups.get(v.group);
    let op_key = group.and_then(|g| g.op);
    let mount = group.and_then(|g| e.subject.system.mounts.iter().find(|m| m.dev == Some(g.dev)));
    let [p50, p99, max] = v.latency.map(|t| t.0);
    json!({
        "task": v.task,
        "cgroup": v.cgroup,
        "role": v.role,
        "op": op(e, v),
        "filesystem": op_key.map(|key| e.filesystem(&key)),
        "device": device(e, v),
        "mount": mount.map(|m| &m.target),
        "count": v.count,
        "time_ns": v.time.0,
        "lost_ns": v.lost.0,
        "lost_is_upper_bound": v.is_bound,
        "share": rounded(v.lost.0 as f64 / all.max(1) as f64),
        "latency_ns": { "p50": p50, "p99": p99, "max": max, "mean": v.time.0 / v.count.max(1) },
        "alone_ns": v.alone.map(|[p50, p99]| json!({ "p50": p50.0, "p99": p99.0 })),
        "because": v.because.iter().map(|b| because(b, v.lost)).collect::<Vec<_>>(),
        "without": v.without.iter().map(without).collect::<Vec<_>>(),
    })
}

fn because(b: &Because, lost: Nanos) -> Value {
    json!({
        "cause": b.cause,
        "culprit": culprit(&b.source),
        "chain": b.chain,
        "ns": b.time.0,
        "share": rounded(b.time.0 as f64 / lost.0.max(1) as f64),
    })
}

fn culprit(s: &Source) -> Value {
    let name = match (s.kind, &s.name) {
        (CulpritKind::Task | CulpritKind::Kernel | CulpritKind::Unknown | CulpritKind::Cpu, name) => {
            name.clone()
        }
        _ => None,
    };
    let mut v = json!({ "kind": s.kind.name(), "name": name, "io": s.io.map(|io| io.name()) });
    if let (Some(of), Some(fields)) = (&s.dirtied_by, v.as_object_mut()) {
        fields.insert("dirtied_by".into(), json!(of));
    }
    v
}

/// Latencies without somebody.
pub fn without(w: &Without) -> Value {
    let value = |p: Predicted| json!({ "value": p.value.0, "low": p.low.0, "high": p.high.0 });
    let (culprit, io) = match &w.who {
        Absent::Task(name) => (Some(name.to_string()), None),
        Absent::Flushes => (None, Some("flush")),
        Absent::Everybody => (Some("everybody".into()), None),
        Absent::Those(them) => (Some(those(them)), None),
    };
    json!({
        "culprit": culprit,
        "io": io,
        "mean_ns": value(w.mean),
        "p50_ns": value(w.p50),
        "p99_ns": w.p99.map(value),
        "refused": null,
    })
}
