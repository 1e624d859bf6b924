//! Tables of the kernel's counters in each interval: `iostat -x`, use of the processors, dirty pages, pressure.
//!
//! The numbers come from `samples.jsonl`, not from events: they exist even if events were lost, and include I/O that was in
//! flight before the recording began. Terms are sysstat's.

use super::table::{columns, Table, Value};
use super::view::View;
use evidence::{CpuUse, Interval, Iostat, Rates};
use trace::Nanos;

/// Table `iostat`: one row for each device, interval and operation; idle devices and operations are left out.
pub(super) fn iostat(v: &View) -> Table {
    let cols = columns([
        ("device", "device"),
        ("from_s", "from s"),
        ("seconds", ""),
        ("op", "op"),
        ("per_s", "/s"),
        ("bytes_per_s", "data/s"),
        ("merged_per_s", "rqm/s"),
        ("merged_share", "%rqm"),
        ("await_ns", "await"),
        ("request_bytes", "areq-sz"),
        ("queue", "aqu-sz"),
        ("util", "%util"),
    ]);
    let title =
        "what iostat -x shows: r/s rkB/s rrqm/s %rrqm r_await rareq-sz, the same of w, d and f, aqu-sz %util";
    let mut t = Table::new("iostat", title, &cols);
    let samples = &v.e.subject.samples;
    for name in samples.active_disks() {
        if !v.shows_name(&name) {
            continue;
        }
        for interval in &samples.intervals {
            let Some(disk) = interval.disks.get(&name).filter(|d| !d.is_idle()) else { continue };
            let io = Iostat::from(disk);
            let seconds = interval.to.since(interval.from).seconds();
            let lead = || vec![Value::Text(name.to_string()), since(v, interval), Value::Number(seconds)];
            let mut device = [Value::Number(io.queue), Value::Share(io.util_percent / 100.0)];
            let ops = [
                ("read", Some(io.read)),
                ("write", Some(io.write)),
                ("discard", io.discard),
                ("flush", io.flush),
            ];
            let before = t.len();
            for (op, rates) in ops {
                let Some(rates) = rates.filter(|r| r.per_s > 0.0) else { continue };
                // Queue and utilization belong to the device: only its first row has them.
                let device = std::mem::replace(&mut device, [Value::None, Value::None]);
                t.row([lead(), vec![Value::Text(op.into())], numbers(op, &rates), device.to_vec()].concat());
            }
            if t.len() == before {
                let none = vec![Value::Text("none ended".into())];
                t.row([lead(), none, vec![Value::None; 6], device.to_vec()].concat());
            }
        }
    }
    if !t.is_empty() {
        t.notes = samples.quality.notes();
    }
    t
}

fn numbers(op: &str, r: &Rates) -> Vec<Value> {
    let kib = |n: f64| Value::Size((n * 1024.0).round() as u64);
    let flush = op == "flush";
    let unless_flush = |value: Value| if flush { Value::None } else { value };
    vec![
        Value::Number(r.per_s),
        unless_flush(kib(r.kib_per_s)),
        unless_flush(Value::Number(r.merged_per_s)),
        unless_flush(Value::Share(r.merged_percent / 100.0)),
        Value::Time((r.await_ms * 1e6).round() as u64),
        unless_flush(kib(r.request_kib)),
    ]
}

/// Table `cpu`: the use of all processors together, and of the busiest one.
pub(super) fn cpu(v: &View) -> Table {
    let cols = columns([
        ("from_s", "from s"),
        ("user", "user"),
        ("nice", "nice"),
        ("system", "system"),
        ("irq", "irq"),
        ("iowait", "iowait"),
        ("steal", "steal"),
        ("idle", "idle"),
        ("busiest", "busiest"),
        ("busiest_share", "of it"),
    ]);
    let mut t = Table::new("cpu", "use of all processors, and how busy the busiest was", &cols);
    for interval in &v.e.subject.samples.intervals {
        let Some(all) = interval.cpus.get("cpu").filter(|c| c.total() > 0) else { continue };
        let share = |ticks: u64| Value::Share(all.share(ticks));
        let work = |c: &CpuUse| 1.0 - c.share(c.idle) - c.share(c.iowait);
        let each = interval.cpus.iter().filter(|(name, c)| &***name != "cpu" && c.total() > 0);
        let busiest = each.map(|(name, c)| (name, work(c))).max_by(|a, b| a.1.total_cmp(&b.1));
        let (name, most) = match busiest {
            Some((name, most)) => (Value::Text(name.to_string()), Value::Share(most)),
            None => (Value::None, Value::None),
        };
        let parts = [all.user, all.nice, all.system, all.irq + all.softirq, all.iowait, all.steal, all.idle]
            .map(share);
        t.row([vec![since(v, interval)], parts.to_vec(), vec![name, most]].concat());
    }
    t
}

/// Table `pressure`: dirty pages and pages under writeback, and how long tasks were stalled (PSI).
pub(super) fn pressure(v: &View) -> Table {
    let cols = columns([
        ("from_s", "from s"),
        ("running", "running"),
        ("blocked", "blocked"),
        ("dirty_bytes", "dirty"),
        ("writeback_bytes", "writeback"),
        ("io_some", "io some"),
        ("io_full", "io full"),
        ("memory_some", "mem some"),
        ("memory_full", "mem full"),
        ("cpu_some", "cpu some"),
    ]);
    let title = "tasks and dirty pages at the end of each interval, and the part of it in which some or all tasks were stalled";
    let mut t = Table::new("pressure", title, &cols);
    for interval in &v.e.subject.samples.intervals {
        let time = interval.to.since(interval.from);
        let size = |b: Option<trace::Bytes>| b.map_or(Value::None, |b| Value::Size(b.0));
        let part =
            |n: Option<Nanos>| n.map_or(Value::None, |n| Value::Share(n.0 as f64 / time.0.max(1) as f64));
        let s = &interval.stalled;
        let stalled = [s.io_some, s.io_full, s.memory_some, s.memory_full, s.cpu_some].map(part);
        let tasks = [Value::Count(interval.running), Value::Count(interval.blocked)];
        let pages = [size(interval.dirty), size(interval.writeback)];
        t.row([vec![since(v, interval)], tasks.to_vec(), pages.to_vec(), stalled.to_vec()].concat());
    }
    t
}

/// The start of an interval in seconds since the first event, or since the first sample if the trace has another clock.
fn since(v: &View, interval: &Interval) -> Value {
    let samples = v.e.subject.samples.span().unwrap_or_default();
    let origin = match v.e.facts.flow.span {
        Some((first, last)) if first <= samples.1 && samples.0 <= last => first,
        _ => samples.0,
    };
    Value::Number((interval.from.0 as f64 - origin.0 as f64) / 1e9)
}
