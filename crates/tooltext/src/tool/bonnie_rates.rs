//! The tests of bonnie++, and their rates and latencies as rows.

use crate::output::number::{decimal, quantity, Unit};
use crate::output::reading::Row;
use crate::output::words::Word;

const KIB: f64 = 1024.0;
/// Tests on one file, in the order of the columns.
pub(super) const MEASURED: [&str; 6] =
    ["write by bytes", "write", "rewrite", "read by bytes", "read", "seeks"];
/// Tests on many files, in the order of the columns.
pub(super) const FILES: [&str; 6] =
    ["create", "stat", "delete", "create at random", "stat at random", "delete at random"];

/// Adds a latency: `15012us`, `812ms`.
pub(super) fn put_latency(row: &mut Row, text: &str, word: &Word) {
    if let Some((ns, unit @ Unit::Nanoseconds)) = quantity(text, f64::NAN, Unit::Unstated) {
        row.values.put("lat.max", ns, unit, word.spot);
    }
}

/// A rate and its share of a processor; `None` if invalid. Plus signs or an empty field mean that a value is unknown.
pub(super) fn rates(name: &str, rate: &str, cpu: &str, suffixed: bool, words: [&Word; 2]) -> Option<Row> {
    let mut row = Row::of(name);
    let is_unknown = |text: &str| text.bytes().all(|b| b == b'+');
    let (called, factor, unit) = match name {
        "seeks" => ("iops", 1.0, Unit::PerSecond),
        _ if FILES.contains(&name) => ("files/s", 1.0, Unit::PerSecond),
        _ => ("bw", if suffixed { 1.0 } else { KIB }, Unit::BytesPerSecond),
    };
    if !is_unknown(rate) {
        let (value, _) = quantity(rate, factor, unit).filter(|(_, of)| *of == unit)?;
        row.values.put(called, value, unit, words[0].spot);
    }
    if !is_unknown(cpu) {
        row.values.put("cpu", decimal(cpu)? / 100.0, Unit::Share, words[1].spot);
    }
    Some(row)
}
