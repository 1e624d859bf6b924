//! The slowest, one by one.

use super::Data;
use crate::html::events::slowest_operations;
use crate::operations;
use life::Class;
use serde_json::{json, Value};
use stats::{Kept, SlowRequest};
use std::collections::BTreeSet;
use trace::Nanos;

/// Longer accounts of an operation are told folded only.
const MOST_PARTS: usize = 160;

impl Data<'_> {
    /// The slowest requests of all, and those of each stretch of time. Classes that somebody waits for have twice the
    /// room of those that nobody does.
    pub(super) fn slow(&self) -> Vec<Value> {
        let p = &self.shown.pictures;
        let used: Vec<Class> = Class::ALL.into_iter().filter(|c| !p.slowest(*c).is_empty()).collect();
        let weight = |c: Class| if c == Class::Background || c == Class::Other { 1 } else { 2 };
        let weights: usize = used.iter().map(|c| weight(*c)).sum();
        let mut all = vec![];
        for class in used {
            let most = self.detail.requests * weight(class) / weights.max(1);
            let mut moments = p.slow[class.index()].clone();
            let mut chosen: Vec<&SlowRequest> = p.slowest(class).iter().take(most).collect();
            while moments.iter().map(|(_, m)| m.all().len()).sum::<usize>() + chosen.len() > most
                && moments.len() > 1
            {
                moments = moments.with_shift(moments.shift() + 1);
            }
            chosen.extend(moments.iter().flat_map(|(_, m)| m.all()));
            let key = |s: &SlowRequest| (s.time.completed, s.dev, s.start, s.tid, s.total());
            let mut seen = BTreeSet::new();
            chosen.retain(|s| seen.insert(key(s)));
            chosen.sort_by_key(|s| std::cmp::Reverse(s.total()));
            all.extend(chosen.into_iter().take(most.max(1)).map(|s| self.slow_request(s)));
        }
        all
    }

    fn slow_request(&self, s: &SlowRequest) -> Value {
        let e = &self.shown.explanation;
        let segments: Vec<_> =
            s.ledger.segments.iter().map(|g| json!([g.reason.name(), g.length().0])).collect();
        let mut v = json!({
            "at_ns": self.since(s.ledger.from), "ns": s.total().0, "device": e.name(s.dev), "op": s.op.name(),
            "class": crate::json::serde_name(s.class), "sector": s.start.0, "bytes": s.bytes.0,
            "task": self.shown.pictures.tasks.name(s.task), "tid": s.tid.0, "segments": segments,
            "served": s.company.served(), "served_bytes": s.company.served_bytes.0, "ahead": s.company.ahead(),
        });
        if let Some(events) = self.shown.events.of(s) {
            let row = |(event, task): &(trace::Event, String)| {
                let e = event;
                json!([self.since(e.time), e.action.letters(), e.sector.0, e.bytes.0, e.cpu.0, task, e.tid.0])
            };
            v["events"] = events.events.iter().map(row).collect();
            v["events_left_out"] = events.left_out.into();
        }
        v
    }

    /// The slowest operations, where any were recorded: those of all, and that of each stretch of time.
    pub(super) fn operations(&self) -> Vec<Value> {
        let mut chosen = slowest_operations(&self.shown.explanation);
        chosen.truncate(self.detail.operations);
        let mut stretches = self.shown.pictures.slow_operations.clone();
        while stretches.len() > self.detail.stretches {
            stretches = stretches.with_shift(stretches.shift() + 1);
        }
        chosen.extend(stretches.iter().filter_map(|(_, slow)| slow.get()));
        let mut seen = BTreeSet::new();
        chosen.retain(|k| seen.insert((k.operation.to, k.operation.from, k.operation.tid)));
        chosen.sort_by_key(|k| std::cmp::Reverse(k.operation.total()));
        chosen.into_iter().map(|k| self.operation(k)).collect()
    }

    fn operation(&self, kept: &Kept) -> Value {
        let mut v = operations::json(kept, &self.at);
        let Some(fields) = v.as_object_mut() else { return v };
        for name in ["from_ns", "to_ns"] {
            let at = fields.get(name).and_then(Value::as_u64).map(|t| self.since(Nanos(t)));
            fields.insert(name.into(), at.into());
        }
        fields.remove("hops");
        let parts: Vec<Value> = match fields.remove("parts") {
            Some(Value::Array(parts)) if parts.len() <= MOST_PARTS => parts,
            _ => vec![],
        };
        let bars = parts.iter().filter_map(|p| {
            let at = self.since(Nanos(p["from_ns"].as_u64()?));
            Some(json!([at, p["ns"], p["depth"], p.get("reason")?]))
        });
        fields.insert("bars".into(), bars.collect());
        if let Some(told) = self.shown.events.of_operation(kept) {
            let all = told["events"].as_array().map_or(&[][..], Vec::as_slice);
            let row = |e: &Value| {
                let at = self.since(Nanos(e["time_ns"].as_u64()?));
                Some(json!([at, e["event"], e["cpu"], e["task"], e["tid"]]))
            };
            let shown = all.iter().filter_map(row).take(self.detail.events);
            let more = told["events_left_out"].as_u64().unwrap_or(0);
            let more = more + all.len().saturating_sub(self.detail.events) as u64;
            fields.insert("events".into(), shown.collect());
            fields.insert("events_left_out".into(), more.into());
            fields.insert("events_of_others".into(), told["events_of_other_requests"].clone());
        }
        v
    }
}
