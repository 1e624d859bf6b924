//! diskspd (Windows, and its port to Linux), version 2: sums of reads, writes and both, with the percentiles that `-L` adds.
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
//! Latencies are milliseconds. `3-nines` is 99.9 %.

use super::{texts, Found, Tool};
use crate::mail::number::{decimal, Unit};
use crate::mail::reading::{Reading, Row};
use crate::mail::words::Word;

pub struct Diskspd;

const MIB: f64 = 1024.0 * 1024.0;
const MS: f64 = 1e6;
/// Words of a section: a line for each thread, of a hundred perhaps.
const MOST_WORDS: usize = 4096;
/// Columns of a total, in their order.
const COLUMNS: [(&str, f64, Unit); 6] = [
    ("bytes", 1.0, Unit::Bytes),
    ("count", 1.0, Unit::Count),
    ("bw", MIB, Unit::BytesPerSecond),
    ("iops", 1.0, Unit::PerSecond),
    ("lat.mean", MS, Unit::Nanoseconds),
    ("lat.stdev", MS, Unit::Nanoseconds),
];
const KINDS: [(&str, &str); 3] = [("Read", "read"), ("Write", "write"), ("Total", "all")];
/// The highest of them is `9-nines`.
const MOST_PERCENTILES: usize = 24;

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
        // Nothing was written: a row without any operation says no more.
        let rows: Vec<Row> = rows.into_iter().filter(|row| row.value("count") != Some(0.0)).collect();
        let at = words[0].spot;
        Found::all(Reading { tool: "diskspd", rows, at, ..Reading::default() }, used)
    }
}

fn total(words: &[Word], of: &str) -> Option<(Row, usize)> {
    // Another section begins with `Write IO`.
    let mut section = words.iter().take(MOST_WORDS).enumerate().take_while(|(i, w)| *i < 2 || w.text != "IO");
    let line = section.find(|(_, w)| w.text == "total:").map(|(i, _)| i + 1)?;
    let mut row = Row::of(of);
    let mut used = line;
    for (i, (name, factor, unit)) in COLUMNS.iter().enumerate() {
        // Without `-L` there are no latencies.
        let bar = usize::from(i > 0);
        if i > 0 && words.get(used).is_none_or(|w| w.text != "|" || w.first) {
            break;
        }
        let Some(word) = words.get(used + bar) else { break };
        used += bar + 1;
        let value = decimal(word.text).or((word.text == "N/A").then_some(f64::NAN))?;
        if value.is_finite() {
            row.values.put(*name, value * factor, *unit, word.spot);
        }
    }
    row.get("iops").map(|_| (row, used))
}

fn percentiles(words: &[Word]) -> Option<(Vec<Row>, usize)> {
    // `%-ile | Read (ms) | Write (ms) | Total (ms)`
    let mut rows: Vec<Row> = vec![];
    let mut used = 1;
    while words.get(used).is_some_and(|w| w.text == "|") {
        let (_, of) = KINDS.iter().find(|(name, _)| words.get(used + 1).is_some_and(|w| w.text == *name))?;
        rows.push(Row::of(*of));
        used += 3;
    }
    used += usize::from(words.get(used).is_some_and(|w| w.text.starts_with("--")));
    for _ in 0..MOST_PERCENTILES {
        let Some(name) = words.get(used).and_then(|w| percentile(w.text)) else { break };
        let cells = words.get(used + 1..used + 1 + 2 * rows.len())?;
        for (row, cell) in rows.iter_mut().zip(cells.chunks(2)) {
            if let Some(ms) = decimal(cell[1].text).filter(|_| cell[0].text == "|") {
                row.values.put(name.as_str(), ms * MS, Unit::Nanoseconds, cell[1].spot);
            }
        }
        used += 1 + 2 * rows.len();
    }
    rows.retain(|row| !row.values.is_empty());
    (!rows.is_empty()).then_some((rows, used))
}

/// `99th` is `lat.p99`, `3-nines` is `lat.p99.9`.
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
}
