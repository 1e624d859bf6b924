//! nfsiostat (nfs-utils): operations of an NFS mount, and how long they took: on the wire (RTT), and from the call on (exe).
//!
//! ```text
//! server:/export mounted on /mnt/nfs:
//!            ops/s       rpc bklog
//!           12.345           0.000
//! read:              ops/s            kB/s           kB/op         retrans    avg RTT (ms)    avg exe (ms)
//!                    1.234        123.456          16.000        0 (0.0%)           1.234           2.345
//! ```
//!
//! Newer versions have a time in the queue and errors behind that.
//!
//! **Versions**: nfs-utils 2.6.2 (`nfs-iostat.py`), older forms by published texts.

use super::table::{self, Cell, Column};
use super::{Found, Tool};
use crate::mail::number::{decimal, Unit};
use crate::mail::reading::{Reading, Row};
use crate::mail::words::Word;

pub struct Nfsiostat;

const COLUMNS: [Column; 8] = [
    ("ops/s", Cell::Number("ops/s", 1.0, Unit::PerSecond)),
    ("kB/s", Cell::Number("bytes/s", 1024.0, Unit::BytesPerSecond)),
    ("kB/op", Cell::Number("size", 1024.0, Unit::Bytes)),
    ("retrans", Cell::Counted("sent again")),
    ("avg RTT (ms)", Cell::Number("rtt", 1e6, Unit::Nanoseconds)),
    ("avg exe (ms)", Cell::Number("exe", 1e6, Unit::Nanoseconds)),
    ("avg queue (ms)", Cell::Number("queued", 1e6, Unit::Nanoseconds)),
    ("errors", Cell::Counted("errors")),
];
/// Columns of the oldest version but one.
const LEAST_COLUMNS: usize = 5;

impl Tool for Nfsiostat {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let mut reading = Reading { tool: "nfsiostat", at: words.first()?.spot, ..Reading::default() };
        let mut used = 0;
        // Each operation has a heading of its own; the same again is another mount, or another interval.
        while let Some((row, length)) = operation(&words[used..]).filter(|_| reading.rows.len() < 2) {
            if reading.row(&row.of).is_some() {
                break;
            }
            reading.rows.push(row);
            used += length;
        }
        (used > 0).then_some(())?;
        Found::all(reading, used)
    }
}

fn operation(words: &[Word]) -> Option<(Row, usize)> {
    let of = words.first()?.text.strip_suffix(':').filter(|of| ["read", "write"].contains(of))?;
    let (columns, heading) = table::heading(&words[1..], &COLUMNS);
    (columns.len() >= LEAST_COLUMNS).then_some(())?;
    let (line, length) = table::row(&words[1 + heading..], &columns)?;
    let used = 1 + heading + length;
    let more = words.get(used).is_some_and(|w| !w.first && decimal(w.text).is_some());
    // A share of anything else: a heading or a number is missing.
    let share = words.get(used).is_some_and(|w| w.text.starts_with('('));
    (!more && !share).then(|| (line.row(of), used))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

    #[test]
    fn old_and_new_versions_have_both_latencies() {
        let old = "read:              ops/s            kB/s           kB/op         retrans    avg RTT (ms)    avg exe (ms)\n\
                    1.234        123.456          16.000        0 (0.0%)           1.500           2.500\n\
            write:             ops/s            kB/s           kB/op         retrans    avg RTT (ms)    avg exe (ms)\n\
                    10.000       160.000          16.000        3 (0.1%)          20.000         900.000\n";
        let new = old
            .replace("avg exe (ms)", "avg exe (ms)  avg queue (ms)          errors")
            .replace("2.500\n", "2.500 0.100 0 (0.0%)\n")
            .replace("900.000\n", "900.000 850.000 1 (0.1%)\n");
        for text in [old.to_owned(), new] {
            let reading = one(&text, "nfsiostat");
            let write = reading.row("write").unwrap();
            assert_eq!(
                (write.value("rtt"), write.value("exe"), write.value("sent again")),
                (Some(20e6), Some(900e6), Some(3.0))
            );
        }
    }
}
