//! I/O completed in each second, as `iostat -x` would have shown it.

use super::table::{columns, Table, Value};
use super::view::View;
use life::Class;
use stats::Second;
use trace::Nanos;

/// Table `seconds`. By Little's law, the mean queue depth is the time of all I/Os completed in a step over the step.
/// There is no `svctm`: for a device that serves several requests at once it means nothing, and iostat has dropped it.
pub(super) fn seconds(v: &View) -> Table {
    let cols = columns([
        ("device", "device"),
        ("from_s", "from s"),
        ("reads_per_s", "reads/s"),
        ("read_bytes_per_s", "read/s"),
        ("read_mean_ns", "mean Q2C"),
        ("writes_per_s", "writes/s"),
        ("write_bytes_per_s", "written/s"),
        ("write_mean_ns", "mean Q2C"),
        ("flushes_per_s", "flushes/s"),
        ("flush_mean_ns", "mean"),
        ("others_per_s", "others/s"),
        ("queue", "queue"),
    ]);
    let mut t =
        Table::new("seconds", "completed in each step of time, and the mean queue from Q to C", &cols);
    let Some((first, last)) = v.e.facts.flow.span else { return t };
    for device in v.devices() {
        let step = device.series.step();
        // Cells begin at whole steps of the trace's clock; the recording covers the first and the last only in part.
        for (from, cell) in device.series.cells() {
            let covered = (from + step).min(last).since(from.max(first));
            let lead = vec![v.name(device.id), Value::Number(from.max(first).since(first).seconds())];
            t.row([lead, numbers(cell, covered)].concat());
        }
    }
    t
}

fn numbers(c: &Second, covered: Nanos) -> Vec<Value> {
    let per_s = |n: u64| n as f64 / covered.seconds().max(1e-9);
    let sum = |classes: &[Class]| {
        let of = |f: &dyn Fn(usize) -> u64| classes.iter().map(|k| f(k.index())).fold(0, u64::saturating_add);
        (of(&|i| c.completed[i]), of(&|i| c.bytes[i].0), of(&|i| c.time[i].0))
    };
    let rate = |n: u64| if n == 0 { Value::None } else { Value::Number(per_s(n)) };
    let speed = |n: u64, bytes: u64| if n == 0 { Value::None } else { Value::Size(per_s(bytes) as u64) };
    let mean = |n: u64, time: u64| time.checked_div(n).map_or(Value::None, Value::Time);
    let (reads, read, read_time) = sum(&[Class::Read]);
    let (writes, written, write_time) = sum(&[Class::SyncWrite, Class::Background]);
    let (flushes, _, flush_time) = sum(&[Class::Flush]);
    let (others, _, other_time) = sum(&[Class::Other]);
    let time = [read_time, write_time, flush_time, other_time].iter().fold(0u64, |a, b| a.saturating_add(*b));
    vec![
        rate(reads),
        speed(reads, read),
        mean(reads, read_time),
        rate(writes),
        speed(writes, written),
        mean(writes, write_time),
        rate(flushes),
        mean(flushes, flush_time),
        rate(others),
        Value::Number(time as f64 / covered.0.max(1) as f64),
    ]
}
