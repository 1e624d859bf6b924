//! vmstat -d (procps): what each disk did since the machine was started, as `/proc/diskstats` has it.
//!
//! ```text
//! disk- ------------reads------------ ------------writes----------- -----IO------
//!        total merged sectors      ms  total merged sectors      ms    cur    sec
//! sda    16182  38713 9437474 1253316 205841 402893 12345678 9876543     12   1405
//! ```
//!
//! A sector is 512 bytes.
//!
//! **Versions**: procps 3.2 to 4.0; 4.0.2 run.

use super::diskstats::COLUMNS;
use super::table;
use super::{Found, Tool};
use crate::mail::number::Unit;
use crate::mail::reading::{Reading, Row};
use crate::mail::words::Word;

pub struct VmstatDisk;

const HEADING: [&str; 10] =
    ["total", "merged", "sectors", "ms", "total", "merged", "sectors", "ms", "cur", "sec"];
/// Columns that are `/proc/diskstats`'s, unit and all; the last is how long the disk was busy, in seconds.
const AS_THERE: usize = 9;
const BUSY: (&str, f64, Unit) = ("busy", 1e9, Unit::Nanoseconds);
/// Words with rulers above the heading.
const MOST_RULERS: usize = 6;

impl Tool for VmstatDisk {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let first = words.first()?.text;
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
    line[0].text.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(())?;
    let mut row = Row::of(line[0].text);
    for ((name, factor, unit), word) in COLUMNS[..AS_THERE].iter().chain([&BUSY]).zip(&line[1..]) {
        row.values.put(*name, word.text.parse::<u64>().ok()? as f64 * factor, *unit, word.spot);
    }
    Some((row, line.len()))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

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
        assert_eq!((row.value("in_flight"), row.value("busy")), (Some(12.0), Some(1405e9)));
    }
}
