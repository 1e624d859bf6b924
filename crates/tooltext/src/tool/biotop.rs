//! Reads bcc's biotop: I/O per task and disk in an interval.
//!
//! ```text
//! 08:04:11 loadavg: 1.48 0.87 0.45 1/287 14547
//! PID    COMM             D MAJ MIN DISK       I/O  Kbytes  AVGms
//! 14501  cksum            R 202 1   xvda1      361   28832   3.39
//! ```
//!
//! **Versions**: bcc 0.1.8 to 0.37 (`tools/biotop.py`).

use super::reader::{Found, Tool};
use super::table::{self, Cell, Column};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Biotop;

const COLUMNS: [Column; 9] = [
    ("PID", Cell::Whole),
    ("COMM", Cell::Name),
    ("D", Cell::Letters),
    ("MAJ", Cell::Whole),
    ("MIN", Cell::Whole),
    ("DISK", Cell::Word),
    ("I/O", Cell::Number("count", 1.0, Unit::Count)),
    ("Kbytes", Cell::Number("bytes", 1024.0, Unit::Bytes)),
    ("AVGms", Cell::Number("lat.mean", 1e6, Unit::Nanoseconds)),
];

impl Tool for Biotop {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if words.first()?.text != "PID" {
            return None;
        }
        let (columns, heading) = table::heading(words, &COLUMNS);
        table::has(&columns, &["COMM", "DISK", "AVGms"]).then_some(())?;
        let all = table::rows(&words[heading..], &columns);
        let row = |line: &table::Line| {
            let text = |name: &str| line.text(name).unwrap_or_default();
            line.row(format!("{} {} {} ({})", text("DISK"), text("D"), text("COMM"), text("PID")))
        };
        let rows: Vec<Row> = all.lines.iter().map(row).collect();
        let used = heading + all.used;
        let reading = Reading { tool: "biotop", rows, at: words[0].spot, ..Reading::default() };
        (!reading.rows.is_empty()).then_some(Found { reading: Some(reading), used, unknown: all.unknown })
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

    #[test]
    fn who_does_what_on_which_disk() {
        let text = "PID    COMM             D MAJ MIN DISK       I/O  Kbytes  AVGms\n\
            14501  cksum            R 202 1   xvda1      361   28832   3.39\n0      Web Content      W 202 1   xvda1        3     168   3.00\n";
        let reading = one(text, "biotop");
        assert_eq!(reading.rows[1].of, "xvda1 W Web Content (0)");
        assert_eq!(reading.rows[0].value("lat.mean"), Some(3.39e6));
    }
}
