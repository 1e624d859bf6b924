//! Seek distances between consecutive I/Os.

use super::table::{columns, Table, Value};
use super::view::View;
use stats::Seeks;
use trace::SECTOR_BYTES;

/// Table `seeks`. Distances are in bytes; btt shows sectors of 512 bytes.
pub(super) fn seeks(v: &View) -> Table {
    let cols = columns([
        ("device", "device"),
        ("between", "between"),
        ("seeks", "seeks"),
        ("sequential", "in sequence"),
        ("mean_bytes", "mean"),
        ("median_bytes", "median"),
        ("p99_bytes", "p99"),
        ("max_bytes", "max"),
        ("mode_bytes", "mode"),
        ("mode_count", "seen"),
    ]);
    let title = "distances, from the nearer end of the last one; 0 where they touch or overlap";
    let mut t = Table::new("seeks", title, &cols);
    for device in v.devices() {
        let Some(more) = v.details.device(device.id) else { continue };
        for (between, plain, seeks) in
            [("Q2Q", "bios queued", &more.q2q_seeks), ("D2D", "requests issued", &more.d2d_seeks)]
        {
            if seeks.count() > 0 {
                let row = [v.name(device.id), Value::Term(between, plain)].into_iter().chain(numbers(seeks));
                t.row(row.collect());
            }
        }
    }
    t.notes.push("mode: the most frequent distance, if there surely is one, and how often at least.".into());
    t
}

fn numbers(s: &Seeks) -> Vec<Value> {
    let bytes = |sectors: u64| Value::Size(sectors.saturating_mul(SECTOR_BYTES));
    let (mode, seen) =
        s.mode().map_or((Value::None, Value::None), |m| (bytes(m.distance), Value::Count(m.at_least)));
    vec![
        Value::Count(s.count()),
        Value::Share(s.sequential() as f64 / s.count() as f64),
        Value::Size((s.mean() * SECTOR_BYTES as f64) as u64),
        bytes(s.median()),
        bytes(s.distances().quantile(0.99)),
        bytes(s.distances().max()),
        mode,
        seen,
    ]
}
