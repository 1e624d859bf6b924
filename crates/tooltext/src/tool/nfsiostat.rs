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

use super::{Found, Tool};
use crate::mail::number::{decimal, Unit};
use crate::mail::reading::{Reading, Row};
use crate::mail::words::Word;

pub struct Nfsiostat;

/// Columns: their words, name, factor, unit. A number in parentheses behind one is its share.
const COLUMNS: [(&[&str], &str, f64, Unit); 8] = [
    (&["ops/s"], "ops/s", 1.0, Unit::PerSecond),
    (&["kB/s"], "bytes/s", 1024.0, Unit::BytesPerSecond),
    (&["kB/op"], "size", 1024.0, Unit::Bytes),
    (&["retrans"], "sent again", 1.0, Unit::Count),
    (&["avg", "RTT", "(ms)"], "rtt", 1e6, Unit::Nanoseconds),
    (&["avg", "exe", "(ms)"], "exe", 1e6, Unit::Nanoseconds),
    (&["avg", "queue", "(ms)"], "queued", 1e6, Unit::Nanoseconds),
    (&["errors"], "errors", 1.0, Unit::Count),
];

impl Tool for Nfsiostat {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let mut reading = Reading { tool: "nfsiostat", at: words.first()?.spot, ..Reading::default() };
        let mut used = 0;
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
    let mut at = 1;
    let mut columns = vec![];
    while let Some(column) = COLUMNS.iter().find(|(names, ..)| {
        let rest = words.get(at..at + names.len()).unwrap_or(&[]);
        !rest.is_empty() && names.iter().zip(rest).all(|(name, w)| *name == w.text)
    }) {
        at += column.0.len();
        columns.push(column);
    }
    (columns.len() >= 5).then_some(())?;
    let mut row = Row::of(of);
    for (_, name, factor, unit) in columns {
        let word = words.get(at)?;
        row.values.put(*name, decimal(word.text)? * factor, *unit, word.spot);
        at += 1;
        let share = words.get(at).is_some_and(|w| w.text.starts_with('(') && w.text.ends_with("%)"));
        // A share of anything else: a heading or a number is missing.
        (!share || ["sent again", "errors"].contains(name)).then_some(())?;
        at += usize::from(share);
    }
    let more = words.get(at).is_some_and(|w| !w.first && decimal(w.text).is_some());
    (!more).then_some((row, at))
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
