//! What a task sent for others: writeback of data that others wrote, a journal's writes of what others changed, discards of what others
//! deleted.

use explain::pictured::places;
use explain::Explanation;
use operation::Purpose;
use stats::{Sent, Whose};
use trace::DevId;
use units::words::size;

/// Maximal number of tasks that a line names.
const NAMED: usize = 3;

/// The writes to one device, for one purpose, on behalf of one task.
pub struct Row {
    /// The device that was written to.
    pub dev: DevId,
    /// Whether they wrote file data or the journal, or discarded blocks.
    pub purpose: Purpose,
    /// The task on whose behalf they were sent; `None`: unknown.
    pub whose: Option<String>,
    /// Whether that is only probable: it was written before the recording.
    pub probably: bool,
    /// Number of requests and their bytes.
    pub sent: Sent,
}

/// All rows, by device and purpose, the largest first; unattributed ones come last.
pub fn rows(e: &Explanation) -> Vec<Row> {
    let places = places(e);
    let one = |((dev, purpose, whose), sent): (&(DevId, Purpose, Whose), &Sent)| Row {
        dev: *dev,
        purpose: *purpose,
        whose: places.whose(whose),
        probably: matches!(whose, Whose::Probably(_)),
        sent: *sent,
    };
    let mut rows: Vec<Row> = e.facts.operations.sent_for.iter().map(one).collect();
    rows.sort_by_key(|r| (r.dev, r.purpose, r.whose.is_none(), std::cmp::Reverse(r.sent.bytes)));
    rows
}

/// The name of a purpose in JSON and tables.
pub fn purpose(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::FileData => "file data",
        Purpose::Journal => "journal",
        Purpose::Discard => "discards",
    }
}

/// A line for each device and purpose: `write-back to sda: 12 MiB, data of cp (9 MiB), tar (3 MiB)`.
pub fn lines(e: &Explanation) -> Vec<String> {
    let rows = rows(e);
    let same = |a: &Row, b: &Row| (a.dev, a.purpose) == (b.dev, b.purpose);
    rows.chunk_by(same).map(|group| line(e, group)).collect()
}

fn line(e: &Explanation, group: &[Row]) -> String {
    let Some(Row { dev, purpose, .. }) = group.first() else { return String::new() };
    let all = size(group.iter().map(|r| r.sent.bytes).sum());
    let (what, of) = match purpose {
        Purpose::FileData => ("writeback", "data of"),
        Purpose::Journal => ("journal", "changes of"),
        Purpose::Discard => ("discards", "files deleted by"),
    };
    let known: Vec<&Row> = group.iter().filter(|r| r.whose.is_some()).collect();
    let mut whose: Vec<String> = known
        .iter()
        .take(NAMED)
        .map(|r| {
            let probably = if r.probably { ", probably" } else { "" };
            format!("{} ({}{probably})", r.whose.as_deref().unwrap_or("?"), size(r.sent.bytes))
        })
        .collect();
    if let Some(rest) = known.get(NAMED..).filter(|rest| !rest.is_empty()) {
        let bytes = size(rest.iter().map(|r| r.sent.bytes).sum());
        whose.push(format!("{} others ({bytes})", rest.len()));
    }
    let told = if whose.is_empty() { String::new() } else { format!(", {of} {}", whose.join("; ")) };
    let unknown = group.iter().find(|r| r.whose.is_none());
    let unknown = unknown.map_or(String::new(), |r| format!(", {} from unknown writers", size(r.sent.bytes)));
    format!("{what} to {}: {all}{told}{unknown}", e.name(*dev))
}
