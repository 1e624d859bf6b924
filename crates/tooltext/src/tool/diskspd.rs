//! Reads diskspd (Windows, and its port to Linux), version 2: sums of reads, writes and both, with the percentiles of `-L`.
//!
//! ```text
//! Read IO
//! thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
//! ----------------------------------------------------------------------------------------------
//!      0 |       409600000 |       100000 |      39.06 |   10000.00 |    0.799 |     0.250 | testfile.dat (1GiB)
//! total:         819200000 |       200000 |      78.12 |   20000.00 |    0.800 |     0.255
//!
//!   %-ile |  Read (ms) | Write (ms) | Total (ms)
//!     99th |      2.100 |        N/A |      2.100
//!  3-nines |      5.100 |        N/A |      5.100
//! ```
//!
//! Latencies are milliseconds. `3-nines` is 99.9 %. With `-D` there is an additional column for the deviation of the rate.
//!
//! **Versions**: diskspd 2.0.20a to 2.2 (`ResultParser.cpp`).

use super::reader::{texts, Found, Tool};
use super::table::{self, Cell, Column};
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Diskspd;

const MIB: f64 = 1024.0 * 1024.0;
const MS: f64 = 1e6;
/// Limit on words of a section, which has a line per thread, perhaps a hundred.
const MOST_WORDS: usize = 4096;
const COLUMNS: [Column; 9] = [
    ("thread", Cell::Word),
    ("bytes", Cell::Number("bytes", 1.0, Unit::Bytes)),
    ("I/Os", Cell::Number("count", 1.0, Unit::Count)),
    ("MiB/s", Cell::Number("bw", MIB, Unit::BytesPerSecond)),
    ("I/O per s", Cell::Number("iops", 1.0, Unit::PerSecond)),
    ("AvgLat", Cell::Number("lat.mean", MS, Unit::Nanoseconds)),
    ("IopsStdDev", Cell::Number("iops.stdev", 1.0, Unit::PerSecond)),
    ("LatStdDev", Cell::Number("lat.stdev", MS, Unit::Nanoseconds)),
    ("file", Cell::Rest),
];
const PERCENTILES: [Column; 4] = [
    ("%-ile", Cell::Word),
    ("Read (ms)", Cell::Number("read", MS, Unit::Nanoseconds)),
    ("Write (ms)", Cell::Number("write", MS, Unit::Nanoseconds)),
    ("Total (ms)", Cell::Number("all", MS, Unit::Nanoseconds)),
];
const KINDS: [(&str, &str); 3] = [("Read", "read"), ("Write", "write"), ("Total", "all")];

impl Tool for Diskspd {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let (rows, used) = match texts(words)? {
            [kind, "IO", "thread", "|", "bytes", "|"] => {
                let (_, of) = KINDS.iter().find(|(name, _)| *name == kind)?;
                let (row, used) = total(words, of)?;
                (vec![row], used)
            }
            ["%-ile", "|", _, "(ms)", "|", _] => percentiles(words)?,
            _ => return None,
        };
        // A row without operations (for example no writes) has no information.
        let rows: Vec<Row> = rows.into_iter().filter(|row| row.value("count") != Some(0.0)).collect();
        let at = words[0].spot;
        Found::all(Reading { tool: "diskspd", rows, at, ..Reading::default() }, used)
    }
}

/// The total of a section; its line has all columns except the file.
fn total(words: &[Word], of: &str) -> Option<(Row, usize)> {
    let (mut columns, heading) = table::heading(&words[2..], &COLUMNS);
    columns.pop().filter(|(name, _)| *name == "file")?;
    // Another section starts with `Write IO`.
    let behind = words[2 + heading..].iter().take(MOST_WORDS).take_while(|w| w.text != "IO");
    let at = 2 + heading + behind.clone().position(|w| w.text == "total:")?;
    let (line, length) = table::row(&words[at..], &columns)?;
    let more = words.get(at + length).is_some_and(|w| w.text == "|" || !w.first && decimal(w.text).is_some());
    (!more).then(|| (line.row(of), at + length))
}

fn percentiles(words: &[Word]) -> Option<(Vec<Row>, usize)> {
    let (columns, heading) = table::heading(words, &PERCENTILES);
    let all = table::rows(&words[heading..], &columns);
    let mut rows: Vec<Row> = columns.iter().filter_map(|(_, cell)| Some(Row::of(kind(*cell)?))).collect();
    for line in &all.lines {
        let Some(name) = line.text("%-ile").and_then(|text| percentile(&text)) else { continue };
        for (of, n) in line.numbers() {
            let row = rows.iter_mut().find(|row| row.of == of)?;
            row.values.put(name.as_str(), n.value, n.unit, n.at);
        }
    }
    rows.retain(|row| !row.values.is_empty());
    (!rows.is_empty()).then_some((rows, heading + all.used))
}

/// The kind of I/O that a column of percentiles is about.
fn kind(cell: Cell) -> Option<&'static str> {
    match cell {
        Cell::Number(name, ..) => Some(name),
        _ => None,
    }
}

/// The name of a percentile: `99th` is `lat.p99`, `3-nines` is `lat.p99.9`.
fn percentile(text: &str) -> Option<String> {
    if ["min", "max"].contains(&text) {
        return Some(format!("lat.{text}"));
    }
    if let Some(nines) = text.strip_suffix("-nines").and_then(|n| n.parse::<usize>().ok()) {
        return (3..=9).contains(&nines).then(|| format!("lat.p99.{}", "9".repeat(nines - 2)));
    }
    let number = text.strip_suffix("th")?;
    number.parse::<u8>().ok().map(|n| format!("lat.p{n}"))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::all;

    #[test]
    fn sums_and_percentiles_are_read() {
        let text = "Read IO\nthread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file\n\
            -------------------------------------------------\n\
            \x20    0 |       819200000 |       200000 |      78.12 |   20000.00 |    0.799 |     0.250 | t.dat (1024MiB)\n\
            -------------------------------------------------\n\
            total:         819200000 |       200000 |      78.12 |   20000.00 |    0.800 |     0.255\n\n\
            total:\n  %-ile |  Read (ms) | Write (ms) | Total (ms)\n----------------------------------------------\n\
            \x20   min |      0.100 |        N/A |      0.100\n   99th |      2.100 |        N/A |      2.100\n3-nines |      5.100 |        N/A |      5.100\n\
            \x20   max |     25.300 |        N/A |     25.300\n";
        let all = all(text, "diskspd");
        let row = &all[0].rows[0];
        assert_eq!(
            (row.of.as_str(), row.value("iops"), row.value("lat.mean")),
            ("read", Some(20_000.0), Some(0.8e6))
        );
        let row = all[1].row("read").unwrap();
        assert_eq!(
            (row.value("lat.p99"), row.value("lat.p99.9"), row.value("lat.max")),
            (Some(2.1e6), Some(5.1e6), Some(25.3e6))
        );
        assert!(all[1].row("write").is_none());
    }

    /// `-D` adds a column among those of latencies, which do not exist without `-L`.
    #[test]
    fn the_deviation_of_the_rate_is_no_latency() {
        let with = "Write IO\nthread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | IopsStdDev | LatStdDev |  file\n\
            ------------------------------------------------------------------------------------------------------------------\n\
            \x20    0 |       819200000 |       200000 |      78.12 |   20000.00 |    0.799 |     512.25 |     0.250 | t.dat (1GiB)\n\
            ------------------------------------------------------------------------------------------------------------------\n\
            total:         819200000 |       200000 |      78.12 |   20000.00 |    0.800 |     512.50 |     0.255\n";
        let without = "Read IO\nthread |       bytes     |     I/Os     |    MiB/s   |  I/O per s | IopsStdDev |  file\n\
            -------------------------------------------------------------------------------------------\n\
            total:         819200000 |       200000 |      78.12 |   20000.00 |     512.50\n";
        for (text, mean, deviation) in [(with, Some(0.8e6), Some(255e3)), (without, None, None)] {
            let reading = crate::tool::testing::one(text, "diskspd");
            let row = &reading.rows[0];
            assert_eq!(
                (row.value("lat.mean"), row.value("lat.stdev"), row.value("iops.stdev")),
                (mean, deviation, Some(512.5))
            );
        }
    }
}
