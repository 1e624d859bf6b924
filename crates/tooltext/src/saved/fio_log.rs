//! Reads fio's logs: `write_lat_log`, `write_bw_log`, `write_iops_log` ("Log File Formats", fio's HOWTO). One line per
//! I/O or interval, read as a stream: memory for a histogram and a series of blocks, whatever the length.
//!
//! ```text
//! 12, 77047, 0, 4096, 0            time (ms), value, direction, block size, priority or offset
//! ```
//!
//! A log does not tell what its values are; its name does: `a_clat.1.log`, `a_bw.log`. Latencies are
//! nanoseconds since fio 3, which has five columns or more. With four columns they may be microseconds of fio 2: their unit
//! is left unstated.
//!
//! **Versions**: fio 2.0 to 3.42; the tests run 3.33.

use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::run::Run;
use crate::output::tool_output::ToolOutput;
use evidence::Spot;
use stats::Blocks;
use std::io::{self, BufRead, Read};
use std::sync::Arc;

/// Limit on the length of a line in bytes; six numbers have at most 120 digits.
const LONGEST_LINE: usize = 160;
const DIRECTIONS: [&str; 4] = ["read", "write", "trim", "sync"];
const PERCENTILES: [(&str, f64); 6] =
    [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)];

/// Whether a file starts like a log: its first lines are numbers separated by commas.
pub(crate) fn begins(content: &[u8]) -> bool {
    let mut lines = content.split(|b| *b == b'\n');
    let first = lines.next().and_then(line).is_some();
    // The last examined line may be truncated.
    let second = lines.next().is_none_or(|l| l.is_empty() || line(l).is_some() || lines.next().is_none());
    first && second
}

/// Parses a line: time, value, direction, number of columns.
fn line(text: &[u8]) -> Option<(u64, u64, u8, usize)> {
    if text.len() > LONGEST_LINE {
        return None;
    }
    let mut fields = text.split(|b| *b == b',');
    let mut next = || number(fields.next()?);
    let (time, value, direction) = (next()?, next()?, next()?);
    next()?;
    let more = fields.filter(|f| !f.trim_ascii().is_empty()).count();
    (direction < DIRECTIONS.len() as u64 && more <= 3).then_some((time, value, direction as u8, 4 + more))
}

fn number(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    let digit = |sum: u64, b: &u8| {
        sum.checked_mul(10)?.checked_add(u64::from(b.checked_sub(b'0').filter(|d| *d < 10)?))
    };
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0, digit)
}

/// The meaning of values according to the log's name: name of the number, factor, unit.
fn kind(file: &str, columns: usize) -> (&'static str, f64, Unit) {
    let name = file.rsplit('/').next().unwrap_or(file);
    for kind in ["clat", "slat", "lat"] {
        if name.contains(&format!("_{kind}.")) {
            return (kind, 1.0, if columns >= 5 { Unit::Nanoseconds } else { Unit::Unstated });
        }
    }
    match () {
        () if name.contains("_bw.") => ("bw", 1024.0, Unit::BytesPerSecond),
        () if name.contains("_iops.") => ("iops", 1.0, Unit::PerSecond),
        () => ("value", 1.0, Unit::Unstated),
    }
}

/// Reads a log to its end.
pub(crate) fn read(file: &str, mut content: impl BufRead) -> io::Result<ToolOutput> {
    let mut rows: [Blocks; 4] = Default::default();
    let mut output = ToolOutput { file: file.to_owned(), ..ToolOutput::default() };
    // With `log_unix_epoch`, times count from 1970.
    let (mut columns, mut first, mut last, mut number) = (0, u64::MAX, 0, 0u32);
    let mut text = Vec::with_capacity(LONGEST_LINE);
    loop {
        text.clear();
        // A line without an end is read in parts, none of which is a valid line.
        let taken = content.by_ref().take(4096).read_until(b'\n', &mut text)?;
        if taken == 0 {
            break;
        }
        number = number.saturating_add(1);
        let body = text.trim_ascii_end();
        match line(body) {
            Some((time, value, direction, many)) => {
                rows[direction as usize].record(value);
                columns = columns.max(many);
                first = first.min(time);
                last = last.max(time);
                output.words += many;
                output.understood += many;
            }
            None if body.is_empty() => {}
            None => {
                output.words += 1;
                output.left_out += 1;
                output.first_left_out.get_or_insert(Spot { line: number, column: 0 });
            }
        }
    }
    let (name, factor, unit) = kind(file, columns);
    let at = Spot { line: 1, column: 0 };
    let row = |(of, blocks): (&str, Blocks)| {
        let all = blocks.all();
        if all.is_empty() {
            return None;
        }
        let mut row = Row::of(of);
        let mut put =
            |what: &str, value: f64| row.values.put(format!("{name}.{what}"), value * factor, unit, at);
        put("min", all.min() as f64);
        put("mean", all.mean());
        for (percentile, q) in PERCENTILES {
            put(percentile, all.quantile(q) as f64);
        }
        put("max", all.max() as f64);
        row.values.put("count", all.count() as f64, Unit::Count, at);
        row.values.put("runtime", last.saturating_sub(first) as f64 * 1e6, Unit::Nanoseconds, at);
        row.in_order = (unit == Unit::Nanoseconds).then(|| Arc::new(blocks));
        Some(row)
    };
    let rows: Vec<Row> = DIRECTIONS.into_iter().zip(rows).filter_map(row).collect();
    let reading = Reading { tool: "fio", name: "log".into(), rows, at, ..Reading::default() };
    let label = file.rsplit('/').next().unwrap_or(file).to_owned();
    output.runs.push(Run { label, at, readings: vec![reading], ..Run::default() });
    Ok(output)
}
