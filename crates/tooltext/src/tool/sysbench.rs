//! Reads sysbench's fileio and database tests, versions 0.4 to 1.1: rates, and the latency of operations.
//!
//! ```text
//! File operations:                         Operations performed:  6000 Read, 4000 Write, 12800 Other = 22800 Total
//!     reads/s:                      10.5   Read 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (2.6042Mb/sec)
//!     writes/s:                     7.0      166.67 Requests/sec executed
//!     fsyncs/s:                     22.4
//! Latency (ms):                            per-request statistics:
//!          min:          0.00                  min:          0.01ms
//!          avg:         25.03                  avg:         25.03ms
//!          max:        312.81                  max:        312.81ms
//!          95th percentile:  90.78             approx.  95 percentile:  90.78ms
//! transactions:       12345  (205.74 per sec.)                                       of databases
//! ```
//!
//! 1.1 has `Throughput: read: IOPS=10.50 0.16 MiB/s (0.17 MB/s) write: ... fsync: IOPS=22.40` in place of the operations.
//!
//! `sysbench_lines.rs` reads its intermediate reports, `sysbench_histogram.rs` its histogram.
//!
//! **Versions**: sysbench 1.0.20 run, 0.4.12, 0.5 and 1.1 by published texts.

use super::phrases::{self, Phrase};
use super::reader::{texts, Found, Tool};
use super::{sysbench_histogram, sysbench_lines};
use crate::output::number::{grouped, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Sysbench;

const MS: f64 = 1e6;
const MIB: f64 = 1024.0 * 1024.0;
const PHRASES: [Phrase; 15] = [
    (&["reads/s:"], "r/s", 1.0, Unit::PerSecond),
    (&["writes/s:"], "w/s", 1.0, Unit::PerSecond),
    (&["fsyncs/s:"], "fsyncs/s", 1.0, Unit::PerSecond),
    (&["read,", "MiB/s:"], "rbytes/s", MIB, Unit::BytesPerSecond),
    (&["written,", "MiB/s:"], "wbytes/s", MIB, Unit::BytesPerSecond),
    (&["total", "time:"], "runtime", 1e9, Unit::Nanoseconds),
    (&["total", "number", "of", "events:"], "count", 1.0, Unit::Count),
    (&["min:"], "lat.min", MS, Unit::Nanoseconds),
    (&["avg:"], "lat.mean", MS, Unit::Nanoseconds),
    (&["max:"], "lat.max", MS, Unit::Nanoseconds),
    (&["95th", "percentile:"], "lat.p95", MS, Unit::Nanoseconds),
    (&["99th", "percentile:"], "lat.p99", MS, Unit::Nanoseconds),
    (&["approx.", "95", "percentile:"], "lat.p95", MS, Unit::Nanoseconds),
    (&["approx.", "99", "percentile:"], "lat.p99", MS, Unit::Nanoseconds),
    (&["total", "time", "taken", "by", "event", "execution:"], "busy", 1e9, Unit::Nanoseconds),
];
/// First words of its sections.
const BEGINS: [[&str; 2]; 6] = [
    ["File", "operations:"],
    ["reads/s:", ""],
    ["per-request", "statistics:"],
    ["Operations", "performed:"],
    ["Latency", "(ms):"],
    ["response", "time:"],
];
/// Limit on words of a section's heading, and of the first line of old versions.
const MOST_OF_HEADING: usize = 30;

impl Tool for Sysbench {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let first = [words.first()?.text, words.get(1)?.text];
        if first[0].starts_with('[') {
            return sysbench_lines::read(words);
        }
        if first == ["Latency", "histogram"] {
            return sysbench_histogram::read(words);
        }
        if let Some((row, used)) = transactions(words) {
            return found(row, words, used, 0);
        }
        if let Some((mut row, used)) = throughput(words) {
            let rest = &words[used..];
            // Latencies may follow.
            let latency = texts(rest).is_some_and(|next| next == ["Latency", "(ms):"]);
            let behind = if latency { phrases::row(&rest[2..], &PHRASES, "requests") } else { None };
            let Some((more, length, unknown)) = behind else { return found(row, words, used, 0) };
            more.values.iter().for_each(|(name, n)| row.values.put(name, n.value, n.unit, n.at));
            return found(row, words, used + 2 + length, unknown);
        }
        BEGINS.iter().any(|[a, b]| *a == first[0] && (b.is_empty() || *b == first[1])).then_some(())?;
        let from = (0..MOST_OF_HEADING.min(words.len()))
            .find(|i| phrases::row(&words[*i..], &PHRASES, "").is_some())?;
        let (row, used, unknown) = phrases::row(&words[from..], &PHRASES, "requests")?;
        (row.get("r/s").is_some() || row.get("lat.mean").is_some()).then_some(())?;
        found(row, words, from + used, unknown)
    }
}

fn found(row: Row, words: &[Word], used: usize, unknown: usize) -> Option<Found> {
    let reading = Reading { tool: "sysbench", rows: vec![row], at: words[0].spot, ..Reading::default() };
    Some(Found { reading: Some(reading), used, unknown })
}

/// Parses `Throughput: read: IOPS=10.5 0.16 MiB/s (0.17 MB/s) write: IOPS=7.00 0.11 MiB/s (0.11 MB/s) fsync: IOPS=22.40`.
fn throughput(words: &[Word]) -> Option<(Row, usize)> {
    const KINDS: [(&str, &str, &str); 3] =
        [("read:", "r/s", "rbytes/s"), ("write:", "w/s", "wbytes/s"), ("fsync:", "fsyncs/s", "")];
    (words.first()?.text == "Throughput:").then_some(())?;
    let (mut row, mut used) = (Row::of("requests"), 1);
    while let Some([kind, rate]) = words.get(used..).and_then(texts) {
        let Some((_, name, bytes)) = KINDS.iter().find(|(key, ..)| *key == kind) else { break };
        let Some(rate) = rate.strip_prefix("IOPS=").and_then(grouped) else { break };
        row.values.put(*name, rate, Unit::PerSecond, words[used + 1].spot);
        used += 2;
        let Some([value, "MiB/s", _, "MB/s)"]) = words.get(used..).and_then(texts) else { continue };
        row.values.put(*bytes, grouped(value)? * MIB, Unit::BytesPerSecond, words[used].spot);
        used += 4;
    }
    (used > 1).then_some((row, used))
}

/// Parses `transactions:  12345  (205.74 per sec.)`, and the same of queries before or after it.
fn transactions(words: &[Word]) -> Option<(Row, usize)> {
    const KINDS: [(&str, &str); 3] =
        [("transactions:", "tps"), ("queries:", "queries/s"), ("read/write", "queries/s")];
    let (mut row, mut used) = (Row::of("transactions"), 0);
    while let Some((_, name)) = words.get(used).and_then(|w| KINDS.iter().find(|(kind, _)| *kind == w.text)) {
        let from = used + usize::from(words.get(used + 1).is_some_and(|w| w.text == "requests:"));
        let Some([_, count, rate, "per", "sec.)"]) = words.get(from..).and_then(texts) else { break };
        let (count, rate) = (grouped(count)?, grouped(rate.strip_prefix('(')?)?);
        if row.get(name).is_some() {
            break;
        }
        if *name == "tps" {
            row.values.put("count", count, Unit::Count, words[from + 1].spot);
        }
        row.values.put(*name, rate, Unit::PerSecond, words[from + 2].spot);
        used = from + 5;
        // `deadlocks: 0 (0.00 per sec.)` may be between them.
        let between = words.get(used..).and_then(texts::<5>);
        used += if between.is_some_and(|b| b[0] == "deadlocks:" && b[4] == "sec.)") { 5 } else { 0 };
    }
    (row.get("tps").is_some()).then_some((row, used))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn databases_have_transactions_and_latencies() {
        let old = "OLTP test statistics:\n    queries performed:\n        read:                            1000\n        write:                           400\n\
            \x20   transactions:                        10000  (166.5 per sec.)\n    deadlocks:                           0      (0.00 per sec.)\n\
            \x20   read/write requests:                 190000 (3163.5 per sec.)\n    other operations:                    20000  (333.00 per sec.)\n\n\
            General statistics:\n    total time:                          60.0607s\n    total number of events:              10000\n\
            \x20   response time:\n         min:                                 12.50ms\n         avg:                                 48.25ms\n         max:                                913.50ms\n         approx.  95 percentile:              90.75ms\n";
        let new = "SQL statistics:\n    transactions:                        10000  (166.5 per sec.)\n    queries:                             200000 (3163.5 per sec.)\n    ignored errors:                      0      (0.00 per sec.)\n\n\
            General statistics:\n    total time:                          60.0607s\n\nLatency (ms):\n         min:                                   12.50\n         avg:                                   48.25\n         max:                                  913.50\n         95th percentile:                       90.75\n";
        for text in [old, new] {
            let readings = all(text, "sysbench");
            let value = |name: &str| readings.iter().flat_map(|r| &r.rows).find_map(|r| r.value(name));
            assert_eq!(
                ["count", "tps", "queries/s"].map(value),
                [10_000.0, 166.5, 3163.5].map(Some),
                "{text}"
            );
            assert_eq!(
                ["lat.mean", "lat.max", "lat.p95"].map(value),
                [48.25e6, 913.5e6, 90.75e6].map(Some),
                "{text}"
            );
        }
        assert!(all("transactions: 5 (2 per second)\n", "sysbench").is_empty());
    }

    #[test]
    fn both_versions_have_their_latencies() {
        let new = "File operations:\n    reads/s:                      10.50\n    writes/s:                     7.00\n    fsyncs/s:                     22.40\n\n\
            Throughput:\n    read, MiB/s:                  0.16\n    written, MiB/s:               0.11\n\nGeneral statistics:\n    total time:                          60.0s\n\
            Latency (ms):\n         min:                                  0.00\n         avg:                                 25.03\n         max:                                312.81\n\
                 95th percentile:                        90.78\n";
        let row = one(new, "sysbench").rows.remove(0);
        assert_eq!(
            (row.value("r/s"), row.value("lat.p95"), row.value("runtime")),
            (Some(10.5), Some(90.78e6), Some(60e9))
        );
        let old = "per-request statistics:\n         min:                                  0.01ms\n         avg:                                 25.03ms\n\
            max:                                312.81ms\n         approx.  95 percentile:              90.78ms\n";
        let row = one(old, "sysbench").rows.remove(0);
        assert_eq!((row.value("lat.mean"), row.value("lat.p95")), (Some(25.03e6), Some(90.78e6)));
    }

    #[test]
    fn the_throughput_of_1_1_is_read_with_the_latency_behind_it() {
        let text = "Throughput:\n         read:  IOPS=10.50 0.16 MiB/s (0.17 MB/s)\n         write: IOPS=7.00 0.11 MiB/s (0.11 MB/s)\n\
            \x20        fsync: IOPS=22.40\n\nLatency (ms):\n         min:                  0.00\n         avg:                  25.03\n\
            \x20        max:                312.81\n         95th percentile:      90.78\n";
        let row = &one(text, "sysbench").rows[0];
        let value = |name: &str| row.value(name);
        assert_eq!((value("r/s"), value("w/s"), value("fsyncs/s")), (Some(10.5), Some(7.0), Some(22.4)));
        assert_eq!((value("wbytes/s"), value("lat.max")), (Some(0.11 * 1048576.0), Some(312.81e6)));
    }
}
