//! How devices serve, and how well the split of their time fits that.

use super::table::{columns, Table, Value};
use super::View;
use life::Serves;

/// Table `serving`.
pub(super) fn serving(v: &View) -> Table {
    let cols = columns([
        ("device", "device"),
        ("serves", "serves"),
        ("at_once", "at once"),
        ("depth", "of"),
        ("time_ns", "time with several"),
        ("requests", "requests"),
        ("known_share", "known"),
    ]);
    let title =
        "requests served at once while several were in the device: their own service then, by that time";
    let mut t = Table::new("serving", title, &cols);
    for device in v.devices().filter(|d| d.model.time.0 > 0) {
        let model = &device.model;
        let (words, at_once) = words(model.serves());
        let known = model.known.0 as f64 / model.beside.0.max(1) as f64;
        t.row(vec![
            v.name(device.id),
            words,
            at_once.map_or(Value::None, Value::Number),
            Value::Number(model.depth()),
            Value::Time(model.time.0),
            Value::Count(model.requests),
            Value::Share(known),
        ]);
    }
    t.notes.push("known: of so much of their time it is known what they take alone; of less than half nothing is told.".into());
    t
}

/// By which model a device's time was split, and how many it serves at once.
fn words(serves: Serves) -> (Value, Option<f64>) {
    match serves {
        Serves::OneByOne(n) => (Value::Named("one-by-one", "one after the other"), n),
        Serves::Several(n) => (Value::Named("several", "several at once"), Some(n)),
        Serves::Slower(n) => (Value::Named("slower", "slower than one after the other"), Some(n)),
        Serves::Unknown => (Value::Named("unknown", "not known"), None),
    }
}
