//! Reads hdparm -tT: read rate of a disk over a few seconds, from the cache and from the medium.
//!
//! ```text
//! /dev/sda:
//!  Timing cached reads:   20000 MB in  2.00 seconds = 10010.53 MB/sec
//!  Timing buffered disk reads: 300 MB in  3.01 seconds =  99.67 MB/sec
//!  Timing O_DIRECT disk reads (offset 100 GB):   2 MB in  3.50 seconds = 585.14 kB/sec        --direct, --offset; below 1 MB/sec
//! ```
//!
//! **Versions**: hdparm 9.65 run, 9.58 by its source.

use super::reader::{Found, Tool};
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Hdparm;

/// hdparm's `MB` is 1024 of its `kB`, which are 1024 bytes (`time_device`, hdparm.c).
const UNITS: [(&str, f64); 2] = [("MB/sec", 1024.0 * 1024.0), ("kB/sec", 1024.0)];
/// Limit on lines of one device: each of hdparm's options prints one.
const MOST_LINES: usize = 8;
/// Limit on words of a line.
const LONGEST: usize = 18;

impl Tool for Hdparm {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let reading = Reading { tool: "hdparm", at: words.first()?.spot, ..Reading::default() };
        let Some(device) = device(words) else {
            let (row, used) = timing(words)?;
            return Found::all(Reading { rows: vec![row], ..reading }, used);
        };
        let (mut rows, mut used) = (vec![], 1);
        while let Some((row, length)) = timing(&words[used..]).filter(|_| rows.len() < MOST_LINES) {
            rows.push(Row { of: format!("{device} {}", row.of), ..row });
            used += length;
        }
        (!rows.is_empty()).then_some(())?;
        Found::all(Reading { rows, ..reading }, used)
    }
}

/// The device that the lines below are of, without its folder: `sda` of `/dev/sda:`, `vg/home` of `/dev/vg/home:`.
fn device<'a>(words: &[Word<'a>]) -> Option<&'a str> {
    let first = words.first().filter(|w| w.first)?;
    first.text.strip_prefix("/dev/")?.strip_suffix(':').filter(|name| !name.is_empty())
}

/// A line of one kind of reads, and its number of words.
fn timing(words: &[Word]) -> Option<(Row, usize)> {
    (words.first()?.text == "Timing" && words.get(1)?.text.chars().all(|c| c.is_alphabetic() || c == '_'))
        .then_some(())?;
    let line = &words[..words.len().min(LONGEST)];
    let reads = line.iter().position(|w| w.text.trim_end_matches(':') == "reads")?;
    let equals = line.iter().position(|w| w.text == "=")?;
    let rate = line.get(equals + 1)?;
    let unit = line.get(equals + 2)?.text;
    let (_, scale) = UNITS.iter().find(|(name, _)| reads < equals && unit.starts_with(name))?;
    let of: Vec<&str> = line[1..reads].iter().map(|w| w.text).collect();
    let mut row = Row::of(of.join(" "));
    row.values.put("bw", decimal(rate.text)? * scale, Unit::BytesPerSecond, rate.spot);
    Some((row, equals + 3))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::all;

    #[test]
    fn both_kinds_of_reads_are_rows() {
        let text = "/dev/sda:\n Timing cached reads:   20000 MB in  2.00 seconds = 10010.50 MB/sec\n Timing buffered disk reads: 300 MB in  3.01 seconds =  99.67 MB/sec\n";
        let all = all(text, "hdparm");
        assert_eq!((all.len(), all[0].rows[0].of.as_str()), (1, "sda cached"));
        assert_eq!(
            (all[0].rows[1].of.as_str(), all[0].rows[1].value("bw")),
            ("sda buffered disk", Some((99.67f64 * 1024.0 * 1024.0 * 1e4).round() / 1e4))
        );
    }

    #[test]
    fn each_device_names_its_rows() {
        let line = " Timing buffered disk reads: 300 MB in  3.00 seconds = 100.00 MB/sec\n";
        let all = all(&format!("/dev/vg1/home:\n{line}\n/dev/sdq:\n{line}\nand then\n{line}"), "hdparm");
        let names: Vec<&str> = all.iter().flat_map(|r| &r.rows).map(|row| row.of.as_str()).collect();
        assert_eq!(names, ["vg1/home buffered disk", "sdq buffered disk", "buffered disk"]);
    }

    #[test]
    fn what_is_slower_than_a_megabyte_a_second_has_a_unit_of_its_own() {
        let text = " Timing O_DIRECT disk reads (offset 100 GB):   2 MB in  3.50 seconds = 585.25 kB/sec\n";
        let all = all(text, "hdparm");
        assert_eq!(
            (all[0].rows[0].of.as_str(), all[0].rows[0].value("bw")),
            ("O_DIRECT disk", Some(585.25 * 1024.0))
        );
    }
}
