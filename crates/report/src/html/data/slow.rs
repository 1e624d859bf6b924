//! The slowest requests and operations.

use super::input::Data;
use crate::html::events::slowest_operations;
use crate::operations::{told, OperationSummary};
use ledger::Reason;
use life::{Class, Op};
use operation::Part;
use serde::Serialize;
use stats::{SampledOperation, SlowRequest};
use std::collections::BTreeSet;
use trace::{Bytes, Cpu, Nanos, Sector, Tid};

/// An account with more nodes has no bars, only the folded lines.
const MOST_PARTS: usize = 160;

/// A slow request.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Request<'a> {
    /// The time at which it was queued.
    at_ns: i64,
    /// The time that it took.
    ns: Nanos,
    /// The name of the device.
    device: String,
    /// The operation, such as a read or a write.
    op: Op,
    /// The class of requests with which it competes.
    class: Class,
    /// The first sector.
    sector: Sector,
    /// The size in bytes.
    bytes: Bytes,
    /// The name of the task that it belongs to.
    task: &'a str,
    /// The thread's number (tid).
    tid: Tid,
    /// Its time as segments that sum to it, each with its reason and length.
    segments: Vec<(Reason, Nanos)>,
    /// Number of requests that the device completed meanwhile.
    served: u64,
    /// The bytes of those requests.
    served_bytes: Bytes,
    /// Number of requests that were in the device before it.
    ahead: u64,
    #[serde(flatten)]
    events: Option<Events<'a>>,
}

/// The events of a slow request.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Events<'a> {
    /// Its events, each as time, action (as in blkparse), sector, bytes, processor, task and thread.
    events: Vec<(i64, &'static str, Sector, Bytes, Cpu, &'a str, Tid)>,
    /// Number of its events beyond these.
    events_left_out: u64,
}

/// A slow operation.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Operation<'a> {
    #[serde(flatten)]
    told: OperationSummary<i64>,
    /// The leaves of the account as bars, each with start, length, depth and reason; empty for a long account.
    bars: Vec<(i64, Nanos, u8, Reason)>,
    #[serde(flatten)]
    events: Option<Steps<'a>>,
}

/// The events of a slow operation.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Steps<'a> {
    /// Its events, each as time, words, processor, task and thread.
    events: Vec<(i64, &'a str, Cpu, &'a str, Tid)>,
    /// Number of its events beyond these.
    events_left_out: u64,
    /// Number of events of requests that it did not wait for.
    events_of_others: u64,
}

impl<'a> Data<'a> {
    /// The slowest requests of the whole recording, and those of each stretch of time. Classes that a task waits for
    /// get twice the share of the others.
    pub(super) fn slow(&self) -> Vec<Request<'a>> {
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

    fn slow_request(&self, s: &SlowRequest) -> Request<'a> {
        let shown = self.shown;
        let events = shown.events.of(s).map(|gathered| {
            let row = |(e, task): &'a (trace::Event, String)| {
                (self.since(e.time), e.action.letters(), e.sector, e.bytes, e.cpu, task.as_str(), e.tid)
            };
            Events { events: gathered.events.iter().map(row).collect(), events_left_out: gathered.left_out }
        });
        Request {
            at_ns: self.since(s.ledger.from),
            ns: s.total(),
            device: shown.explanation.name(s.dev),
            op: s.op,
            class: s.class,
            sector: s.start,
            bytes: s.bytes,
            task: shown.pictures.tasks.name(s.task),
            tid: s.tid,
            segments: s.ledger.segments.iter().map(|g| (g.reason, g.length())).collect(),
            served: s.contention.served(),
            served_bytes: s.contention.served_bytes,
            ahead: s.contention.ahead(),
            events,
        }
    }

    /// The slowest operations of the whole recording, and that of each stretch of time; empty if none were recorded.
    pub(super) fn operations(&self) -> Vec<Operation<'a>> {
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

    fn operation(&self, sampled: &SampledOperation) -> Operation<'a> {
        let nodes = &sampled.account.nodes[..];
        let parts = if nodes.len() <= MOST_PARTS { nodes } else { &[] };
        let bars = parts.iter().filter_map(|node| match node.part {
            Part::Leaf(reason) => Some((self.since(node.from), node.length(), node.depth, reason)),
            _ => None,
        });
        let shown = self.shown;
        let events = shown.events.of_operation(sampled).map(|all| {
            let told = all.events.iter().take(self.detail.events);
            let more = all.events.len().saturating_sub(self.detail.events) as u64;
            let rows = told.map(|e| (self.since(e.time), &e.words[..], e.cpu, &e.task[..], e.tid));
            Steps {
                events: rows.collect(),
                events_left_out: all.events_left_out + more,
                events_of_others: all.events_of_other_requests,
            }
        });
        Operation { told: told(sampled, self.at, |t| self.since(t)), bars: bars.collect(), events }
    }
}
