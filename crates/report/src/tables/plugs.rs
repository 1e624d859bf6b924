//! Plugs: how tasks held requests back to send them together.

use super::table::{columns, Table, Value};
use super::view::View;

/// Table `plugs`, per device and task, because a plug belongs to a task; btt has one row per device.
pub(super) fn plugs(v: &View) -> Table {
    let cols = columns([
        ("device", "device"),
        ("task", "task"),
        ("unplugs", "unplugs"),
        ("unplugs_implicit", "asleep"),
        ("requests_per_unplug", "requests each"),
        ("requests_per_implicit_unplug", "each, asleep"),
        ("held_total_ns", "held total"),
        ("held_mean_ns", "mean"),
        ("held_p50_ns", "p50"),
        ("held_p99_ns", "p99"),
        ("held_max_ns", "max"),
    ]);
    let mut t = Table::new("plugs", "how tasks plugged requests to send them together", &cols);
    for device in v.devices() {
        for (task, p) in device.plugs.iter().filter(|(task, _)| v.shows_task(**task)) {
            let each = |requests: u64, unplugs: u64| match unplugs {
                0 => Value::None,
                n => Value::Number(requests as f64 / n as f64),
            };
            let total = u64::try_from(p.held.sum()).unwrap_or(u64::MAX);
            let mut row = vec![
                v.name(device.id),
                v.task_name(*task),
                Value::Count(p.explicit),
                Value::Count(p.implicit),
                each(p.requests[0], p.explicit),
                each(p.requests[1], p.implicit),
            ];
            let h = p.held.summary();
            row.extend([total, h.mean, h.p50, h.p99, h.max].map(|t| match p.held.count() {
                0 => Value::None,
                _ => Value::Time(t),
            }));
            t.row(row);
        }
    }
    t.notes.push("asleep: unplugged because the task went to sleep (UT, which btt calls a timer).".into());
    t
}
