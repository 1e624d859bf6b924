//! The data of the page's pictures: schema `iowhy.page/1`, read only by `page/src/data.ts`.
//!
//! Times are in nanoseconds since the first event. The object of `explain --json` is included as it is; rows of numbers are
//! [packed](super::pack).

mod findings;
mod groups;
mod input;
mod machine;
mod places;
mod slow;
mod spread;

use super::detail::Detail;
use super::shown::PageInput;
use crate::json::explained::Explained;
use crate::json::to_json_of;
use input::Data;
use ledger::Reason;
use serde::Serialize;
use trace::Nanos;

/// What the page of `iowhy report --html` and `iowhy view` draws, in its element `#data`. Times are in nanoseconds since the first
/// event, packed texts are numbers in LEB128 (seven bits a byte, the lowest first, the top bit saying that more follow) as base64.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Page<'a> {
    /// The name of this schema.
    schema: &'static str,
    /// The program's version.
    version: &'static str,
    /// The reasons for waits, each with its name and the same in words; numbers elsewhere refer to this order, counted from 1.
    reasons: Vec<(Reason, &'static str)>,
    /// The recordings, in the order in which they were given.
    captures: Vec<Drawn<'a>>,
}

/// The data of a recording.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Drawn<'a> {
    /// The recording's name on the page.
    label: &'a str,
    /// The answer: the same object as `explain --json` prints (iowhy.explain/2), long lists cut to what the page shows.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    explain: Explained<'a>,
    /// The length of the recording.
    span_ns: Nanos,
    /// The width of a column of the time axes: two to the power of this, in nanoseconds.
    step_shift: u32,
    /// The rows over time: kinds of operations, and requests by device and class.
    groups: Vec<groups::Group>,
    /// I/O that the kernel did on its own with a device: writeback, the journal.
    behind: Vec<groups::Kernel>,
    /// The causes found, each with the moments where it shows.
    findings: Vec<findings::Finding>,
    /// I/O by place on the device, time and task.
    places: Vec<places::Device>,
    /// The slowest requests, of the whole recording and of each stretch of time.
    slow: Vec<slow::Request<'a>>,
    /// The slowest operations, of the whole recording and of each stretch of time.
    operations: Vec<slow::Operation<'a>>,
    /// Distributions of latencies over the whole recording.
    latency: Vec<spread::Spread>,
    /// Distributions of the requests' sizes.
    sizes: Vec<spread::Sizes>,
    /// Settings of the devices and of the machine.
    settings: Vec<machine::Settings>,
    /// Seconds in which events were lost, as start, end, number of events and device.
    losses: Vec<(i64, i64, u64, String)>,
    /// The kernel's counters over time.
    memory: machine::Memory,
    /// The quality of the data, each row as name, count and meaning.
    quality: Vec<(&'static str, Option<u64>, String)>,
    /// What the page leaves out, one sentence each.
    left_out: Vec<String>,
}

/// The data of all captures, with at most this detail.
pub fn page<'a>(captures: &'a [PageInput], detail: Detail) -> Page<'a> {
    Page {
        schema: "iowhy.page/1",
        version: env!("CARGO_PKG_VERSION"),
        reasons: Reason::ALL.iter().map(|r| (*r, r.words())).collect(),
        captures: captures.iter().map(|told| drawn(told, detail)).collect(),
    }
}

fn drawn<'a>(told: &'a PageInput, detail: Detail) -> Drawn<'a> {
    let (shown, at) = (told.shown, &told.places);
    let data = Data { shown, detail, from: at.began, at };
    let shift = data.shift();
    Drawn {
        label: &shown.label,
        explain: to_json_of(&shown.explanation, &told.answer).cut(detail.rows),
        span_ns: shown.explanation.duration(),
        step_shift: shift,
        groups: data.groups(shift),
        behind: data.behind(shift),
        findings: data.findings(),
        places: data.places(),
        slow: data.slow(),
        operations: data.operations(),
        latency: data.latency(),
        sizes: data.sizes(),
        settings: data.settings(),
        losses: data.losses(),
        memory: data.memory(),
        quality: data.quality(),
        left_out: data.left_out(),
    }
}
