//! Reads `iostat -o JSON` (sysstat's `json_print_ext_disk_stats`, iostat.c): its names are those of the table's columns, except that
//! the percentages `%rrqm` and `%util` are named `rrqm` and `util`.
//!
//! ```text
//! {"sysstat": {"hosts": [ {"nodename": "db1", "release": "6.1.0", "statistics": [
//!   {"avg-cpu": {"user": 1.00, "iowait": 76.50, "idle": 20.50},
//!    "disk": [ {"disk_device": "sda", "r/s": 12.00, "rkB/s": 1500.00, "r_await": 10.50, "aqu-sz": 3.75, "util": 88.40} ]} ]} ]}}
//! ```
//!
//! Supports short (`tps`) and extended statistics.
//!
//! **Versions**: sysstat 11.5.1, its first, to 12.7; 12.6.1 run.

use super::json::{field, fields, items, number, text, Document, Value};
use crate::output::machine::Machine;
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::run::Run;
use crate::tool::iostat_column;

/// The machines of the hosts in a document.
pub(super) fn machines(d: &Document, value: Value) -> Vec<Machine> {
    let top = field(&fields(value), "sysstat").map_or(vec![], fields);
    let one = |host: Value| {
        let named = |name: &str| field(&fields(host), name).map(text);
        Some(Machine { kernel: named("release")?, host: named("nodename"), at: d.at(host) })
    };
    field(&top, "hosts").map_or(vec![], items).into_iter().filter_map(one).collect()
}

/// A run per host, with a reading for each interval. `None` if it is not iostat's.
pub(super) fn runs(d: &Document, value: Value) -> Option<Vec<Run>> {
    let top = fields(field(&fields(value), "sysstat")?);
    let mut runs = vec![];
    for host in field(&top, "hosts").map_or(vec![], items) {
        let host = fields(host);
        let named = |name: &str| field(&host, name).map(text).unwrap_or_default();
        let intervals = field(&host, "statistics").map_or(vec![], items);
        let readings = intervals.into_iter().flat_map(|i| readings(d, i)).collect();
        let label = format!("iostat on {}, {} {}", named("nodename"), named("sysname"), named("release"));
        runs.extend(Run::of_readings(label, readings));
    }
    Some(runs)
}

fn readings(d: &Document, interval: Value) -> Vec<Reading> {
    let all = fields(interval);
    let mut readings = vec![];
    if let Some(cpu) = field(&all, "avg-cpu") {
        let mut row = Row::of("cpu");
        for (name, value) in fields(cpu) {
            if let Some(v) = number(value) {
                row.values.put(name, v * 0.01, Unit::Share, d.at(value));
            }
        }
        readings.push(Reading { tool: "iostat", at: d.at(cpu), rows: vec![row], ..Reading::default() });
    }
    if let Some(disks) = field(&all, "disk") {
        let rows = items(disks).into_iter().map(|disk| disk_row(d, disk)).collect();
        readings.push(Reading { tool: "iostat", at: d.at(disks), rows, ..Reading::default() });
    }
    readings
}

fn disk_row(d: &Document, disk: Value) -> Row {
    let all = fields(disk);
    let mut row = Row::of(field(&all, "disk_device").map(text).unwrap_or_default());
    for (name, value) in &all {
        let percent = format!("%{name}");
        let column = match name.as_ref() {
            "util" | "rqm" | "rrqm" | "wrqm" | "drqm" => iostat_column(&percent),
            name => iostat_column(name),
        };
        if let Some(((_, to, factor, unit), v)) = column.zip(number(value)) {
            row.values.put(*to, v * factor, *unit, d.at(value));
        }
    }
    row
}
