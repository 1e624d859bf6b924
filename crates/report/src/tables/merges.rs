//! How bios became requests: merges, splits and sizes.

use super::table::{columns, Table, Value};
use super::view::View;
use stats::Distribution;

/// Table `merges`. btt's `#Q` counts requeues as well, and is raised to `#D` where splits made it smaller.
pub(super) fn merges(v: &View) -> Table {
    let cols = columns([
        ("device", "device"),
        ("bios", "bios #Q"),
        ("merged", "merged"),
        ("splits", "splits"),
        ("issued", "issued #D"),
        ("ratio", "#Q/#D"),
        ("size_min_bytes", "size min"),
        ("size_mean_bytes", "mean"),
        ("size_p50_bytes", ""),
        ("size_max_bytes", "max"),
        ("size_total_bytes", "total"),
        ("contiguous", "in sequence"),
    ]);
    let mut t = Table::new("merges", "bios for each request, and how large requests were when issued", &cols);
    for device in v.devices() {
        let bios: u64 = device.bios.iter().map(|b| b.phases.count).sum();
        let merged: u64 = device.bios.iter().map(|b| b.merged).sum();
        let issued: u64 = device.traffic.issues.iter().sum();
        if bios == 0 && issued == 0 {
            continue;
        }
        let mut sizes = Distribution::new();
        device.traffic.issue_sizes.iter().for_each(|d| sizes.merge(d));
        let flushes = device.bios[life::Class::Flush.index()].phases.count;
        let with_data = bios - flushes;
        let mut row = vec![
            v.name(device.id),
            Value::Count(with_data),
            Value::Count(merged),
            Value::Count(device.traffic.splits),
        ];
        if issued > 0 {
            let s = sizes.summary();
            let total = u64::try_from(sizes.sum()).unwrap_or(u64::MAX);
            row.push(Value::Count(issued));
            row.push(Value::Number(with_data as f64 / issued as f64));
            row.extend([s.min, s.mean, s.p50, s.max, total].map(Value::Size));
            row.push(Value::Share(device.traffic.contiguous.iter().sum::<u64>() as f64 / issued as f64));
        } else {
            row.extend(vec![Value::None; 8]);
        }
        t.row(row);
    }
    t.notes
        .push("Bios and requests of no bytes (flushes) are left out. A ratio below 1 means splits.".into());
    t
}
