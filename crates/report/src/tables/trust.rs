//! The kernel's messages, lost events and unmatched events.

use super::table::{columns, Table, Value};
use super::view::View;
use trace::Nanos;

/// Table `messages`: the kernel's messages in the trace, by device; equal ones but for their numbers share a row.
pub(super) fn messages(v: &View) -> Table {
    let cols = columns([("device", "device"), ("message", "message"), ("times", "times")]);
    let mut t = Table::new("messages", "what the kernel said in the trace; N stands for any number", &cols);
    for device in v.devices() {
        for (message, times) in device.traffic.messages.by_count() {
            t.row(vec![v.name(device.id), Value::Text(message.trim().into()), Value::Count(times)]);
        }
        if device.traffic.messages.others() > 0 {
            let others = Value::Text("(other kinds)".into());
            t.row(vec![v.name(device.id), others, Value::Count(device.traffic.messages.others())]);
        }
    }
    t
}

/// Table `losses`: lost events by device, processor and second.
pub(super) fn losses(v: &View) -> Table {
    let cols =
        columns([("device", "device"), ("cpu", "CPU"), ("second", "second"), ("events", "events lost")]);
    let mut t = Table::new("losses", "events lost, by the second at whose end the gap was seen", &cols);
    let zero = v.e.facts.flow.span.map_or(Nanos(0), |(from, _)| from).0 / Nanos::SECOND.0;
    for (at, n) in v.e.subject.quality.lost.iter().filter(|(at, _)| v.shows(at.dev)) {
        let second = Value::Count(at.second.saturating_sub(zero));
        t.row(vec![v.name(at.dev), Value::Count(at.cpu.0 as u64), second, Value::Count(*n)]);
    }
    t
}

/// Table `unmatched`: unmatched or damaged events by kind; kinds without any are left out.
pub(super) fn unmatched(v: &View) -> Table {
    let cols = columns([("what", "what"), ("events", "events"), ("bytes", "bytes")]);
    let mut t = Table::new("unmatched", "unmatched or damaged events", &cols);
    let (y, q) = (&v.e.facts.tally, &v.e.subject.quality);
    let counts = [
        ("completions whose issue was not seen", y.completions_unmatched),
        ("issues of requests never seen before", y.issues_unmatched),
        ("merges, splits, inserts and requeues of requests never seen", y.others_unmatched),
        ("requests whose completion was lost", y.requests_lost),
        ("requests in flight at the end", y.requests_in_flight),
        ("bios in flight at the end that have no request", y.bios_in_flight),
        ("steps of a request with an earlier time than the one before", y.backward_steps),
        ("backward steps of a CPU's clock", q.clock_steps),
        ("events delivered out of order", q.out_of_order),
        ("records of unknown kinds", q.unknown),
        ("records cut off at the end of a file", q.cut_records),
    ];
    for (what, n) in counts.into_iter().filter(|(_, n)| *n > 0) {
        t.row(vec![Value::Text(what.into()), Value::Count(n), Value::None]);
    }
    let sizes = [
        ("bytes of bios in flight at the end", y.bytes_in_flight.0),
        ("bytes of bios whose completion was lost", y.bytes_lost.0),
        ("bytes outside any record", q.damaged_bytes),
    ];
    for (what, n) in sizes.into_iter().filter(|(_, n)| *n > 0) {
        t.row(vec![Value::Text(what.into()), Value::None, Value::Size(n)]);
    }
    t
}
