//! Reads vmstat(8), procps: memory, swap, blocks and processors, a row per interval; the first covers the time since boot.
//!
//! ```text
//! procs -----------memory---------- ---swap-- -----io---- -system-- -------cpu-------
//!  r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st gu
//!  1  7      0 123456  10000 200000    0    0   120  9000  300  600  1  2 10 87  0  0
//! ```
//!
//! Memory is in KiB unless `-S` was given, which the heading does not show; `bi` and `bo` are KiB per second.
//!
//! **Versions**: procps 3.2 to 4.0; 4.0.2 run.

use super::reader::{Found, Tool};
use super::table::{self, Cell, Column};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Vmstat;

const KIB: f64 = 1024.0;
const fn count(name: &'static str) -> Cell {
    Cell::Number(name, 1.0, Unit::Count)
}
const fn percent(name: &'static str) -> Cell {
    Cell::Number(name, 0.01, Unit::Share)
}
const fn kib(name: &'static str) -> Cell {
    Cell::Number(name, KIB, Unit::BytesPerSecond)
}
const COLUMNS: [Column; 20] = [
    ("r", count("running")),
    ("b", count("blocked")),
    ("swpd", Cell::Whole),
    ("free", Cell::Whole),
    ("buff", Cell::Whole),
    ("cache", Cell::Whole),
    ("inact", Cell::Whole),
    ("active", Cell::Whole),
    ("si", kib("swapped in")),
    ("so", kib("swapped out")),
    ("bi", kib("rbytes/s")),
    ("bo", kib("wbytes/s")),
    ("in", Cell::Number("interrupts", 1.0, Unit::PerSecond)),
    ("cs", Cell::Number("switches", 1.0, Unit::PerSecond)),
    ("us", percent("user")),
    ("sy", percent("system")),
    ("id", percent("idle")),
    ("wa", percent("iowait")),
    ("st", percent("steal")),
    ("gu", percent("guest")),
];

/// Tolerance for the sum of six rounded percentages, with ticks that are counted late.
const ROUNDED: f64 = 0.06;

impl Tool for Vmstat {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let first = words.first()?.text;
        if first == "procs" && words.get(1)?.text.starts_with("---") {
            return Found::noise(
                words.iter().take(12).take_while(|w| w.text == "procs" || w.text.contains("--")).count(),
            );
        }
        if first != "r" || words.get(1)?.text != "b" {
            return None;
        }
        let (columns, heading) = table::heading(words, &COLUMNS);
        table::has(&columns, &["si", "bo", "wa"]).then_some(())?;
        let all = table::rows(&words[heading..], &columns);
        // If the parts do not add up to 100 %, a heading or a number was lost, and the others are below wrong headings.
        let whole = |row: &Row| {
            let parts = ["user", "system", "idle", "iowait", "steal", "guest"];
            let sum: f64 = parts.iter().filter_map(|name| row.value(name)).sum();
            (1.0 - ROUNDED..=1.0 + ROUNDED).contains(&sum)
        };
        let rows: Vec<Row> = all.lines.iter().map(|line| line.row("system")).filter(whole).collect();
        let used = heading + all.used;
        let reading = Reading { tool: "vmstat", rows, at: words[0].spot, ..Reading::default() };
        let unknown = all.unknown + (all.lines.len() - reading.rows.len()) * columns.len();
        (!reading.rows.is_empty()).then_some(Found { reading: Some(reading), used, unknown })
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

    /// A row that lost a number, or whose shares do not add up to 100 %, is left out, and its numbers are counted as left out.
    #[test]
    fn rows_that_are_left_out_are_counted() {
        let head = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n";
        let row = " 1  7      0 123456  10000 200000    0    0   120  9000  300  600  1  2 10 87  0\n";
        for (wrong, numbers) in [(row.replace("9000  300", "9000"), 16), (row.replace(" 87 ", " 27 "), 17)] {
            let text = format!("{head}{row}{wrong}{row}");
            let output = crate::output::ToolOutput::read("text", text.as_bytes());
            let rows = &output.runs[0].readings[0].rows;
            assert_eq!((rows.len(), rows[1].value("iowait")), (2, Some(0.87)), "{wrong}");
            assert_eq!(
                (output.left_out, output.first_left_out.map(|at| at.line)),
                (numbers, Some(3)),
                "{wrong}"
            );
        }
    }

    #[test]
    fn versions_with_and_without_guests_are_read() {
        let head = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st";
        let row = " 1  7      0 123456  10000 200000    0    0   120  9000  300  600  1  2 10 87  0";
        for (head, row) in [(head.to_owned(), row.to_owned()), (format!("{head} gu"), format!("{row} 0"))] {
            let text = format!(
                "procs -----------memory---------- ---swap--\n{head}\n{row}\n{row} 2026-01-02 10:11:12\n"
            );
            let reading = one(&text, "vmstat");
            assert_eq!(reading.rows.len(), 2);
            let row = &reading.rows[1];
            assert_eq!((row.value("iowait"), row.value("wbytes/s")), (Some(0.87), Some(9000.0 * 1024.0)));
        }
    }
}
