//! A request that waited long in the I/O scheduler, from a few lines of blkparse.
//!
//! **Proof**: more time between its insertion (I) and its dispatch (D) than any device takes. **Refuted** if the time
//! lies after the dispatch.

use super::place::{readings, In};
use super::settings::of_device;
use crate::thresholds::counters_scheduler_starvation::STARVED;
use crate::verdict::{Confidence, Verdict};
use tooltext::{Reading, Row, ToolOutput};
use trace::Nanos;
use units::words::ns;

const NAME: &str = "scheduler-starvation";

pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let mut found: Option<Verdict> = None;
    let mut open: Vec<String> = vec![];
    let mut first: Option<In> = None;
    for (place, reading) in readings(outputs, "blkparse") {
        for row in &reading.rows {
            first.get_or_insert(place);
            if let Some(text) = starved(place, reading, row) {
                let v = found.take().unwrap_or_else(|| Verdict::found(NAME, Nanos(0), Confidence::Medium));
                found = Some(v.because(text));
            }
            open.extend(stalled(place, reading, row));
        }
    }
    let missing = "when the others were dispatched: the whole of blkparse's text or the recording itself \
         (blktrace, or iowhy record)";
    let verdict = match found {
        Some(v) => v
            .unless("the same time between dispatch and completion: then it is the device")
            .try_this(
                "smaller batches, and reads and synchronous writes due sooner (mq-deadline; read_expire in \
                     ms). Costs throughput of large writes",
                "echo 4 > /sys/block/DEV/queue/iosched/fifo_batch; echo 200 > \
                     /sys/block/DEV/queue/iosched/read_expire",
            )
            .without(missing),
        None if open.is_empty() => return None,
        None => Verdict::cannot_tell(NAME, missing),
    };
    let verdict = open.into_iter().fold(verdict, Verdict::because);
    let Some(place) = first else { return Some(verdict) };
    Some(settings(outputs, place).into_iter().fold(verdict, Verdict::because))
}

/// The scheduler and its settings, of the only device in the texts: blkparse's lines have only the device's number.
fn settings(outputs: &[ToolOutput], place: In) -> Vec<String> {
    let names = [
        "queue/scheduler",
        "queue/iosched/read_expire",
        "queue/iosched/write_expire",
        "queue/iosched/fifo_batch",
        "queue/iosched/writes_starved",
        "queue/nr_requests",
    ];
    names.iter().filter_map(|name| of_device(outputs, place, None, name)).map(|set| set.words()).collect()
}

fn at(row: &Row, action: &str) -> Option<f64> {
    row.value(&format!("at.{action}"))
}

fn time(from: f64, to: f64) -> String {
    ns((to - from).max(0.0).round() as u64)
}

/// A request in words: `the write of 4 KiB by kjournald`.
fn what(reading: &Reading, row: &Row) -> String {
    let op = if row.of.starts_with('R') { "read" } else { "write" };
    let bytes = row.get("bytes").map_or(String::new(), |b| format!(" of {}", super::say::number(b)));
    let task = reading.setting(&row.of).map_or(String::new(), |t| format!(" by {t}"));
    let journal =
        reading.setting(&row.of).is_some_and(|t| t.starts_with("kjournald") || t.starts_with("jbd2"));
    format!("the {}{op}{bytes}{task}", if journal { "journal " } else { "" })
}

fn starved(place: In, reading: &Reading, row: &Row) -> Option<String> {
    let (i, d) = (at(row, "I")?, at(row, "D")?);
    (d - i >= STARVED).then_some(())?;
    let mut text = format!(
        "{} ({}) was inserted at {:.9} s and dispatched at {:.9} s: {} in the scheduler",
        what(reading, row),
        place.output.at(row.get("at.I")?.at),
        i / 1e9,
        d / 1e9,
        time(i, d)
    );
    if let Some(c) = at(row, "C") {
        let share = units::words::percent((d - i) / (c - i).max(1.0));
        text += &format!(", then {} in the device: {share} of {} was the scheduler", time(d, c), time(i, c));
    }
    Some(text)
}

/// A request that took long and whose dispatch is not shown.
fn stalled(place: In, reading: &Reading, row: &Row) -> Option<String> {
    let (begun, c) = (at(row, "Q").or_else(|| at(row, "I"))?, at(row, "C")?);
    (at(row, "D").is_none() && c - begun >= STARVED).then_some(())?;
    Some(format!(
        "{} ({}) took {}; its dispatch is not shown, so how much of that was the scheduler is not known",
        what(reading, row),
        place.output.at(row.get("at.C")?.at),
        time(begun, c)
    ))
}
