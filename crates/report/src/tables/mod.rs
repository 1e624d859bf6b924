//! The tables of `iowhy report`: all numbers of a recording, while `explain` shows the answer. Every table of `btt -A`
//! has its counterpart here (docs/btt.md lists them), with percentiles.

mod activity;
mod blame;
mod groups;
mod iostat;
mod merges;
mod phases;
mod plugs;
mod seconds;
mod seeks;
mod sent_for;
mod serving;
mod spread;
mod table;
mod totals;
mod trust;
mod view;

use crate::json::explained::Capture;
use crate::json::quality::Quality;
use explain::Explanation;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use stats::Details;
pub use table::Table;
use view::View;

/// A table that can be selected.
pub struct Kind {
    /// The name by which it is selected.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// Whether it can be filtered by task.
    pub by_task: bool,
    /// A table that always brings this one with it: it shows the same from another side.
    beside: Option<&'static str>,
    make: fn(&View) -> Table,
}

/// All tables, in the order in which they are shown.
pub const KINDS: [Kind; 25] = [
    kind("totals", "bios and requests by operation: how many, how much", false, totals::totals),
    kind("blame", "who waits for whom: time lost by victim (by culprit: table costs)", true, blame::blame),
    Kind {
        beside: Some("blame"),
        ..kind("costs", "time lost by culprit: whom it cost how much", true, blame::costs)
    },
    kind("device", "time by phase of each device (btt: Per Device, All Devices)", false, phases::by_device),
    kind("task", "time by phase of each task (btt: Per Process)", true, phases::by_task),
    kind("overhead", "each phase as a part of Q2C (btt: Device Overhead)", false, phases::overhead),
    kind("op", "requests by operation", true, groups::by_op),
    kind("flags", "requests by flags: sync, meta, read-ahead, FUA, preflush", true, groups::by_flags),
    kind("size", "requests by size", true, groups::by_size),
    kind("merges", "bios for each request, sizes (btt: Device Merge Information)", false, merges::merges),
    kind("seeks", "distances (btt: Device Q2Q and D2D Seek Information)", false, seeks::seeks),
    kind("writers", "whose data was written back, whose changes journals wrote", false, sent_for::writers),
    kind("plugs", "plugging by task (btt: Plug Information)", true, plugs::plugs),
    kind(
        "depth",
        "requests in the device, and how many waited (btt: Active Requests)",
        false,
        activity::depth,
    ),
    kind("serving", "how many requests each device serves at once", false, serving::serving),
    kind(
        "activity",
        "active and idle periods (btt: I/O Active Period Information)",
        false,
        activity::activity,
    ),
    kind("q2d", "time from queue to issue in btt's steps (btt: Q2D Histogram)", false, activity::q2d),
    kind("seconds", "rates of each second (btt -I, iostat -x)", false, seconds::seconds),
    kind("iostat", "what the kernel counted each second, as iostat -x shows it", false, iostat::iostat),
    kind("cpu", "use of the processors each second", false, iostat::cpu),
    kind("pressure", "dirty pages, and stalled tasks (PSI), each second", false, iostat::pressure),
    kind("messages", "the kernel's messages (btt: .msg)", false, trust::messages),
    kind("events", "events by action (blkparse's summary)", false, totals::events),
    kind("losses", "events lost, by device, CPU and second", false, trust::losses),
    kind("unmatched", "unmatched events", false, trust::unmatched),
];

const fn kind(name: &'static str, about: &'static str, by_task: bool, make: fn(&View) -> Table) -> Kind {
    Kind { name, about, by_task, beside: None, make }
}

/// The tables and tasks that were selected.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Names of tables in [`KINDS`]; empty: all.
    pub tables: Vec<String>,
    /// Names of tasks; empty: all.
    pub tasks: Vec<String>,
}

/// Tables that come from the table of waits, and so can be filtered by everything.
const OF_WAITS: [&str; 2] = ["blame", "costs"];

/// Makes the selected tables, without empty ones. `Err` names a table that does not exist or cannot be filtered so.
pub fn tables(e: &Explanation, details: &Details, wanted: &Selection) -> Result<Vec<Table>, String> {
    let view = View { e, details, tasks: &wanted.tasks };
    let told = |k: &&Kind| match (e.asks_of_waits(), view.tasks.is_empty()) {
        (true, _) => OF_WAITS.contains(&k.name),
        (_, is_of_all) => is_of_all || k.by_task,
    };
    for name in &wanted.tables {
        let Some(kind) = KINDS.iter().find(|k| k.name == name) else {
            let all: Vec<&str> = KINDS.iter().map(|k| k.name).collect();
            return Err(format!("unknown table {name}; there are {}", all.join(", ")));
        };
        if !told(&kind) {
            let all: Vec<&str> = KINDS.iter().filter(told).map(|k| k.name).collect();
            let asked = if e.asks_of_waits() { "what is asked" } else { "task" };
            return Err(format!("{name} cannot be filtered by {asked}; these can: {}", all.join(", ")));
        }
    }
    let is = |k: &Kind, t: &str| t == k.name || k.beside == Some(t);
    let asked = |k: &&Kind| wanted.tables.is_empty() || wanted.tables.iter().any(|t| is(k, t));
    let made = KINDS.iter().filter(asked).filter(told).map(|k| (k.make)(&view));
    Ok(made.filter(|t| !t.is_empty()).collect())
}

/// The tables as text, separated by empty lines.
pub fn tables_text(tables: &[Table]) -> String {
    tables.iter().map(Table::text).collect::<Vec<_>>().join("\n")
}

/// The tables of `iowhy report`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// The name of this schema.
    schema: &'static str,
    /// The recording that was read.
    capture: Capture,
    /// What was lost, damaged or out of order.
    quality: Quality,
    /// Rows by name of the table (`iowhy report --help` lists the tables); each row by column.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "std::collections::BTreeMap<String, Vec<std::collections::BTreeMap<String, table::Value>>>"
        )
    )]
    tables: Map<String, Json>,
}

/// The tables as one object, schema `iowhy.report/1`: the recording and its quality as in `explain --json`, and rows by
/// name of the table.
pub fn tables_json(e: &Explanation, tables: &[Table]) -> Report {
    let tables = tables.iter().map(|t| (t.name.to_string(), t.json())).collect();
    Report { schema: "iowhy.report/1", capture: Capture::of(e), quality: Quality::of(e), tables }
}
