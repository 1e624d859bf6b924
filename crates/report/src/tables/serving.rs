//! How many requests devices serve at once, and how the time in them was split.

use super::table::{columns, Table, Value};
use super::view::View;

/// Table `serving`; devices that never had several requests at a time are left out.
pub(super) fn serving(v: &View) -> Table {
    let cols = columns([
        ("device", "device"),
        ("split_by", "split by"),
        ("at_once", "at once"),
        ("depth", "of"),
        ("time_ns", "time with several"),
        ("requests", "requests"),
        ("known_share", "known"),
    ]);
    let title =
        "requests served at once while several were in the device: sum of their own service / that time";
    let mut t = Table::new("serving", title, &cols);
    for device in v.devices().filter(|d| d.model.time.0 > 0) {
        let model = &device.model;
        t.row(vec![
            v.name(device.id),
            if model.in_turn {
                Value::Named("turns", "turns")
            } else {
                Value::Named("cost", "what each takes")
            },
            model.at_once().map_or(Value::None, Value::Number),
            Value::Number(model.depth()),
            Value::Time(model.time.0),
            Value::Count(model.requests),
            Value::Share(model.known_share()),
        ]);
    }
    t.notes.push(
        "turns: completions rarely come close together; known: the part of their time for which it is known \
         what"
            .into(),
    );
    t.notes.push(
        "they take alone; at once: shown from 100 requests on, if at least half of their time is known."
            .into(),
    );
    t
}
