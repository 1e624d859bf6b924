//! What the page's pictures are drawn from: schema `iowhy.page/1`, read by `page/src/data.ts` and by nothing else.
//!
//! Times are in nanoseconds since the first event. Numbers that `explain --json` has are that object itself; rows of
//! numbers are [packed](super::pack).

mod findings;
mod groups;
mod machine;
mod places;
mod slow;
mod spread;

use super::detail::Detail;
use super::{PageInput, Shown};
use crate::json::{to_json_of, Explained};
use explain::pictured;
use explain::Places;
use ledger::Reason;
use serde::Serialize;
use stats::OpKey;
use trace::{DevId, Nanos};

/// What the page of `iowhy report --html` and `iowhy view` draws, in its element `#data`. Times are in nanoseconds since the first
/// event, packed texts are numbers in LEB128 (seven bits a byte, the lowest first, the top bit saying that more follow) as base64.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Page<'a> {
    /// The name of this schema.
    schema: &'static str,
    /// The program's version.
    version: &'static str,
    /// What operations waited for, each its name and the same in words, in the order to which numbers elsewhere refer, counted from 1.
    reasons: Vec<(Reason, &'static str)>,
    /// The recordings, in the order in which they were given.
    captures: Vec<Drawn<'a>>,
}

/// A recording.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Drawn<'a> {
    /// What it is called.
    label: &'a str,
    /// The answer: the same object as `explain --json` prints (iowhy.explain/2), long lists cut to what the page shows.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    explain: Explained<'a>,
    /// How long it is.
    span_ns: Nanos,
    /// Two to the power of this is how many nanoseconds a column of the time axes stands for.
    step_shift: u32,
    /// What is drawn over time: kinds of operations, and requests by device and class.
    groups: Vec<groups::Group>,
    /// What the kernel did on its own with a device: writeback, the journal.
    behind: Vec<groups::Kernel>,
    /// The causes that were found, and which moments are theirs.
    findings: Vec<findings::Finding>,
    /// Which task touched which part of a device when.
    places: Vec<places::Device>,
    /// The slowest requests, of all and of each stretch of time.
    slow: Vec<slow::Request<'a>>,
    /// The slowest operations, of all and of each stretch of time.
    operations: Vec<slow::Operation<'a>>,
    /// How latencies are spread over the whole recording.
    latency: Vec<spread::Spread>,
    /// How large requests are.
    sizes: Vec<spread::Sizes>,
    /// Settings of the devices and of the machine.
    settings: Vec<machine::Settings>,
    /// Seconds in which events were lost: from, to, how many, on which device.
    losses: Vec<(i64, i64, u64, String)>,
    /// What the kernel counted each second.
    memory: machine::Memory,
    /// How good the data is: what, how many, what that means.
    quality: Vec<(&'static str, Option<u64>, String)>,
    /// What is not in the page, a sentence each.
    left_out: Vec<String>,
}

/// The captures as the page reads them.
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

struct Data<'a> {
    shown: &'a Shown,
    detail: Detail,
    from: Nanos,
    at: &'a Places,
}

impl Data<'_> {
    /// Since the first event; a column may begin before it.
    fn since(&self, t: Nanos) -> i64 {
        (i128::from(t.0) - i128::from(self.from.0)).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// The devices that are shown.
    fn devices(&self) -> Vec<DevId> {
        let mut all = pictured::devices(&self.shown.explanation);
        all.truncate(self.detail.devices);
        all
    }

    /// Kinds of operations that are shown.
    fn kinds(&self) -> Vec<OpKey> {
        let mut all = pictured::kinds(&self.shown.explanation);
        all.truncate(self.detail.kinds);
        all
    }

    /// What is not in the page, in words.
    fn left_out(&self) -> Vec<String> {
        let mut words = vec![];
        let facts = &self.shown.explanation.facts;
        let devices = facts.devices.iter().filter(|d| d.has_io()).count();
        if devices > self.detail.devices {
            words.push(format!(
                "{} of {devices} devices are drawn, those with the most I/O",
                self.detail.devices
            ));
        }
        if self.shown.pictures.left_out > 0 {
            let n = units::words::count(self.shown.pictures.left_out);
            words.push(format!("{n} requests or operations of further devices and kinds are in no picture"));
        }
        if self.detail != Detail::FULL {
            words.push("times are drawn more coarsely than they were kept, to keep this page small".into());
        }
        words
    }
}
