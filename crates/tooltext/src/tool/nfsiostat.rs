//! Reads nfsiostat (nfs-utils): operations of an NFS mount, with their times on the wire (RTT) and from the call on (exe).
//!
//! ```text
//! server:/export mounted on /mnt/nfs:
//!            ops/s       rpc bklog
//!           12.345           0.000
//! read:              ops/s            kB/s           kB/op         retrans    avg RTT (ms)    avg exe (ms)
//!                    1.234        123.456          16.000        0 (0.0%)           1.234           2.345
//! ```
//!
//! Newer versions add a time in the queue and errors, older ones print `op/s` for all operations. `-a` and `-d` add
//! operations: getattr, access, lookup, readdir.
//!
//! **Versions**: nfs-utils 2.6.2 (`nfs-iostat.py`), older forms by published texts.

use super::reader::{texts, Found, Tool};
use super::table::{self, Cell, Column};
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

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
/// Minimum number of columns: those of the second oldest version.
const LEAST_COLUMNS: usize = 5;

/// Operations, including those of `-a` and `-d`.
const OPERATIONS: [&str; 7] = ["read", "write", "getattr", "access", "lookup", "readdir", "readdirplus"];
/// Subject of the row of all operations.
const ALL: &str = "all";

impl Tool for Nfsiostat {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let mut reading = Reading { tool: "nfsiostat", at: words.first()?.spot, ..Reading::default() };
        let mut used = 0;
        if let Some((mount, length)) = mount(words) {
            reading.name = mount.to_owned();
            used = length;
        }
        // Each operation has its own heading; a repeated one is from another mount or interval.
        while let Some((row, length)) = sums(&words[used..]).or_else(|| operation(&words[used..])) {
            if reading.row(&row.of).is_some() {
                break;
            }
            reading.rows.push(row);
            used += length;
        }
        (!reading.rows.is_empty()).then_some(())?;
        Found::all(reading, used)
    }
}

/// Parses `server:/export mounted on /mnt/nfs:`.
fn mount<'a>(words: &[Word<'a>]) -> Option<(&'a str, usize)> {
    let [export, "mounted", "on", mount] = texts(words)? else { return None };
    let mount = mount.strip_suffix(':').filter(|path| path.starts_with('/') && export.contains(":/"))?;
    Some((mount, 4))
}

/// Parses `ops/s rpc bklog` and its two numbers.
fn sums(words: &[Word]) -> Option<(Row, usize)> {
    let ["ops/s" | "op/s", "rpc", "bklog", rate, backlog] = texts(words)? else { return None };
    let mut row = Row::of(ALL);
    row.values.put("ops/s", decimal(rate)?, Unit::PerSecond, words[3].spot);
    row.values.put("backlog", decimal(backlog)?, Unit::Count, words[4].spot);
    let more = words.get(5).is_some_and(|w| !w.first && decimal(w.text).is_some());
    (!more).then_some((row, 5))
}

fn operation(words: &[Word]) -> Option<(Row, usize)> {
    let of = words.first()?.text.strip_suffix(':').filter(|of| OPERATIONS.contains(of))?;
    let (columns, heading) = table::heading(&words[1..], &COLUMNS);
    (columns.len() >= LEAST_COLUMNS).then_some(())?;
    let (line, length) = table::row(&words[1 + heading..], &columns)?;
    let used = 1 + heading + length;
    let more = words.get(used).is_some_and(|w| !w.first && decimal(w.text).is_some());
    // A share after the row means that a heading or a number is missing.
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

    #[test]
    fn a_mount_has_its_name_and_all_its_operations() {
        let text = "nas:/export mounted on /mnt/nfs:\n\n           ops/s       rpc bklog\n         123.500           7.250\n\n\
            getattr:           ops/s            kB/s           kB/op         retrans    avg RTT (ms)    avg exe (ms)  avg queue (ms)          errors\n\
            \x20                 80.000          20.000           0.250        0 (0.0%)           0.500           0.750           0.125        2 (2.5%)\n";
        for text in [text.to_owned(), text.replace("ops/s       rpc", "op/s       rpc")] {
            let reading = one(&text, "nfsiostat");
            let value = |of: &str, name: &str| reading.row(of).and_then(|row| row.value(name));
            assert_eq!(reading.name, "/mnt/nfs");
            assert_eq!((value("all", "ops/s"), value("all", "backlog")), (Some(123.5), Some(7.25)));
            assert_eq!((value("getattr", "exe"), value("getattr", "errors")), (Some(750e3), Some(2.0)));
        }
        let two = [text, &text.replace("123.500", "9.500")].concat();
        assert_eq!(crate::tool::testing::all(&two, "nfsiostat").len(), 2);
        for prose in
            ["a disk mounted on /mnt: slow", "nas:/a mounted on /b: it is slow", "ops/s rpc bklog 5 high"]
        {
            assert!(crate::tool::testing::all(prose, "nfsiostat").is_empty(), "{prose}");
        }
    }
}
