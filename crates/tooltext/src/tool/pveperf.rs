//! Reads pveperf, with which Proxmox VE measures a file system: how many syncs it completes a second, and how long its disk seeks.
//!
//! ```text
//! CPU BOGOMIPS:      38400.00
//! REGEX/SECOND:      2534213
//! HD SIZE:           93.99 GB (/dev/mapper/pve-root)
//! BUFFERED READS:    115.72 MB/sec
//! AVERAGE SEEK TIME: 9.37 ms
//! FSYNCS/SECOND:     96.60
//! ```
//!
//! One sync follows the other, so a sync takes a second divided by their number.
//!
//! **Versions**: Proxmox VE 3 to 8 by published texts.

use super::reader::{texts, Found, Tool};
use crate::output::number::{decimal, Unit};
use crate::output::reading::Row;
use crate::output::words::Word;

pub struct Pveperf;

/// Limit on words between the two lines that are read.
const MOST_BETWEEN: usize = 4;

impl Tool for Pveperf {
    fn read(&self, words: &[Word]) -> Option<Found> {
        Found::rows("pveperf", words, MOST_BETWEEN, row)
    }
}

fn row(words: &[Word]) -> Option<(Row, usize)> {
    if let Some(["FSYNCS/SECOND:", rate]) = texts(words) {
        let rate = decimal(rate).filter(|rate| *rate > 0.0)?;
        let mut row = Row::of("fsync");
        row.values.put("ops/s", rate, Unit::PerSecond, words[1].spot);
        row.values.put("lat.mean", 1e9 / rate, Unit::Nanoseconds, words[1].spot);
        return Some((row, 2));
    }
    let ["AVERAGE", "SEEK", "TIME:", time, "ms"] = texts(words)? else { return None };
    let mut row = Row::of("seek");
    row.values.put("lat.mean", decimal(time)? * 1e6, Unit::Nanoseconds, words[3].spot);
    Some((row, 5))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn syncs_follow_one_another() {
        let text = "CPU BOGOMIPS:      121369.44\nREGEX/SECOND:      7314912\nHD SIZE:           10885.91 GB (tank)\n\
            BUFFERED READS:    115.72 MB/sec\nAVERAGE SEEK TIME: 9.25 ms\nFSYNCS/SECOND:     80.00\nDNS EXT:           28.81 ms\n";
        let reading = one(text, "pveperf");
        let value = |of: &str, name: &str| reading.row(of).and_then(|row| row.value(name));
        assert_eq!((value("fsync", "ops/s"), value("fsync", "lat.mean")), (Some(80.0), Some(12.5e6)));
        assert_eq!(value("seek", "lat.mean"), Some(9.25e6));
        assert_eq!(one("FSYNCS/SECOND: 1000\n", "pveperf").rows.len(), 1);
        assert!(all("FSYNCS/SECOND: many\nFSYNCS/SECOND: 0\n", "pveperf").is_empty());
    }
}
