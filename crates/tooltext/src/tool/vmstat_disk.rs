//! Reads vmstat -d and -p (procps): activity of each disk or one partition since boot, from `/proc/diskstats`.
//!
//! ```text
//! disk- ------------reads------------ ------------writes----------- -----IO------
//!        total merged sectors      ms  total merged sectors      ms    cur    sec
//! sda    16182  38713 9437474 1253316 205841 402893 12345678 9876543     12   1405
//!
//! sda1            reads      read sectors      writes  requested writes        -p: a row for each interval, of sums
//!                 16182           9437474      205841          12345678
//! ```
//!
//! A sector is 512 bytes. `cur` is the number of requests in flight in thousands (16 are 0; procps 4.0.2 compared with `/proc/diskstats`), so it is
//! not kept; `requested writes` are the sectors written (same comparison).
//!
//! **Versions**: procps 3.2 to 4.0; 4.0.2 run.

use super::diskstats::COLUMNS;
use super::reader::{Found, Tool};
use super::table;
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct VmstatDisk;

const HEADING: [&str; 10] =
    ["total", "merged", "sectors", "ms", "total", "merged", "sectors", "ms", "cur", "sec"];
/// Number of columns with the unit of `/proc/diskstats`; the last column of a line is the busy time of the disk in seconds.
const AS_THERE: usize = 8;
const BUSY: (&str, f64, Unit) = ("busy", 1e9, Unit::Nanoseconds);
/// Limit on words with rulers above the heading.
const MOST_RULERS: usize = 6;

/// The columns after a partition's name, each with its index in [`COLUMNS`].
const OF_PARTITION: [(&[&str], usize); 4] =
    [(&["reads"], 0), (&["read", "sectors"], 2), (&["writes"], 4), (&["requested", "writes"], 6)];

impl Tool for VmstatDisk {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let first = words.first()?.text;
        if let Some(heading) = heading_of_partition(words) {
            let reading = Reading { tool: "vmstat -p", at: words[0].spot, ..Reading::default() };
            let ends = |w: &Word| w.text == first;
            return table::gather(reading, words, heading, table::MOST_ROWS, ends, |rest| {
                row_of_partition(first, rest)
            });
        }
        (first == HEADING[0] || first == "disk-").then_some(())?;
        let rulers = words.iter().take(MOST_RULERS).take_while(|w| w.text.ends_with('-')).count();
        let same = HEADING.iter().zip(words.get(rulers..)?).all(|(name, w)| *name == w.text);
        (same && words.len() > rulers + HEADING.len()).then_some(())?;
        let reading = Reading { tool: "vmstat -d", at: words[0].spot, ..Reading::default() };
        let ends = |w: &Word| w.text == "disk-" || w.text == HEADING[0];
        table::gather(reading, words, rulers + HEADING.len(), table::MOST_ROWS, ends, row)
    }
}

fn row(words: &[Word]) -> Option<(Row, usize)> {
    let line = words.get(..=HEADING.len())?;
    is_named(line[0].text).then_some(())?;
    let mut row = Row::of(line[0].text);
    let of = COLUMNS[..AS_THERE].iter().map(Some).chain([None, Some(&BUSY)]);
    for (column, word) in of.zip(&line[1..]) {
        let value: u64 = word.text.parse().ok()?;
        if let Some((name, factor, unit)) = column {
            row.values.put(*name, value as f64 * factor, *unit, word.spot);
        }
    }
    Some((row, line.len()))
}

/// Number of words of the heading `sda1 reads read sectors writes requested writes`.
fn heading_of_partition(words: &[Word]) -> Option<usize> {
    (words.get(1)?.text == "reads").then_some(())?;
    let names = OF_PARTITION.iter().flat_map(|(name, _)| *name);
    let same = names.clone().zip(words.get(1..)?).all(|(name, w)| *name == w.text);
    let heading = 1 + names.count();
    (same && words.len() > heading && is_named(words[0].text)).then_some(heading)
}

/// Parses the numbers of a line.
fn row_of_partition(of: &str, words: &[Word]) -> Option<(Row, usize)> {
    let line = words.get(..OF_PARTITION.len())?;
    let mut row = Row::of(of);
    for ((_, column), word) in OF_PARTITION.iter().zip(line) {
        let (name, factor, unit) = COLUMNS[*column];
        row.values.put(name, word.text.parse::<u64>().ok()? as f64 * factor, unit, word.spot);
    }
    Some((row, line.len()))
}

fn is_named(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn disks_have_their_sums() {
        let text = "disk- ------------reads------------ ------------writes----------- -----IO------\n\
            \x20      total merged sectors      ms  total merged sectors      ms    cur    sec\n\
            sda   161822  38713 9437474 1253316 205841 402893 12345678 9876543     12   1405\n\
            sdb        0      0       0       0      0      0        0       0      0      0\n";
        let reading = one(text, "vmstat -d");
        assert_eq!(reading.rows.len(), 2);
        let row = &reading.rows[0];
        assert_eq!(
            (row.value("read.ios"), row.value("write.bytes")),
            (Some(161_822.0), Some(12_345_678.0 * 512.0))
        );
        assert_eq!((row.value("in_flight"), row.value("busy")), (None, Some(1405e9)));
    }

    #[test]
    fn a_partition_has_a_row_for_each_interval() {
        let text = "sda1            reads      read sectors      writes  requested writes\n\
            \x20           1717468         114288304      442648         147874356\n\
            \x20           1717470         114288320      442700         147874772\n";
        let old = text.replace("      read", " read").replace("  requested", " requested");
        for text in [text, &old, &text.repeat(2)] {
            let reading = &all(text, "vmstat -p")[0];
            let row = &reading.rows[1];
            assert_eq!((reading.rows.len(), row.of.as_str()), (2, "sda1"), "{text}");
            assert_eq!(
                (row.value("read.ios"), row.value("write.bytes")),
                (Some(1_717_470.0), Some(147_874_772.0 * 512.0))
            );
        }
        for prose in ["sda1 reads read sectors writes requested writes are slow", "sda reads 5 sectors"] {
            assert!(all(prose, "vmstat -p").is_empty(), "{prose}");
        }
    }
}
