//! The activity of devices: queue depth, active and idle periods, and the time of bios from queue to issue.

use super::table::{columns, Column, Table, Value};
use super::view::View;
use stats::{Activity, Depth, Q2D_STEPS_MS};

/// Queue depths for which the table shows how much of the time the depth was at least that.
const DEPTHS: [u64; 6] = [1, 2, 8, 32, 128, 512];

/// Table `depth`.
pub(super) fn depth(v: &View) -> Table {
    let cols = columns([
        ("device", "device"),
        ("mean", "mean"),
        ("max", "max"),
        ("at_least_1", ">=1"),
        ("at_least_2", ">=2"),
        ("at_least_8", ">=8"),
        ("at_least_32", ">=32"),
        ("at_least_128", ">=128"),
        ("at_least_512", ">=512"),
        ("waiting_mean", "waiting at Q"),
        ("waiting_p50", "p50"),
        ("waiting_p99", "p99"),
        ("waiting_max", "max"),
    ]);
    let title =
        "requests in the device (mean, part of the time at each depth); bios waiting when one is queued";
    let mut t = Table::new("depth", title, &cols);
    for device in v.devices().filter(|d| d.has_requests()) {
        let d: &Depth = &device.depth;
        let mut row = vec![v.name(device.id), Value::Number(d.mean()), Value::Count(d.max())];
        let observed = d.observed().0.max(1) as f64;
        row.extend(DEPTHS.map(|n| match n <= d.max() {
            true => Value::Share(d.at_least(n).0 as f64 / observed),
            false => Value::None,
        }));
        row.extend(match v.details.device(device.id).map(|d| &d.waiting_at_queue) {
            Some(w) if !w.is_empty() => vec![
                Value::Number(w.mean()),
                Value::Count(w.quantile(0.5)),
                Value::Count(w.quantile(0.99)),
                Value::Count(w.max()),
            ],
            _ => vec![Value::None; 4],
        });
        t.row(row);
    }
    t
}

/// Table `activity`.
pub(super) fn activity(v: &View) -> Table {
    let cols = columns([
        ("device", "device"),
        ("periods", "active periods"),
        ("active_mean_ns", "mean"),
        ("active_p50_ns", "p50"),
        ("active_p99_ns", "p99"),
        ("active_max_ns", "max"),
        ("idle_mean_ns", "idle mean"),
        ("idle_p50_ns", "p50"),
        ("idle_p99_ns", "p99"),
        ("idle_max_ns", "max"),
        ("active_share", "active"),
    ]);
    let mut t =
        Table::new("activity", "periods in which a device had a request, and the idle ones between", &cols);
    let mut shown = 0;
    for device in v.devices() {
        if let Some(d) = v.details.device(device.id).filter(|d| !d.activity.active().is_empty()) {
            t.row(activity_row(v.name(device.id), &d.activity));
            shown += 1;
        }
    }
    if shown > 1 && v.has_all_devices() {
        t.row(activity_row(Value::Text("all".into()), v.details.activity()));
    }
    t
}

fn activity_row(who: Value, a: &Activity) -> Vec<Value> {
    let mut row = vec![who, Value::Count(a.active().count())];
    for d in [a.active(), a.idle()] {
        let s = d.summary();
        row.extend([s.mean, s.p50, s.p99, s.max].map(|t| match d.is_empty() {
            true => Value::None,
            false => Value::Time(t),
        }));
    }
    row.push(Value::Share(a.share()));
    row
}

/// Table `q2d`.
pub(super) fn q2d(v: &View) -> Table {
    const KEYS: [(&str, &str); 10] = [
        ("below_5_ms", "<5ms"),
        ("below_10_ms", "<10"),
        ("below_25_ms", "<25"),
        ("below_50_ms", "<50"),
        ("below_75_ms", "<75"),
        ("below_100_ms", "<100"),
        ("below_250_ms", "<250"),
        ("below_500_ms", "<500"),
        ("below_1_s", "<1s"),
        ("from_1_s", ">=1s"),
    ];
    const _: () = assert!(KEYS.len() == Q2D_STEPS_MS.len() + 1);
    let lead = columns([("device", "device"), ("bios", "bios")]);
    let tail = columns([("p50_ns", "p50"), ("p99_ns", "p99"), ("p999_ns", "p99.9"), ("max_ns", "max")]);
    let cols: Vec<Column> = lead.into_iter().chain(columns(KEYS)).chain(tail).collect();
    let mut t = Table::new("q2d", "time of bios from queue to issue", &cols);
    for device in v.devices() {
        let Some(d) = v.details.device(device.id).filter(|d| !d.q2d.is_empty()) else { continue };
        let mut row = vec![v.name(device.id), Value::Count(d.q2d.count())];
        row.extend(d.q2d_steps.map(|n| Value::Share(n as f64 / d.q2d.count() as f64)));
        let s = d.q2d.summary();
        row.extend([s.p50, s.p99, s.p999, s.max].map(Value::Time));
        t.row(row);
    }
    t
}
