//! `slow --json`, schema `iowhy.slow/1`: fields that were shipped keep their names, new ones may be added.

use crate::json::operations::Level;
use crate::operations::{Events, Operation};
use explain::gathered::Gathered;
use explain::{Places, Sent, SlowRequest, SlowestRequests};
use ledger::Ledger;
use life::{Op, Request};
use serde::Serialize;
use stats::SampledOperation;
use trace::{Bytes, Cpu, Nanos, Sector, Tid};

/// The slowest operations or requests, the slowest first.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Slowest<'a> {
    /// The name of this schema.
    schema: &'static str,
    /// Operations, or requests and bios; the slowest first.
    slowest: Vec<Slow<'a>>,
}

/// An operation; or, if only the block layer was recorded, a request, or a bio of a stacked device (md, dm).
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum Slow<'a> {
    Operation(Box<Operation<'a>>),
    Request(RequestRow<'a>),
    Bio(Stacked<'a>),
}

/// A request. Times are those of the recording's clock, in nanoseconds.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SlowRequest"))]
struct RequestRow<'a> {
    /// Always `request`.
    level: Level,
    /// The device's name.
    device: String,
    /// The name of the task that the request belongs to.
    task: &'a str,
    /// The request with the times of its phases.
    request: &'a Request,
    /// Its time, as segments that sum to it.
    ledger: Ledger,
    /// Its events, in the order of time.
    events: Vec<Event<'a>>,
    /// Number of its events beyond those kept.
    events_left_out: u64,
}

/// An event of a request.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RequestEvent"))]
struct Event<'a> {
    /// When it happened, in nanoseconds of the recording's clock.
    time_ns: Nanos,
    /// The action, in blktrace's letters.
    action: &'static str,
    /// The first sector.
    sector: Sector,
    /// The size in bytes.
    bytes: Bytes,
    /// The processor on which it happened.
    cpu: Cpu,
    /// The thread's number (tid).
    tid: Tid,
    /// The name of the thread's task.
    task: &'a str,
}

/// A bio of a stacked device (md, dm).
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Stacked<'a> {
    #[serde(flatten)]
    bio: Bio<'a>,
    /// Always `bio`.
    level: Level,
}

/// A bio, and the bios it sent to the devices below. Times are those of the recording's clock, in nanoseconds.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Bio<'a> {
    /// The device's name.
    device: String,
    /// The name of the task that the bio belongs to.
    task: &'a str,
    /// The number (tid) of the thread that queued it.
    tid: Tid,
    /// The operation, such as a read or a write.
    op: Op,
    /// The first sector.
    sector: Sector,
    /// The size in bytes.
    bytes: Bytes,
    /// The time at which it was queued.
    from_ns: Nanos,
    /// The time at which it was completed.
    to_ns: Nanos,
    /// The time from queued to completed.
    total_ns: Nanos,
    /// Its time, as segments that sum to it.
    ledger: Ledger,
    /// The bios it sent to the devices below, in the order in which they were queued.
    below: Vec<Bio<'a>>,
    /// Number of bios below beyond those kept.
    below_left_out: u64,
}

/// The slowest operations, with their events if those were gathered.
pub fn slowest_operations<'a>(
    all: &'a [SampledOperation],
    events: Option<&'a Events>,
    places: &Places,
) -> Slowest<'a> {
    let one = |(at, sampled)| {
        let events = events.and_then(|e| e.gathered(at));
        Slow::Operation(Box::new(Operation::of(sampled, places, events)))
    };
    Slowest { schema: "iowhy.slow/1", slowest: all.iter().enumerate().map(one).collect() }
}

/// The slowest requests, and bios of stacked devices.
pub fn slowest_requests<'a>(slowest: &'a SlowestRequests, places: &Places) -> Slowest<'a> {
    let one = |(slow, gathered): (&'a SlowRequest, Option<&'a Gathered>)| match slow {
        SlowRequest::Request(request, task) => Slow::Request(told(request, task, gathered, places)),
        SlowRequest::Stacked(sent) => Slow::Bio(Stacked { bio: bio(sent, places), level: Level::Bio }),
    };
    Slowest { schema: "iowhy.slow/1", slowest: slowest.all().map(one).collect() }
}

fn told<'a>(
    request: &'a Request,
    task: &'a str,
    gathered: Option<&'a Gathered>,
    places: &Places,
) -> RequestRow<'a> {
    let events = gathered.into_iter().flat_map(|g| &g.events).map(|(e, task)| Event {
        time_ns: e.time,
        action: e.action.letters(),
        sector: e.sector,
        bytes: e.bytes,
        cpu: e.cpu,
        tid: e.tid,
        task,
    });
    RequestRow {
        level: Level::Request,
        device: places.device(request.dev),
        task,
        request,
        ledger: Ledger::of(&request.time),
        events: events.collect(),
        events_left_out: gathered.map_or(0, |g| g.left_out),
    }
}

fn bio<'a>(sent: &'a Sent, places: &Places) -> Bio<'a> {
    let b = &sent.bio;
    Bio {
        device: places.device(b.dev),
        task: &sent.task,
        tid: b.tid,
        op: b.op,
        sector: b.start,
        bytes: b.bytes,
        from_ns: b.time.start(),
        to_ns: b.time.completed,
        total_ns: sent.total(),
        ledger: Ledger::of_bio(b),
        below: sent.below.iter().map(|s| bio(s, places)).collect(),
        below_left_out: sent.left_out,
    }
}
