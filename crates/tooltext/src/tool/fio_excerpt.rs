//! Where less than a job of fio's begins: people paste an operation's line alone, or latencies, or percentiles.
//!
//! ```text
//! read: IOPS=8738, BW=34.1MiB/s (35.8MB/s)(2048MiB/60001msec)
//! clat (usec): min=40, max=9000, avg=110.20, stdev=11.00
//! clat percentiles (usec):
//!  |  1.00th=[   78],  5.00th=[   90], 50.00th=[  104], 99.00th=[  225]
//! ```
//!
//! **Versions**: fio 2.0 to 3.42.

use super::fio_text::{OF_ALL, OPERATIONS};
use crate::mail::words::Word;

/// Whether a line of fio's begins here that no job's head stands above: `read: IOPS=8738, BW=...`, `write: io=1024MB, bw=...`,
/// `clat (usec): min=40, max=...`.
pub(super) fn is_excerpt(words: &[Word]) -> bool {
    let text = |i: usize| words.get(i).map_or("", |w| w.text);
    let first = text(0).trim_end_matches(':');
    let summed = OF_ALL.iter().any(|(all, _)| *all == first);
    // `sync (usec): min=` are latencies.
    let operation = OPERATIONS.contains(&first) && !text(1).starts_with('(');
    if operation || summed {
        let value = if text(1) == ":" { text(2) } else { text(1) };
        let colon = text(0).ends_with(':') || text(1) == ":";
        return colon && ["IOPS=", "io=", "bw=", "iops="].iter().any(|key| value.starts_with(key));
    }
    if first.is_empty() || !["slat", "clat", "lat", "sync"].contains(&text(0)) {
        return false;
    }
    let colon = text(1).ends_with(':') || text(2) == ":";
    let value = if text(2) == ":" { text(3) } else { text(2) };
    colon && text(1).starts_with('(') && value.starts_with("min=")
}

/// `clat percentiles (msec):`, of which the line above is missing.
pub(super) fn is_percentiles(words: &[Word]) -> bool {
    let text = |i: usize| words.get(i).map_or("", |w| w.text);
    let named = ["slat", "clat", "lat", "sync"].contains(&text(0)) && text(1) == "percentiles";
    let first = if text(3) == "|" { text(4) } else { text(3) };
    named && text(2).starts_with('(') && text(2).ends_with(':') && first.contains("th=[")
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn latencies_of_syncs_alone_are_read() {
        let row =
            one("    sync (usec): min=4012, max=48211, avg=10083.25, stdev=2211.5\n", "fio").rows.remove(0);
        assert_eq!(
            (row.of.as_str(), row.value("sync.mean"), row.value("sync.max")),
            ("sync", Some(10_083_250.0), Some(48_211e3))
        );
        assert!(all("sync (usec) is what I mean: min=3", "fio").is_empty());
    }

    #[test]
    fn percentiles_alone_are_read() {
        let text = |name: &str| {
            format!("\t{name} percentiles (msec):\n\t |  1.00th=[   12],  5.00th=[   15], 50.00th=[   31],\n\t | 99.00th=[  201], 99.99th=[  902]\n")
        };
        let row = one(&text("clat"), "fio").rows.remove(0);
        assert_eq!(
            (row.of.as_str(), row.value("clat.p1"), row.value("clat.p99")),
            ("I/O", Some(12e6), Some(201e6))
        );
        let row = one(&text("sync"), "fio").rows.remove(0);
        assert_eq!((row.of.as_str(), row.value("sync.p99.99")), ("sync", Some(902e6)));
        // Below the latencies that they are of they are one with these; two of them are two.
        let both = format!("    clat (msec): min=1, max=999, avg=40.5, stdev=9.5\n{}", text("clat"));
        assert_eq!(one(&both, "fio").rows[0].value("clat.p50"), Some(31e6));
        assert_eq!(
            all(&format!("before\n{}after\n{}", text("clat"), text("clat").replace("31", "32")), "fio").len(),
            2
        );
        assert!(all("clat percentiles (p99) are bad", "fio").is_empty());
    }
}
