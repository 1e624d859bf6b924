//! The slowest requests: their ledgers, and their events one by one.
//!
//! A first reading keeps the N slowest in a heap. A second one gathers the events of their sectors between their
//! queue and their completion; where the recording cannot be read twice (a pipe), the ledger alone is shown.

use crate::gathered::{Gathered, Gathering};
use evidence::System;
use ledger::Ledger;
use life::{Names, Op, Request, Sink};
use serde_json::{json, Value};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write;
use trace::{Batch, DevId, Nanos};
use units::words::{count, size, time};

/// Which requests are asked for.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Of this operation.
    pub op: Option<Op>,
    /// Of this task.
    pub task: Option<String>,
    /// How many.
    pub number: usize,
}

/// Events shown of one request; a request of 256 merged bios has 770.
const MAX_EVENTS: usize = 60;

struct Slow {
    request: Request,
    task: String,
}

/// The slowest requests of a recording.
pub struct Slowest {
    wanted: Wanted,
    names: Vec<(DevId, String)>,
    system: System,
    /// Fastest of the chosen on top: (duration, order of arrival).
    heap: BinaryHeap<Reverse<(Nanos, u64)>>,
    kept: std::collections::HashMap<u64, Slow>,
    arrived: u64,
    first: Option<Nanos>,
    list: Vec<Slow>,
    /// The events of `list`, in its order.
    gathering: Gathering,
}

impl Slowest {
    /// Nothing seen yet.
    pub fn new(wanted: Wanted, names: Vec<(DevId, String)>, system: System) -> Slowest {
        Slowest {
            wanted,
            names,
            system,
            heap: BinaryHeap::new(),
            kept: Default::default(),
            arrived: 0,
            first: None,
            list: vec![],
            gathering: Gathering::default(),
        }
    }

    /// Notes when the recording began, which is what times are shown from.
    pub fn watch(&mut self, batch: &Batch) {
        if self.first.is_none() {
            self.first = batch.events.iter().find(|e| !e.action.is_note()).map(|e| e.time);
        }
    }

    /// Ends the first reading: the slowest are known.
    pub fn chosen(&mut self) {
        let mut list: Vec<Slow> = std::mem::take(&mut self.kept).into_values().collect();
        list.sort_by_key(|s| (Reverse(s.request.time.total()), s.request.time.completed));
        self.gathering = Gathering::of(list.iter().map(|s| s.request), MAX_EVENTS);
        self.list = list;
    }

    /// Second reading: keeps the events that belong to the chosen.
    pub fn gather(&mut self, batch: &Batch) {
        self.gathering.feed(batch);
    }

    /// As text.
    pub fn render(&self) -> String {
        let mut out = String::new();
        if self.list.is_empty() {
            let _ = writeln!(out, "no request was completed{}", self.asked());
        }
        for (slow, gathered) in self.told() {
            self.one(&mut out, slow, gathered);
        }
        out
    }

    /// Each as JSON.
    pub fn json(&self) -> Vec<Value> {
        let one = |(s, gathered): (&Slow, &Gathered)| {
            json!({
                "level": "request",
                "device": self.name(s.request.dev),
                "task": s.task,
                "request": s.request,
                "ledger": Ledger::of(&s.request.time),
                "events": gathered.events.iter().map(|(e, task)| json!({
                    "time_ns": e.time.0, "action": e.action.letters(), "sector": e.sector, "bytes": e.bytes,
                    "cpu": e.cpu, "tid": e.tid, "task": task,
                })).collect::<Vec<_>>(),
                "events_left_out": gathered.left_out,
            })
        };
        self.told().map(one).collect()
    }

    fn told(&self) -> impl Iterator<Item = (&Slow, &Gathered)> {
        self.list.iter().zip(&self.gathering.all)
    }

    fn asked(&self) -> String {
        let op = self.wanted.op.map(|o| format!(" of operation {}", o.name())).unwrap_or_default();
        let task = self.wanted.task.as_ref().map(|t| format!(" of task {t}")).unwrap_or_default();
        op + &task
    }

    fn name(&self, dev: DevId) -> String {
        let file = self.names.iter().find(|(d, _)| *d == dev).map(|(_, n)| n.as_str());
        file.or(self.system.device_name(dev)).map_or_else(|| dev.to_string(), str::to_string)
    }

    fn one(&self, out: &mut String, slow: &Slow, gathered: &Gathered) {
        let r = &slow.request;
        let l = Ledger::of(&r.time);
        let error = if r.error == 0 { String::new() } else { format!(", ERROR {}", r.error) };
        let _ = writeln!(
            out,
            "{} of {} at sector {} of {} by {} (tid {}), {}, at {:.6} s{error}",
            r.op.name(),
            size(r.bytes),
            r.start.0,
            self.name(r.dev),
            slow.task,
            r.tid.0,
            time(l.total()),
            self.since_start(l.from)
        );
        for s in &l.segments {
            let ms = s.length().0 as f64 / 1e6;
            let _ = writeln!(out, "  {ms:>14.6} ms  {}", s.reason.words());
        }
        let _ = writeln!(out, "  {:>14.6} ms  total, all accounted for", l.total().0 as f64 / 1e6);
        let served: u64 = r.company.served.iter().map(|n| *n as u64).sum();
        if served > 0 {
            let text = format!("{} others, {}", count(served), size(r.company.served_bytes));
            let _ = writeln!(out, "  meanwhile the device completed {text}");
        }
        let mut before = l.from;
        for (e, task) in &gathered.events {
            let _ = writeln!(
                out,
                "    {:>13.6} s  {:>+14.6} ms  {:<2} {} + {}  cpu {} {task} ({})",
                self.since_start(e.time),
                e.time.since(before).0 as f64 / 1e6,
                e.action.letters(),
                e.sector.0,
                e.bytes.sectors(),
                e.cpu.0,
                e.tid.0
            );
            before = e.time;
        }
        if gathered.left_out > 0 {
            let _ = writeln!(out, "    and {} more events", count(gathered.left_out));
        }
        out.push('\n');
    }

    fn since_start(&self, t: Nanos) -> f64 {
        t.since(self.first.unwrap_or_default()).seconds()
    }
}

impl Sink for Slowest {
    fn request(&mut self, r: &Request, names: &Names) {
        let task = names.text(r.task);
        if self.wanted.op.is_some_and(|op| op != r.op) || self.wanted.task.as_ref().is_some_and(|t| t != task)
        {
            return;
        }
        let total = r.time.total();
        if self.heap.len() >= self.wanted.number {
            match self.heap.peek() {
                Some(Reverse((fastest, _))) if *fastest < total => {
                    if let Some(Reverse((_, id))) = self.heap.pop() {
                        self.kept.remove(&id);
                    }
                }
                _ => return,
            }
        }
        self.arrived += 1;
        self.heap.push(Reverse((total, self.arrived)));
        let slow = Slow { request: *r, task: task.to_string() };
        self.kept.insert(self.arrived, slow);
    }
}
