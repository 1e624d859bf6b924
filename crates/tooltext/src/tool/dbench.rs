//! Reads dbench: throughput, and mean and maximum time of each operation.
//!
//! ```text
//!  Operation      Count    AvgLat    MaxLat
//!  ----------------------------------------
//!  NTCreateX     123456     0.123    45.678
//!  Flush           1234     8.901   234.567
//! Throughput 123.456 MB/sec  8 clients  8 procs  max_latency=234.570 ms
//! ```
//!
//! **Versions**: dbench 4.0 and 5.00 (`dbench.c`).

use super::reader::{texts, Found, Tool};
use super::table;
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Dbench;

const MS: f64 = 1e6;
/// dbench's MB: it divides by 1024 twice (`print_total`, dbench.c).
const MB: f64 = 1024.0 * 1024.0;
const MOST_ROWS: usize = 100;

impl Tool for Dbench {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if let Some(["Operation", "Count", "AvgLat", "MaxLat"]) = texts(words) {
            return operations(words);
        }
        throughput(words)
    }
}

fn operations(words: &[Word]) -> Option<Found> {
    let mut used = 4;
    used += usize::from(words.get(4).is_some_and(|w| w.text.starts_with("---")));
    let reading = Reading { tool: "dbench", at: words[0].spot, ..Reading::default() };
    let ends = |w: &Word| w.text == "Throughput" || w.text == "Operation";
    table::gather(reading, words, used, MOST_ROWS, ends, row)
}

fn row(words: &[Word]) -> Option<(Row, usize)> {
    let [name, count, mean, most] = texts(words)?;
    name.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(())?;
    let mut row = Row::of(name);
    row.values.put("count", count.parse::<u64>().ok()? as f64, Unit::Count, words[1].spot);
    row.values.put("lat.mean", decimal(mean)? * MS, Unit::Nanoseconds, words[2].spot);
    row.values.put("lat.max", decimal(most)? * MS, Unit::Nanoseconds, words[3].spot);
    Some((row, 4))
}

/// Parses `Throughput 123.456 MB/sec (sync open) 8 clients 8 procs max_latency=234.570 ms`.
fn throughput(words: &[Word]) -> Option<Found> {
    let [first, rate, "MB/sec"] = texts(words)? else { return None };
    (first == "Throughput").then_some(())?;
    let mut row = Row::of("all");
    row.values.put("bw", decimal(rate)? * MB, Unit::BytesPerSecond, words[1].spot);
    let mut used = 3;
    let line = &words[..words.len().min(16)];
    let clients = line.iter().position(|w| w.text.starts_with("client") || w.text.starts_with("procs"))?;
    used = used.max(clients + 1);
    if let Some(n) = line[clients - 1].text.parse::<u32>().ok().filter(|_| clients > 0) {
        row.values.put("clients", f64::from(n), Unit::Count, line[clients - 1].spot);
    }
    let latency = |w: &Word| w.text.strip_prefix("max_latency=").and_then(decimal);
    if let Some((at, ms)) = line.iter().enumerate().find_map(|(i, w)| Some((i, latency(w)?))) {
        row.values.put("lat.max", ms * MS, Unit::Nanoseconds, line[at].spot);
        used = at + 1 + usize::from(line.get(at + 1).is_some_and(|w| w.text == "ms"));
    }
    Found::all(Reading { tool: "dbench", rows: vec![row], at: words[0].spot, ..Reading::default() }, used)
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::all;

    #[test]
    fn operations_and_throughput_are_read() {
        let text = " Operation      Count    AvgLat    MaxLat\n ----------------------------------------\n NTCreateX     123456     0.123    45.678\n Flush           1234     8.901   234.567\n\n\
            Throughput 123.5 MB/sec  8 clients  8 procs  max_latency=234.570 ms\n";
        let all = all(text, "dbench");
        assert_eq!(all[0].row("Flush").and_then(|r| r.value("lat.mean")), Some(8.901e6));
        let last = &all[1].rows[0];
        assert_eq!(
            (last.value("bw"), last.value("clients"), last.value("lat.max")),
            (Some(123.5 * 1048576.0), Some(8.0), Some(234.57e6))
        );
    }
}
