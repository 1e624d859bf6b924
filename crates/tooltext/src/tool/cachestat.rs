//! Reads cachestat of bcc and of perf-tools: hits and misses of the page cache, a row per interval.
//!
//! ```text
//!     HITS   MISSES  DIRTIES HITRATIO   BUFFERS_MB  CACHED_MB              bcc; before that TOTAL and MISSES came first
//!    17154    13750       15   55.51%          277       4422
//!     HITS   MISSES  DIRTIES    RATIO   BUFFERS_MB   CACHE_MB              perf-tools
//! ```
//!
//! **Versions**: bcc 0.1.8 to 0.37 (`tools/cachestat.py`), perf-tools 1.0 (`fs/cachestat`).

use super::reader::{Found, Tool};
use super::table::{self, Cell, Column};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Cachestat;

const MIB: f64 = 1024.0 * 1024.0;
const COLUMNS: [Column; 12] = [
    ("TIME", Cell::Time),
    ("TOTAL", Cell::Number("total", 1.0, Unit::Count)),
    ("HITS", Cell::Number("hits", 1.0, Unit::Count)),
    ("MISSES", Cell::Number("misses", 1.0, Unit::Unstated)),
    ("DIRTIES", Cell::Number("dirtied", 1.0, Unit::Count)),
    ("HITRATIO", Cell::Number("hit", 0.01, Unit::Share)),
    ("RATIO", Cell::Number("hit", 0.01, Unit::Share)),
    ("READ_HIT%", Cell::Number("read hit", 0.01, Unit::Share)),
    ("WRITE_HIT%", Cell::Number("write hit", 0.01, Unit::Share)),
    ("BUFFERS_MB", Cell::Number("buffers", MIB, Unit::Bytes)),
    ("CACHED_MB", Cell::Number("cached", MIB, Unit::Bytes)),
    ("CACHE_MB", Cell::Number("cached", MIB, Unit::Bytes)),
];

impl Tool for Cachestat {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if !["HITS", "TOTAL", "TIME"].contains(&words.first()?.text) {
            return None;
        }
        let (columns, heading) = table::heading(words, &COLUMNS);
        table::has(&columns, &["HITS", "MISSES", "BUFFERS_MB"]).then_some(())?;
        let all = table::rows(&words[heading..], &columns);
        let rows: Vec<Row> = all.lines.iter().map(|line| line.row("page cache")).collect();
        let used = heading + all.used;
        let reading = Reading { tool: "cachestat", rows, at: words[0].spot, ..Reading::default() };
        (!reading.rows.is_empty()).then_some(Found { reading: Some(reading), used, unknown: all.unknown })
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

    #[test]
    fn misses_may_be_negative_and_ratios_are_shares() {
        let text = "    HITS   MISSES  DIRTIES HITRATIO   BUFFERS_MB  CACHED_MB\n   17154    13750       15   55.51%          277       4422\n\
            ^C       0      -19      360    0.00%          277       4423\nDetaching...\n";
        let reading = one(text, "cachestat");
        assert_eq!(reading.rows.len(), 2);
        assert_eq!(
            (reading.rows[0].value("hit"), reading.rows[1].value("misses")),
            (Some(0.5551), Some(-19.0))
        );
    }
}
