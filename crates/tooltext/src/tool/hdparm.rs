//! hdparm -tT: what a disk reads in a few seconds, from the cache and from the medium.
//!
//! ```text
//! /dev/sda:
//!  Timing cached reads:   20000 MB in  2.00 seconds = 10010.53 MB/sec
//!  Timing buffered disk reads: 300 MB in  3.01 seconds =  99.67 MB/sec
//! ```
//!
//! **Versions**: hdparm 9.65 run.

use super::{Found, Tool};
use crate::mail::number::{decimal, Unit};
use crate::mail::reading::{Reading, Row};
use crate::mail::words::Word;

pub struct Hdparm;

/// hdparm's `MB` is 1024 times 1024 bytes (`time_device`, hdparm.c).
const MB: f64 = 1024.0 * 1024.0;
/// Words of a line.
const LONGEST: usize = 14;

impl Tool for Hdparm {
    fn read(&self, words: &[Word]) -> Option<Found> {
        (words.first()?.text == "Timing"
            && words.get(1)?.text.chars().all(|c| c.is_alphabetic() || c == '_'))
        .then_some(())?;
        let line = &words[..words.len().min(LONGEST)];
        let reads = line.iter().position(|w| w.text == "reads:")?;
        let equals = line.iter().position(|w| w.text == "=")?;
        let rate = line.get(equals + 1)?;
        (line.get(equals + 2)?.text.starts_with("MB/sec") && reads < equals).then_some(())?;
        let of: Vec<&str> = line[1..reads].iter().map(|w| w.text).collect();
        let mut row = Row::of(of.join(" "));
        row.values.put("bw", decimal(rate.text)? * MB, Unit::BytesPerSecond, rate.spot);
        Found::all(
            Reading { tool: "hdparm", rows: vec![row], at: words[0].spot, ..Reading::default() },
            equals + 3,
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::all;

    #[test]
    fn both_kinds_of_reads_are_rows() {
        let text = "/dev/sda:\n Timing cached reads:   20000 MB in  2.00 seconds = 10010.50 MB/sec\n Timing buffered disk reads: 300 MB in  3.01 seconds =  99.67 MB/sec\n";
        let all = all(text, "hdparm");
        assert_eq!(
            (all[1].rows[0].of.as_str(), all[1].rows[0].value("bw")),
            ("buffered disk", Some((99.67f64 * 1024.0 * 1024.0 * 1e4).round() / 1e4))
        );
    }
}
