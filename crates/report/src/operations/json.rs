//! A ledger as JSON: the lines of the screen, every part unfolded, and the sum by reason. All in nanoseconds; the
//! lines within a line, and the parts of each depth within the one above, sum to it exactly.

use super::line::{lines, Line};
use explain::Places;
use ledger::Reason;
use operation::{Done, Node, Part, Wait, Wakeup};
use serde_json::{json, Map, Value};
use stats::Kept;
use trace::{CommitPhase, DevId};

/// One operation.
pub fn json(kept: &Kept, places: &Places) -> Value {
    let o = &kept.operation;
    let account = &kept.account;
    let by_reason = Reason::ALL.iter().map(|r| (*r, account.of(*r))).filter(|(_, t)| t.0 > 0);
    json!({
        "level": "operation",
        "op": o.kind.name(),
        "task": kept.task,
        "tid": o.tid,
        "process": o.process,
        "filesystem": o.fs.name(),
        "device": (o.dev != DevId(0)).then(|| places.device(o.dev)),
        "mount": places.mount(o.dev).map(|m| m.0),
        "inode": o.inode,
        "file": places.file(o),
        "data_of": kept.whose,
        "fd": o.fd,
        "result": o.result,
        "from_ns": o.from,
        "to_ns": o.to,
        "total_ns": account.total(),
        "unexplained_ns": account.of(Reason::Unexplained),
        "by_reason": by_reason.map(|(r, ns)| json!({ "reason": r.name(), "ns": ns })).collect::<Vec<_>>(),
        "lines": lines(kept, places).iter().map(line).collect::<Vec<_>>(),
        "parts": account.nodes.iter().enumerate().map(|(at, n)| part(kept, at, n, places)).collect::<Vec<_>>(),
        "hops": account.hops.iter().map(|h| hop(kept, h)).collect::<Vec<_>>(),
    })
}

fn line(l: &Line) -> Value {
    let mut v = Map::new();
    v.insert("ns".into(), json!(l.time));
    v.insert("shown_us".into(), json!(l.shown));
    v.insert("text".into(), json!(l.text));
    if let Some(reason) = l.reason {
        v.insert("reason".into(), json!(reason));
    }
    if let Some(note) = &l.note {
        v.insert("note".into(), json!(note));
    }
    if l.count > 1 {
        v.insert("count".into(), json!(l.count));
    }
    if !l.lines.is_empty() {
        v.insert("lines".into(), l.lines.iter().map(line).collect());
    }
    Value::Object(v)
}

fn part(kept: &Kept, at: usize, node: &Node, places: &Places) -> Value {
    let mut v = json!({ "depth": node.depth, "from_ns": node.from, "ns": node.length() });
    let name = |tid| kept.names.get(tid);
    let text = |id| kept.texts.get(id).map_or("", String::as_str);
    let own = match &node.part {
        Part::Leaf(reason) => json!({ "reason": reason }),
        Part::Wait { wait, stack } => {
            let stack: Vec<&str> = stack.as_ref().map_or("", text).lines().collect();
            let function = Wait::function_of(&stack.join("\n")).to_string();
            json!({ "wait": wait, "function": function, "stack": stack })
        }
        Part::Task(tid) => json!({ "task": name(tid), "tid": tid }),
        Part::Work { function, worker, queued } => {
            json!({
                "work": text(function), "task": name(worker), "tid": worker,
                "queued_by": queued.as_ref().and_then(|q| name(&q.by)), "queued_by_tid": queued.map(|q| q.by),
                "queued_in_interrupt": queued.map(|q| q.context.is_interrupt()),
                "queued_ns": queued.map(|q| q.time),
            })
        }
        Part::Commit(phase) => json!({ "commit": phase_name(*phase) }),
        Part::Request(entry) => {
            let (op, class, tid) = match &entry.done {
                Done::Request(r) => (r.op, r.class(), r.tid),
                Done::Bio(b) => (b.op, b.class(), b.tid),
            };
            json!({
                "request": op, "class": class, "device": places.device(entry.done.dev()),
                "sector": entry.done.start(), "bytes": entry.done.bytes(), "task": name(&tid), "tid": tid,
                "inode": entry.sent_for.as_ref().and_then(|s| s.inode),
                "data_of": kept.writers.get(&at).map(|whose| places.whose(whose)),
            })
        }
    };
    if let (Some(all), Value::Object(own)) = (v.as_object_mut(), own) {
        all.extend(own);
        if let Some(met) = kept.met.get(&at).filter(|m| !m.is_empty()) {
            let one = |m: &stats::Met| json!({ "task": m.task, "class": m.class, "requests": m.requests, "bytes": m.bytes });
            all.insert("meanwhile".into(), met.iter().map(one).collect());
        }
        if let Some(ran) = kept.ran.get(&at).filter(|r| !r.is_empty()) {
            let one = |r: &stats::Ran| json!({ "task": r.task, "ns": r.time });
            all.insert("processor_ran".into(), ran.iter().map(one).collect());
        }
    }
    v
}

fn hop(kept: &Kept, h: &Wakeup) -> Value {
    json!({
        "at_ns": h.at, "by": kept.names.get(&h.by), "by_tid": h.by, "interrupt": h.interrupt,
        "who": kept.names.get(&h.who), "who_tid": h.who, "latency_ns": h.latency, "crossed": h.crossed,
    })
}

fn phase_name(phase: CommitPhase) -> &'static str {
    match phase {
        CommitPhase::Start => "start",
        CommitPhase::Locking => "locking",
        CommitPhase::Flushing => "flushing",
        CommitPhase::Logging => "logging",
        CommitPhase::End => "end",
    }
}
