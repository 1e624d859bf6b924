//! Reads iotop(8): rates of reads and writes per thread, and the part of its time that it waits for I/O and for swap.
//!
//! ```text
//! Total DISK READ :       0.00 B/s | Total DISK WRITE :      12.34 M/s              of all threads
//! Actual DISK READ:       0.00 B/s | Actual DISK WRITE:      20.11 M/s              of the devices; in C it is `Current`
//!     TID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN     IO>    COMMAND
//!    1234 be/4 postgres    0.00 B/s   12.34 M/s  0.00 % 99.99 % postgres: wal writer
//! ```
//!
//! Sizes are powers of 1024. Newer kernels without delay accounting print `?unavailable?` for the two parts.
//!
//! **Versions**: iotop 0.6 in Python run; 1.23 to 1.31 in C (`view_batch.c`).

use super::reader::{Found, Tool};
use super::table::{self, broken_off, rest_of_line};
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Iotop;

const HEADING: [&str; 5] = ["PRIO", "USER", "DISK", "READ", "DISK"];
const MOST_ROWS: usize = 4096;

impl Tool for Iotop {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let mut reading = Reading { tool: "iotop", at: words.first()?.spot, ..Reading::default() };
        let mut used = 0;
        while let Some((row, length)) = total(&words[used..]).filter(|_| reading.rows.len() < TOTALS.len()) {
            reading.rows.push(row);
            used += length;
        }
        match heading(&words[used..]) {
            Some(head) => table::gather(reading, words, used + head, MOST_ROWS, is_heading, row),
            None => (used > 0).then(|| Found::all(reading, used)).flatten(),
        }
    }
}

/// Number of words of the heading at the start of `words`.
fn heading(words: &[Word]) -> Option<usize> {
    let first = words.first()?.text;
    let begins =
        (first == "TID" || first == "PID") && HEADING.iter().zip(&words[1..]).all(|(h, w)| *h == w.text);
    begins.then_some(())?;
    Some(words.iter().take(16).position(|w| w.text == "COMMAND")? + 1)
}

/// First word of a line of totals, and the subject of its row.
const TOTALS: [(&str, &str); 3] = [("Total", "threads"), ("Actual", "devices"), ("Current", "devices")];

/// Parses `Total DISK READ : 0.00 B/s | Total DISK WRITE : 12.34 M/s`.
fn total(words: &[Word]) -> Option<(Row, usize)> {
    let first = words.first()?.text;
    let (_, of) = TOTALS.iter().find(|(text, _)| *text == first)?;
    let text = |i: usize| words.get(i).map_or("", |w| w.text);
    let (mut row, mut at) = (Row::of(*of), 0);
    for (kind, name) in [("READ", "rbytes/s"), ("WRITE", "wbytes/s")] {
        let same = [text(at), text(at + 1), text(at + 2).trim_end_matches(':')] == [first, "DISK", kind];
        at += 3 + usize::from(same && text(at + 3) == ":");
        let rate = decimal(text(at)).filter(|_| same)? * scale(text(at + 1))?;
        row.values.put(name, rate, Unit::BytesPerSecond, words[at].spot);
        at += 2 + usize::from(text(at + 2) == "|");
    }
    Some((row, at))
}

/// Whether another screen starts with this word.
fn is_heading(word: &Word) -> bool {
    ["TID", "PID"].contains(&word.text) || TOTALS.iter().any(|(text, _)| *text == word.text)
}

/// Parses a row; the end of a long command may be on a second line.
fn row(words: &[Word]) -> Option<(Row, usize)> {
    let (row, length, command, tid) = row_of_line(words)?;
    let begins = |rest: &[Word]| rest.first().is_some_and(is_heading) || row_of_line(rest).is_some();
    let more = broken_off(words, length, begins);
    let command: Vec<&str> = words[length - command..length + more].iter().map(|w| w.text).collect();
    Some((Row { of: format!("{} ({tid})", command.join(" ")), ..row }, length + more))
}

/// Parses the first line of a row: the row, its number of words, the number of words of the command, and the thread id.
fn row_of_line(words: &[Word]) -> Option<(Row, usize, usize, u32)> {
    let text = |i: usize| words.get(i).map(|w| w.text);
    let tid: u32 = text(0)?.parse().ok()?;
    is_priority(text(1)?).then_some(())?;
    let rate = |i: usize| Some(decimal(text(i)?)? * scale(text(i + 1)?)?);
    let (reads, writes) = (rate(3)?, rate(5)?);
    let mut row = Row::default();
    row.values.put("rbytes/s", reads, Unit::BytesPerSecond, words[3].spot);
    row.values.put("wbytes/s", writes, Unit::BytesPerSecond, words[5].spot);
    let mut at = 7;
    for name in ["swapin", "io"] {
        let Some(value) = text(at).and_then(decimal).filter(|_| text(at + 1) == Some("%")) else { continue };
        row.values.put(name, value / 100.0, Unit::Share, words[at].spot);
        at += 2;
    }
    while text(at).is_some_and(|t| t.starts_with('?')) {
        at += 1;
    }
    let rest = words.get(at..)?;
    let many = rest_of_line(rest);
    (many > 0).then_some((row, at + many, many, tid))
}

/// Whether a word is an I/O priority: `be/4`, `rt/0`, `idle`.
fn is_priority(text: &str) -> bool {
    text.contains('/') || text == "idle"
}

fn scale(unit: &str) -> Option<f64> {
    Some(match unit {
        "B/s" => 1.0,
        "K/s" => 1024.0,
        "M/s" => 1024.0 * 1024.0,
        "G/s" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

    #[test]
    fn threads_have_their_rates_and_shares() {
        let text = "Total DISK READ :       0.00 B/s | Total DISK WRITE :      12.34 M/s\n\
            TID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN     IO>    COMMAND\n\
            1234 be/4 postgres    0.00 B/s    2.00 M/s  0.00 % 99.99 % postgres: wal writer\n\
            76 idle backup      0.00 B/s    0.00 B/s  0.00 %  0.00 % tar\n\
            77 be/3 root        1.50 K/s    0.00 B/s  ?unavailable?  [jbd2/sda1-8]\n";
        let reading = one(text, "iotop");
        let value = |of: &str, name: &str| reading.row(of).and_then(|row| row.value(name));
        let writer = "postgres: wal writer (1234)";
        assert_eq!((value(writer, "io"), value(writer, "wbytes/s")), (Some(0.9999), Some(2.0 * 1048576.0)));
        assert_eq!((reading.rows.len(), value("[jbd2/sda1-8] (77)", "rbytes/s")), (4, Some(1536.0)));
        assert_eq!(value("threads", "wbytes/s"), Some((12.34f64 * 1048576.0 * 1e4).round() / 1e4));
    }

    /// Totals of devices differ from those of threads: writeback is done later, by other threads.
    #[test]
    fn totals_stand_above_the_threads_or_alone() {
        let actual = "Total DISK READ :       0.00 B/s | Total DISK WRITE :       1.50 M/s\n\
            Actual DISK READ:       0.00 B/s | Actual DISK WRITE:      20.50 M/s\n";
        let current = "Total DISK READ:         0.00 B/s | Total DISK WRITE:         1.50 M/s\n\
            Current DISK READ:       0.00 B/s | Current DISK WRITE:      20.50 M/s\n";
        for text in [actual, current] {
            let reading = one(text, "iotop");
            let writes: Vec<_> = reading.rows.iter().map(|r| (r.of.as_str(), r.value("wbytes/s"))).collect();
            let mib = 1048576.0;
            assert_eq!(writes, [("threads", Some(1.5 * mib)), ("devices", Some(20.5 * mib))]);
        }
        assert!(crate::tool::testing::all("Total DISK READ is 5 M/s\n", "iotop").is_empty());
    }

    /// A compiler's command, also with a time before its row.
    #[test]
    fn commands_of_hundreds_of_words_end_with_their_line() {
        let row =
            |tid: u32| format!("{tid} be/4 root 0.00 B/s 2.00 M/s 0.00 % 9.00 % cc{}\n", " -W".repeat(90));
        let head = "TID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN     IO>    COMMAND\n";
        for before in ["", "10:39:40 "] {
            let text = format!("{head}{before}{}{before}{}{before}{}", row(7), row(8), row(9));
            assert_eq!(one(&text, "iotop").rows.len(), 3, "{before:?}");
        }
    }

    #[test]
    fn commands_that_a_mailer_broke_are_whole() {
        let text = "TID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN     IO>    COMMAND\n\
            1234 be/4 postgres    0.00 B/s    2.00 M/s  0.00 % 99.99 % postgres: wal\nwriter process\n\
            1235 be/4 postgres    0.00 B/s    2.00 M/s  0.00 % 99.99 % postgres: wal\n77 be/3 root        1.50 K/s    0.00 B/s  0.00 %  0.00 % dd\n\
            this is what I see\n";
        let reading = one(text, "iotop");
        let names: Vec<&str> = reading.rows.iter().map(|r| r.of.as_str()).collect();
        assert_eq!(names, ["postgres: wal writer process (1234)", "postgres: wal (1235)", "dd (77)"]);
    }
}
