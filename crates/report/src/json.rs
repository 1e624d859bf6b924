//! `explain --json`, schema `iowhy.explain/2`: names once shipped do not change, fields may be added.

use crate::{answer, sent_for, texts};
use causes::Verdict;
use events::Window;
use explain::device_mapper::InMapper;
use explain::{Answer, Explanation};
use ledger::{Reason, RollUp};
use life::{Class, Op};
use serde::Serialize;
use serde_json::{json, Map, Value};
use stats::{class_op, Device, Distribution, Group, OpKey, OpStats, Phases, Summary};
use trace::DevId;

/// The schema's name.
pub(crate) const SCHEMA: &str = "iowhy.explain/2";

/// The whole object: of texts alone with all their numbers, of a recording without those of the texts beside it.
pub fn to_json(e: &Explanation) -> Value {
    let mut fields = match e.is_of_texts() {
        true => texts::fields(&e.texts),
        false => of_recording(e),
    };
    fields.extend(answer::to_json(e, &Answer::of(e)).map(|(name, value)| (name.to_string(), value)));
    if let Some(predictions) = &e.predictions {
        fields.insert("predictions".into(), json!(predictions));
    }
    if !e.texts.mails.is_empty() && !e.is_of_texts() {
        fields.insert("texts_remarks".into(), json!(e.texts.remarks));
    }
    fields.into()
}

/// The same with the texts beside a recording.
pub fn to_json_with_texts(e: &Explanation) -> Value {
    let mut whole = to_json(e);
    if let Some(fields) = whole.as_object_mut() {
        fields.insert("texts".into(), json!(e.texts.mails));
    }
    whole
}

/// An object's fields.
pub(crate) fn fields(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn of_recording(e: &Explanation) -> Map<String, Value> {
    let q = &e.subject.quality;
    let tally = &e.facts.tally;
    fields(json!({
        "schema": SCHEMA,
        "capture": {
            "kernel": e.kernel(),
            "start": e.began().and_then(rfc3339),
            "duration_ns": e.duration().0,
            "devices": e.facts.devices.iter().map(|d| e.name(d.id)).collect::<Vec<_>>(),
            "sources": e.subject.sources,
            "part": e.subject.window.map(part),
            "asked": e.asked(),
        },
        "quality": {
            "events": q.events,
            "lost": q.lost_total(),
            "unmatched": tally.unmatched(),
            "clock_steps": q.clock_steps + tally.backward_steps,
            "verdict": e.trust.name(),
            "notes": e.notes(),
            "out_of_order": q.out_of_order,
            "damaged_bytes": q.damaged_bytes,
            "cut_records": q.cut_records,
            "unknown": q.unknown,
            "tally": tally,
            "lost_at": q.lost.iter().map(|(at, n)| json!({
                "device": e.name(at.dev), "cpu": at.cpu, "second": at.second, "events": n
            })).collect::<Vec<_>>(),
        },
        "operations": operations(e),
        "tail": tail(e),
        "sent_for": sent_for(e),
        "causes": e.verdicts.iter().map(cause).collect::<Vec<_>>(),
    }))
}

/// What was looked at, in nanoseconds since the first event; `null` where it goes on to the end.
fn part(w: Window) -> Value {
    let to_ns = (w.end != Window::default().end).then_some(w.end.0);
    json!({ "from_ns": w.start.0, "to_ns": to_ns })
}

fn rfc3339(ns: u128) -> Option<String> {
    let since = std::time::Duration::new((ns / 1_000_000_000) as u64, (ns % 1_000_000_000) as u32);
    let time = std::time::UNIX_EPOCH.checked_add(since)?;
    Some(humantime::format_rfc3339_nanos(time).to_string())
}

fn operations(e: &Explanation) -> Vec<Value> {
    let mut all: Vec<Value> =
        e.facts.operations.groups.iter().map(|(key, stats)| of_tasks(e, key, stats)).collect();
    for device in &e.facts.devices {
        for op in Op::ALL {
            all.extend(operation(e, device, op, "request", |c| &device.requests[c.index()]));
            all.extend(operation(e, device, op, "bio", |c| &device.bios[c.index()].phases));
        }
    }
    all
}

/// Operations of tasks: system calls, page faults, commits.
fn of_tasks(e: &Explanation, key: &OpKey, stats: &OpStats) -> Value {
    json!({
        "scope": "filesystem",
        "name": e.filesystem(key),
        "device": (key.dev != DevId(0)).then(|| e.name(key.dev)),
        "op": key.kind.name(),
        "level": "operation",
        "count": stats.latency.count(),
        "bytes": stats.bytes,
        "errors": stats.errors,
        "latency_ns": summary(&stats.latency),
        "phases": {},
    })
}

fn operation<'a>(
    e: &Explanation,
    device: &Device,
    op: Op,
    level: &str,
    of: impl Fn(Class) -> &'a Phases,
) -> Option<Value> {
    let mut sum = Phases::default();
    let mut by_class = Map::new();
    for class in Class::ALL.into_iter().filter(|c| class_op(*c) == op && of(*c).count > 0) {
        let phases = of(class);
        sum.merge(phases);
        by_class.insert(serde_name(class), numbers(phases));
    }
    (sum.count > 0).then(|| {
        let mut v = json!({ "scope": "device", "name": e.name(device.id), "op": op.name(), "level": level });
        let fields = v.as_object_mut().expect("an object");
        fields.extend(numbers(&sum).as_object().cloned().unwrap_or_default());
        if by_class.len() > 1 {
            fields.insert("by_class".into(), Value::Object(by_class));
        }
        v
    })
}

fn numbers(p: &Phases) -> Value {
    let phases: Map<String, Value> =
        p.each().iter().map(|(name, d)| (name.to_string(), summary(d))).collect();
    json!({
        "count": p.count,
        "bytes": p.bytes,
        "merges": p.merges,
        "requeues": p.requeues,
        "errors": p.errors,
        "latency_ns": summary(explain::latency(p)),
        "phases": phases,
    })
}

fn summary(d: &Distribution) -> Value {
    let s: Summary = d.summary();
    let mut v = serde_json::to_value(s).unwrap_or_default();
    if let Some(fields) = v.as_object_mut() {
        fields.insert("count".into(), d.count().into());
    }
    v
}

fn tail(e: &Explanation) -> Value {
    let time = e.focus.time();
    json!({
        "threshold_ns": e.focus.threshold().0,
        "threshold_is": "the lowest of groups[].threshold_ns: each group's tail begins at its own",
        "operations": time.operations,
        "total_ns": time.total.0,
        "by_reason": by_reason(&time),
        "unexplained_in_dm": e.in_mapper.iter().map(InMapper::words).collect::<Vec<_>>(),
        "share_of_operations": stats::TAIL_SHARE,
        "groups": e.focus.groups.iter().map(|g| group(e, g)).collect::<Vec<_>>(),
    })
}

/// What some tasks sent for others.
fn sent_for(e: &Explanation) -> Vec<Value> {
    let one = |r: sent_for::Row| {
        json!({
            "device": e.name(r.dev),
            "what": sent_for::purpose(r.purpose),
            "whose": r.whose,
            "requests": r.sent.requests,
            "bytes": r.sent.bytes,
        })
    };
    sent_for::rows(e).into_iter().map(one).collect()
}

fn group(e: &Explanation, g: &Group) -> Value {
    json!({
        "name": e.name(g.dev),
        "op": g.op.map_or(class_op(g.class).name(), |op| op.kind.name()),
        "level": if g.op.is_some() { "operation" } else { "bio" },
        "filesystem": g.op.map(|op| e.filesystem(&op)),
        "class": serde_name(g.class),
        "of": g.operations,
        "threshold_ns": g.tail.threshold.0,
        "operations": g.tail.sum.time.operations,
        "total_ns": g.tail.sum.time.total.0,
        "by_reason": by_reason(&g.tail.sum.time),
    })
}

fn by_reason(time: &RollUp) -> Vec<Value> {
    let one = |(reason, ns): &(Reason, trace::Nanos)| json!({ "reason": reason.name(), "ns": ns.0, "share": time.share(*reason), "words": reason.words() });
    time.by_size().iter().map(one).collect()
}

fn cause(v: &Verdict) -> Value {
    serde_json::to_value(v).unwrap_or_default()
}

pub(crate) fn serde_name<T: Serialize>(t: T) -> String {
    serde_json::to_value(t).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default()
}
