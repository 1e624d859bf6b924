//! pidstat -d (sysstat): what each task reads and writes, and how long it was delayed by that.
//!
//! ```text
//! 12:53:20      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command
//! 12:53:21     1000      8741     28.50     31.74      4.81    1146  firefox
//! Average:     1000      8741     28.50     31.74      4.81    1146  firefox
//! ```
//!
//! `iodelay` is in clock ticks, a hundredth of a second each. With `-t` there are TGID and TID in place of PID.

use super::table::{self, Cell, Column};
use super::{Found, Tool};
use crate::mail::number::{decimal, Unit};
use crate::mail::reading::{Reading, Row};
use crate::mail::words::Word;

pub struct Pidstat;

const KIB: f64 = 1024.0;
/// `USER_HZ` (include/asm-generic/param.h).
const TICK: f64 = 1e7;
const COLUMNS: [Column; 10] = [
    ("UID", Cell::Whole),
    ("USER", Cell::Word),
    ("PID", Cell::Whole),
    ("TGID", Cell::Whole),
    ("TID", Cell::Whole),
    ("kB_rd/s", Cell::Number("rbytes/s", KIB, Unit::BytesPerSecond)),
    ("kB_wr/s", Cell::Number("wbytes/s", KIB, Unit::BytesPerSecond)),
    ("kB_ccwr/s", Cell::Number("cancelled/s", KIB, Unit::BytesPerSecond)),
    ("iodelay", Cell::Number("delayed", TICK, Unit::Nanoseconds)),
    ("Command", Cell::Rest),
];

impl Tool for Pidstat {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if !["UID", "USER", "PID"].contains(&words.first()?.text) {
            return None;
        }
        let columns = table::heading(words, &COLUMNS);
        table::has(&columns, &["kB_rd/s", "kB_wr/s", "Command"]).then_some(())?;
        let all = table::rows(&words[columns.len()..], &columns);
        let row = |line: &table::Line| {
            let id = line
                .text("PID")
                .or_else(|| line.text("TID").filter(|t| t != "-"))
                .or_else(|| line.text("TGID"));
            let command = line.text("Command").unwrap_or_default();
            let mut row =
                Row::of(format!("{} ({})", command.trim_start_matches('|'), id.unwrap_or_default()));
            // A negative rate is one that could not be read.
            let known = line.numbers().filter(|(_, n)| n.value >= 0.0);
            known.for_each(|(name, n)| row.values.put(name, n.value, n.unit, n.at));
            row
        };
        // A number where the command should be is another column's: of the heading or the row something is lost.
        let whole = |line: &&table::Line| {
            let command = line.text("Command").unwrap_or_default();
            let first = command.split(' ').next().unwrap_or("");
            first.contains(char::is_alphanumeric) && decimal(first).is_none()
        };
        let rows: Vec<Row> = all.lines.iter().filter(whole).map(row).collect();
        let used = columns.len() + all.used;
        let reading = Reading { tool: "pidstat", rows, at: words[0].spot, ..Reading::default() };
        let unknown = all.unknown + (all.lines.len() - reading.rows.len()) * columns.len();
        (!reading.rows.is_empty()).then_some(Found { reading: Some(reading), used, unknown })
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

    #[test]
    fn rows_have_their_command_and_times_are_aside() {
        let text = "12:53:20 AM   UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n\
            12:53:21 AM     0      8407     -1.00     28.80      0.01      58  gnome-terminal-\n\
            12:53:21 AM  1000      8741     28.50     31.74      4.81    1146  Web Content\n\
            Average:     1000      8741     28.50     31.74      4.81    1146  Web Content\n";
        let reading = one(text, "pidstat");
        let names: Vec<&str> = reading.rows.iter().map(|r| r.of.as_str()).collect();
        assert_eq!(names, ["gnome-terminal- (8407)", "Web Content (8741)", "Web Content (8741)"]);
        assert_eq!(
            (reading.rows[0].get("rbytes/s"), reading.rows[1].value("delayed")),
            (None, Some(11.46e9))
        );
    }

    #[test]
    fn commands_that_a_mailer_broke_are_whole() {
        let text = "12:53:20 AM   UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n\
            12:53:21 AM     0      8407      1.00     28.80      0.01      58  a_long_name_that_is\nanother one\n\
            12:53:21 AM  1000      8741     28.50     31.74      4.81    1146  Web Content\nAverage:     1000      8741     28.50     31.74      4.81    1146  Web Content\n";
        let reading = one(text, "pidstat");
        let names: Vec<&str> = reading.rows.iter().map(|r| r.of.as_str()).collect();
        assert_eq!(
            names,
            ["a_long_name_that_is another one (8407)", "Web Content (8741)", "Web Content (8741)"]
        );
    }
}
