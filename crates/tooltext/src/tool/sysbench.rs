//! sysbench's fileio, versions 0.4 to 1.0: rates, and the latency of operations.
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
//! ```

use super::phrases::{self, Phrase};
use super::{Found, Tool};
use crate::mail::number::Unit;
use crate::mail::reading::Reading;
use crate::mail::words::Word;

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
/// How its sections begin.
const BEGINS: [[&str; 2]; 5] = [
    ["File", "operations:"],
    ["reads/s:", ""],
    ["per-request", "statistics:"],
    ["Operations", "performed:"],
    ["Latency", "(ms):"],
];
/// Words of a section's heading, and of the first line of old versions.
const MOST_OF_HEADING: usize = 30;

impl Tool for Sysbench {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let first = [words.first()?.text, words.get(1)?.text];
        BEGINS.iter().any(|[a, b]| *a == first[0] && (b.is_empty() || *b == first[1])).then_some(())?;
        let from = (0..MOST_OF_HEADING.min(words.len()))
            .find(|i| phrases::row(&words[*i..], &PHRASES, "").is_some())?;
        let (row, used, unknown) = phrases::row(&words[from..], &PHRASES, "requests")?;
        (row.get("r/s").is_some() || row.get("lat.mean").is_some()).then_some(())?;
        let reading = Reading { tool: "sysbench", rows: vec![row], at: words[0].spot, ..Reading::default() };
        Some(Found { reading: Some(reading), used: from + used, unknown })
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

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
}
