//! Writes that one task sent on behalf of another.

use super::table::{columns, Table, Value};
use super::view::View;
use crate::sent_for::{purpose, rows};

/// Table `writers`: whose data was written back, and whose changes journals wrote.
pub(super) fn writers(v: &View) -> Table {
    let cols = columns([
        ("device", "device"),
        ("what", "what"),
        ("whose", "whose"),
        ("requests", "requests"),
        ("bytes", "data"),
    ]);
    let title = "whose data flushers wrote back, whose changes journals wrote";
    let mut t = Table::new("writers", title, &cols);
    for row in rows(v.e).into_iter().filter(|r| v.shows(r.dev)) {
        t.row(vec![
            v.name(row.dev),
            Value::Text(purpose(row.purpose).into()),
            row.whose.map_or(Value::None, |whose| {
                Value::Text(if row.probably { format!("{whose} (probably)") } else { whose })
            }),
            Value::Count(row.sent.requests),
            Value::Size(row.sent.bytes.0),
        ]);
    }
    t
}
