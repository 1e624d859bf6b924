//! Requests by operation, by flags and by size; all tables are sums over the same cells.

use super::table::{columns, Column, Table, Value};
use super::view::View;
use life::Op;
use stats::{CellKey, Distribution, Phases, SizeClass};
use trace::{DevId, Flags};

/// The columns of a table: device and operation, what the group is by, and numbers that are the same for all tables.
fn group_columns(group: Option<(&'static str, &'static str)>) -> Vec<Column> {
    let lead = columns([("device", "device"), ("op", "op")]);
    let numbers = columns([
        ("requests", "requests"),
        ("bytes", "data"),
        ("errors", "errors"),
        ("requeues", "requeues"),
        ("d2c_p50_ns", "D2C p50"),
        ("d2c_p99_ns", "p99"),
        ("d2c_p999_ns", ""),
        ("d2c_max_ns", ""),
        ("q2c_mean_ns", ""),
        ("q2c_p50_ns", "Q2C p50"),
        ("q2c_p99_ns", "p99"),
        ("q2c_p999_ns", ""),
        ("q2c_max_ns", "max"),
    ]);
    lead.into_iter().chain(group.map(|g| columns([g])[0])).chain(numbers).collect()
}

fn numbers(p: &Phases) -> Vec<Value> {
    let unless_zero = |n: u64| if n == 0 { Value::None } else { Value::Count(n) };
    let d2c = |q: f64| time(&p.d2c, |d| d.quantile(q));
    let q2c = |q: f64| time(&p.q2c, |d| d.quantile(q));
    vec![
        Value::Count(p.count),
        Value::Size(p.bytes.0),
        unless_zero(p.errors),
        unless_zero(p.requeues),
        d2c(0.5),
        d2c(0.99),
        d2c(0.999),
        d2c(1.0),
        time(&p.q2c, |d| d.mean().round() as u64),
        q2c(0.5),
        q2c(0.99),
        q2c(0.999),
        q2c(1.0),
    ]
}

fn time(d: &Distribution, of: impl Fn(&Distribution) -> u64) -> Value {
    if d.is_empty() {
        Value::None
    } else {
        Value::Time(of(d))
    }
}

/// A table with one row for each device, operation and value of `by`, in that order.
fn groups<K: Ord>(
    v: &View,
    name: &'static str,
    title: &str,
    column: Option<(&'static str, &'static str)>,
    by: impl Fn(&CellKey) -> K,
    words: impl Fn(&K) -> Option<Value>,
) -> Table {
    let mut t = Table::new(name, title, &group_columns(column));
    let wanted = |k: &CellKey| v.shows(k.dev) && v.shows_task(k.task);
    let sums = v.e.facts.cells.sum(|k| wanted(k).then(|| (place(v, k.dev), k.op, by(k))));
    for ((at, op, key), phases) in sums {
        let device = v.e.facts.devices.get(at).map_or(Value::Text("others".into()), |d| v.name(d.id));
        let lead = [device, Value::Text(op.name().into())];
        t.row(lead.into_iter().chain(words(&key)).chain(numbers(&phases)).collect());
    }
    t
}

/// The rank of a device in the order of all tables.
fn place(v: &View, dev: DevId) -> usize {
    v.e.facts.devices.iter().position(|d| d.id == dev).unwrap_or(usize::MAX)
}

/// Table `op`.
pub(super) fn by_op(v: &View) -> Table {
    groups(v, "op", "requests by operation", None, |_| (), |_| None)
}

/// Table `flags`.
pub(super) fn by_flags(v: &View) -> Table {
    let words = |f: &Flags| Some(Value::Text(flag_words(*f)));
    groups(v, "flags", "requests by flags", Some(("flags", "flags")), |k| k.flags, words)
}

/// Table `size`.
pub(super) fn by_size(v: &View) -> Table {
    let words = |s: &Option<SizeClass>| {
        Some(match s {
            Some(s) => Value::Size(s.upper().0),
            None => Value::None,
        })
    };
    let by = |k: &CellKey| (k.op != Op::Flush).then_some(k.size);
    groups(v, "size", "requests by size: up to", Some(("up_to_bytes", "up to")), by, words)
}

fn flag_words(flags: Flags) -> String {
    let named = [
        (Flags::SYNC, "sync"),
        (Flags::META, "meta"),
        (Flags::AHEAD, "read-ahead"),
        (Flags::FUA, "FUA"),
        (Flags::FLUSH, "preflush"),
    ];
    let set: Vec<&str> = named.iter().filter(|(f, _)| flags.has(*f)).map(|(_, n)| *n).collect();
    if set.is_empty() {
        "none".into()
    } else {
        set.join("+")
    }
}
