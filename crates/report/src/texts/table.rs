//! The numbers of all runs side by side: a table for each tool and set of columns, a line for each row of the output.

use std::collections::HashMap;
use tooltext::{Bucket, Number, Reading, Row, SinceBoot, ToolOutput, Unit};

/// Lines with the same columns, side by side.
pub(super) struct Table {
    /// The tool that printed the numbers, such as `fio`; `histograms` for those of any tool.
    pub tool: String,
    /// The headings of the columns.
    pub columns: Vec<String>,
    pub lines: Vec<Line>,
}

/// A line of a table.
pub(super) struct Line {
    /// The number of the run in the text, from 1.
    pub run: usize,
    /// The device, operation or other thing that the numbers describe.
    pub of: String,
    /// One value for each column; `None` if the row has none.
    pub values: Vec<Option<Number>>,
    /// Whether the numbers are, or may be, means since the machine was started, which hide the slow period.
    pub since_boot: bool,
}

/// Follows the name in a row that surely has means since boot.
const SINCE_BOOT: &str = " (since boot)";

/// Follows the name in a row that has them unless the command, which the text lacks, says otherwise.
const PERHAPS_SINCE_BOOT: &str = " (since boot?)";

/// Columns of fio's tables: heading, and name of the value in a row.
const FIO: [(&str, &str); 9] = [
    ("rate", "iops"),
    ("bandwidth", "bw"),
    ("mean", "mean"),
    ("p50", "p50"),
    ("p99", "p99"),
    ("p99.9", "p99.9"),
    ("p99.95", "p99.95"),
    ("p99.99", "p99.99"),
    ("max", "max"),
];
/// Columns of iostat's and sar's tables: heading, and name of the value in a row.
const IOSTAT: [(&str, &str); 12] = [
    ("tps", "tps"),
    ("r/s", "r/s"),
    ("w/s", "w/s"),
    ("read", "rbytes/s"),
    ("written", "wbytes/s"),
    ("discarded", DISCARDED),
    ("size", "size"),
    ("queue", "queue"),
    ("await", "await"),
    ("r_await", "r_await"),
    ("w_await", "w_await"),
    ("util", "util"),
];
/// The name of discarded bytes in a row of iostat; most disks have none.
const DISCARDED: &str = "dbytes/s";
/// The name of readings that come from fio's log files.
const LOG: &str = "log";
/// Phases of a request: name, and the events at its start and end.
const PHASES: [(&str, &str, &str); 4] =
    [("Q2I", "at.Q", "at.I"), ("I2D", "at.I", "at.D"), ("D2C", "at.D", "at.C"), ("I2C", "at.I", "at.C")];
/// Quantiles of a histogram that are shown as upper bounds.
const QUANTILES: [(&str, f64); 4] =
    [("p50 below", 0.5), ("p99 below", 0.99), ("p99.9 below", 0.999), ("max below", 1.0)];

/// The tables of a text, in the order of their first rows.
pub(super) fn tables(output: &ToolOutput) -> Vec<Table> {
    let mut tables: Vec<Table> = vec![];
    for (i, run) in output.runs.iter().enumerate() {
        for (reading, since) in run.readings.iter().zip(run.since_boot()) {
            for (row, since) in reading.rows.iter().zip(since) {
                if let Some((columns, mut of, values)) = line(reading, row) {
                    match since {
                        SinceBoot::Yes => of += SINCE_BOOT,
                        SinceBoot::Likely if run.follows_banner() => of += PERHAPS_SINCE_BOOT,
                        _ => {}
                    }
                    let tool = if is_histogram(reading) { "histograms" } else { reading.tool };
                    let found = tables.iter_mut().find(|t| t.tool == tool && t.columns == columns);
                    let line = Line { run: i + 1, of, values, since_boot: since != SinceBoot::No };
                    match found {
                        Some(table) => table.lines.push(line),
                        None => tables.push(Table { tool: tool.into(), columns, lines: vec![line] }),
                    }
                }
            }
        }
    }
    // Lines of the same operation or device are adjacent, in the order of their first appearance.
    for table in tables.iter_mut().filter(|t| t.tool != "iostat") {
        let mut order: HashMap<String, usize> = HashMap::new();
        for line in &table.lines {
            let next = order.len();
            order.entry(line.of.clone()).or_insert(next);
        }
        table.lines.sort_by_key(|line| order.get(&line.of).copied());
    }
    for table in &mut tables {
        table.drop_empty();
    }
    tables
}

fn is_histogram(reading: &Reading) -> bool {
    reading.tool != "fio" && reading.rows.iter().any(|r| !r.histogram.is_empty())
}

type TableLine = (Vec<String>, String, Vec<Option<Number>>);

fn line(reading: &Reading, row: &Row) -> Option<TableLine> {
    let names = |columns: &[(&str, &str)]| columns.iter().map(|(heading, _)| heading.to_string()).collect();
    match reading.tool {
        // A log has one kind of number, which its name says.
        "fio" if reading.name == LOG => {
            let columns = row.values.iter().map(|(name, _)| name.to_string()).collect();
            let of = format!("{} (log)", row.of);
            Some((columns, of, row.values.iter().map(|(_, n)| Some(n)).collect()))
        }
        "fio" if ["iops", "bw"].iter().any(|n| row.get(n).is_some()) || row.latency("max").is_some() => {
            let value = |name: &str| match name {
                "iops" | "bw" => row.get(name),
                _ => row.latency(name),
            };
            let of = format!("{} ({})", row.of, reading.called());
            Some((names(&FIO), of, FIO.iter().map(|(_, name)| value(name)).collect()))
        }
        // fio's numbers of disks and processors are used for calculations only.
        "fio" => None,
        "iostat" | "sar" if row.of != "cpu" => {
            let value = |name: &str| row.get(name).filter(|n| name != DISCARDED || n.value > 0.0);
            Some((names(&IOSTAT), row.of.clone(), IOSTAT.iter().map(|(_, name)| value(name)).collect()))
        }
        _ if !row.histogram.is_empty() => {
            let mut columns = vec!["count".to_string()];
            columns.extend(QUANTILES.iter().map(|(name, _)| name.to_string()));
            let all: f64 = row.histogram.iter().map(|b| b.count.value).sum();
            let first = row.histogram.first()?.count;
            let mut values = vec![Some(Number { value: all, unit: Unit::Count, at: first.at })];
            values.extend(QUANTILES.iter().map(|(_, q)| below(&row.histogram, all, *q)));
            Some((columns, row.of.clone(), values))
        }
        "blkparse" => {
            let mut columns = vec!["bytes".to_string()];
            let mut values = vec![row.get("bytes")];
            for (name, from, to) in PHASES {
                columns.push(name.to_string());
                let (from, to) = (row.get(from), row.get(to));
                values.push(from.zip(to).map(|(a, b)| Number { value: b.value - a.value, ..b }));
            }
            Some((columns, row.of.clone(), values))
        }
        _ => {
            let columns = row.values.iter().map(|(name, _)| name.to_string()).collect();
            Some((columns, row.of.clone(), row.values.iter().map(|(_, n)| Some(n)).collect()))
        }
    }
}

/// The upper bound of the bucket that contains the quantile `q` of a histogram.
fn below(histogram: &[Bucket], all: f64, q: f64) -> Option<Number> {
    let mut seen = 0.0;
    let bucket = histogram.iter().find(|b| {
        seen += b.count.value;
        b.count.value > 0.0 && seen >= q * all
    })?;
    // The last bucket may have no bound.
    let bound = Some(bucket.below).filter(|below| below.is_finite())?;
    Some(Number { value: bound, unit: Unit::Nanoseconds, at: bucket.count.at })
}

impl Table {
    /// Removes columns without any value.
    fn drop_empty(&mut self) {
        let full: Vec<bool> =
            (0..self.columns.len()).map(|i| self.lines.iter().any(|line| line.values[i].is_some())).collect();
        let keep = |i: &usize| full[*i];
        self.columns = (0..full.len()).filter(keep).map(|i| self.columns[i].clone()).collect();
        for Line { values, .. } in &mut self.lines {
            *values = (0..full.len()).filter(keep).map(|i| values[i]).collect();
        }
    }
}
