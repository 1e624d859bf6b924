//! Reads the device tables of iostat and sar -d, from sysstat 7 with `svctm` and `avgrq-sz` to current versions with discards and flushes,
//! basic and extended, in kB, MB or blocks, long, short and human (iostat(1); `write_ext_stat`, sysstat's iostat.c).
//!
//! ```text
//! Device:  rrqm/s wrqm/s   r/s    w/s  rkB/s    wkB/s avgrq-sz avgqu-sz  await r_await w_await svctm  %util
//! dm-37      0.00   0.00  0.00 263.92   0.00 12338.14    93.50   128.54 505.81    0.00  505.81  3.89 102.68
//! ```
//!
//! A row is a name and one number per column, so it may be wrapped. Unknown columns are counted, too; otherwise
//! numbers would be assigned to the wrong heading. With `-h`, `--pretty` or `-j` the name comes last. Slides sometimes split a table of
//! one row in two, with the further columns below: these are read as well. `kB` is 1024 bytes, `MB` 1024 times that,
//! a block or sector 512 bytes.
//!
//! **Versions**: sysstat 7 to 12.7; the tests run 12.6.1.

use super::iostat_columns::{column, Column, GB, KB, MB, PERCENT};
use super::reader::{Found, Tool};
use super::table::{self, MOST_ROWS};
use crate::output::number::{decimal, grouped, with_suffix, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;
use evidence::Spot;

pub struct IostatText;

impl Tool for IostatText {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let second = words.get(1)?.text.trim_start_matches(':');
        let begins = words[0].text.ends_with(':') && is_percentage(second);
        if second == "%user" || words[0].text.ends_with(":%user") || begins {
            return processors(words);
        }
        let heading = heading(words)?;
        let mut used = heading.words;
        let mut unknown = heading.columns.iter().filter(|c| c.is_none()).count();
        // sar -d has the same columns after `DEV`, and a time before each row.
        let tool = if [words[0], words[heading.words - 1]].iter().any(|w| w.text == "DEV") {
            "sar"
        } else {
            "iostat"
        };
        let mut reading = Reading { tool, at: words[0].spot, ..Reading::default() };
        let ends = |w: &Word| column(w.text).is_some() || w.text.contains('%');
        while reading.rows.len() < MOST_ROWS {
            let Some((skip, row, length)) = table::next(&words[used..], ends, |rest| heading.row(rest))
            else {
                break;
            };
            let before = &words[used..used + skip];
            let times = before.iter().filter(|w| table::is_time(w.text)).count();
            unknown += skip - times;
            used += skip + length;
            // The average that sysstat prints at the end repeats the rows above; it is used only if there are no others.
            let average = before.iter().any(|w| table::is_average(w.text));
            if average && reading.rows.is_empty() {
                reading.name = AVERAGE.into();
            }
            if !average || reading.name == AVERAGE || reading.row(&row.of).is_none() {
                reading.rows.push(row);
            }
        }
        if let ([row], false) = (&mut reading.rows[..], heading.device_last) {
            used += further(&words[used..], row);
        }
        (!reading.rows.is_empty()).then_some(Found { reading: Some(reading), used, unknown })
    }
}

/// The heading of a table: its columns, including unknown ones, and the position of the device in a row.
struct Heading {
    /// `None`: an unknown column, whose numbers are left out.
    columns: Vec<Option<&'static Column>>,
    /// Whether the device comes after its numbers: `--pretty`, `-j`, `-h`.
    device_last: bool,
    words: usize,
}

/// Name of a reading with sar's averages over all intervals.
const AVERAGE: &str = "average";
/// Minimum number of known columns in a heading: "Device" alone is an ordinary word.
const LEAST_COLUMNS: usize = 3;
/// Limit on columns, with room for those of future kernels.
const MOST_COLUMNS: usize = 48;

fn heading(words: &[Word]) -> Option<Heading> {
    let last = column(words[0].text).is_some();
    let from = usize::from(!last);
    // The end of a heading is not a heading: a device name is no column name, and comes last only if a line starts with a column.
    let first = words[0];
    let begins = match last {
        true => first.first || first.spot.column > 0,
        false => !is_heading(first.text) && (!words.get(1)?.first || is_device(first.text)),
    };
    begins.then_some(())?;
    column(words.get(from)?.text)?;
    // The columns end one word (the first device, or `Device` itself) before the first number.
    let is_number = |i: usize| words.get(i).is_some_and(|w| number(w.text).is_some());
    let end = (from..(from + MOST_COLUMNS).min(words.len())).find(|i| is_number(i + 1))?;
    let all = &words[from..end];
    // If the heading is one line, and a row starts the next one, every word in it is a column.
    let of_one_line = is_device(first.text)
        && first.first
        && words[1..end].iter().all(|w| !w.first)
        && words.get(end).is_some_and(|w| w.first);
    let names = |w: &Word| of_one_line || column(w.text).is_some() || is_heading(w.text);
    let known = all.iter().take_while(|w| names(w)).count();
    let columns: Vec<_> = all[..known].iter().map(|w| column(w.text)).collect();
    let of_known = columns.iter().flatten().count();
    let whole = known == all.len() && 2 * of_known >= columns.len();
    // An unknown word ends the heading: only the known columns up to there count.
    let columns = match whole {
        true => columns,
        false => all.iter().map_while(|w| column(w.text)).map(Some).collect(),
    };
    if columns.iter().flatten().count() < LEAST_COLUMNS.min(all.len().max(2)) {
        return None;
    }
    let end = from + columns.len();
    let time = |i: usize| words.get(i).is_some_and(|w| table::is_time(w.text));
    let device_last = is_device(words.get(end)?.text) && (is_number(end + 1) || time(end + 1));
    // `sar -d -p` has a time before the columns and the device.
    let timed = device_last && !last && time(0);
    let words = end + usize::from(device_last);
    (last == device_last || timed).then_some(Heading { words, columns, device_last })
}

/// Whether a word is `Device`, `Device:` or sar's `DEV`.
fn is_device(text: &str) -> bool {
    ["Device", "DEV"].contains(&text.trim_end_matches(':'))
}

/// Whether a word may be the name of a column: `zrqm/s`, `%zrqm`, `z_await`, `kB_w+d`.
fn is_heading(text: &str) -> bool {
    text.contains(['/', '%', '_', '-']) && text.len() <= 12 && !text.starts_with(|c: char| c.is_ascii_digit())
}

impl Heading {
    /// Parses a row: a device and a number per column; the device may be followed by a mark (`<KEY>`).
    fn row(&self, words: &[Word]) -> Option<(Row, usize)> {
        let many = self.columns.len();
        let marks = match self.device_last {
            true => 0,
            false => words.iter().skip(1).take(MOST_MARKS).take_while(|w| is_mark(w)).count(),
        };
        let line = words.get(..many + 1 + marks)?;
        let (name, values) = match self.device_last {
            true => line.split_last()?,
            false => (line.first()?, &line[1 + marks..]),
        };
        let device = name.text.trim_start_matches("/dev/").trim_matches(SIGNS);
        let next = words.get(many + 1 + marks);
        // A device must be distinguishable from an unrelated number. With `-j` device names are arbitrary.
        let named = match self.device_last {
            true => {
                let whole = next.is_none_or(|w| w.first) && !name.first && !name.text.contains('.');
                number(name.text).is_none() || whole
            }
            // A row is not followed by a number, which would belong to it.
            false => {
                let more = next.is_some_and(|w| !w.paragraph && number(w.text).is_some());
                device.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') && !more
            }
        };
        (named && device.len() <= 128).then_some(())?;
        let mut row = Row::of(device.trim_end_matches(':'));
        put(&mut row, values, &self.columns)?;
        Some((row, many + 1 + marks))
    }
}

/// Characters that people put around a device's name: `*sda`, `` `sdb` ``.
const SIGNS: [char; 5] = ['*', '`', '!', '+', '_'];
/// Limit on marks after a device's name.
const MOST_MARKS: usize = 2;

/// Whether a word is the author's mark between a device and its numbers: `<KEY>`, `(bad)`, `-->`.
fn is_mark(word: &Word) -> bool {
    number(word.text).is_none()
        && word.text.starts_with(['<', '(', '[', '*', '!', '-', '=', '#'])
        && word.text.ends_with(['>', ')', ']', '*', '!', '-', '=', '#'])
}

/// Reads further columns below a table of one row, as slides split it; returns the number of words.
fn further(words: &[Word], row: &mut Row) -> usize {
    let columns: Vec<_> = words.iter().map_while(|w| column(w.text)).map(Some).collect();
    let values = words.get(columns.len()..2 * columns.len()).unwrap_or(&[]);
    if columns.is_empty() || put(row, values, &columns).is_none() {
        return 0;
    }
    2 * columns.len()
}

/// A number as iostat prints it: `0.00`, `1,5`, with `-h` or `--human` also `222.1k`, `0.0%`.
fn number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_matches(['*', '`']);
    // From a counter that decreased: such a number is reported but not used.
    let negative = text.strip_prefix('-').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if let Some(positive) = negative {
        return number(positive).map(|(value, suffix)| (-value, suffix));
    }
    // A decimal comma is followed by two digits, a thousands separator by three.
    if let Some(value) = grouped(text).filter(|_| text.contains(',')) {
        return Some((value, ""));
    }
    let (value, suffix) = with_suffix(text)?;
    (text.ends_with(suffix) && ["", "B", "k", "M", "G", "T", "%"].contains(&suffix))
        .then_some((value, suffix))
}

/// Adds one number per column; `None`, without adding any, if their numbers differ.
fn put(row: &mut Row, words: &[Word], columns: &[Option<&Column>]) -> Option<()> {
    let numbers: Option<Vec<(f64, &str, Spot)>> =
        words.iter().map(|w| number(w.text).map(|(value, suffix)| (value, suffix, w.spot))).collect();
    let numbers = numbers.filter(|n| n.len() == columns.len())?;
    for ((value, suffix, spot), column) in numbers.into_iter().zip(columns) {
        let Some((_, name, factor, unit)) = column else { continue };
        let scale = match (suffix, unit) {
            ("" | "%", _) => *factor,
            // For units other than sizes, prefixes are powers of 1000.
            ("k", Unit::PerSecond | Unit::Count) => 1e3,
            ("M", Unit::PerSecond | Unit::Count) => 1e6,
            ("B", _) => 1.0,
            ("k", _) => KB,
            ("M", _) => MB,
            ("G", _) => GB,
            _ => GB * KB,
        };
        row.values.put(*name, value * scale, *unit, spot);
    }
    Some(())
}

/// Tolerance for the sum of six percentages, each rounded to a whole one with `--dec=0`.
const ROUNDED: f64 = 0.035;
/// The columns of processors, in the same order in all versions.
const HEADINGS: [&str; 6] = ["%user", "%nice", "%system", "%iowait", "%steal", "%idle"];

/// Reads `avg-cpu:  %user   %nice %system %iowait  %steal   %idle` and a line of numbers. sysstat has no translations of these names (9.1 to 12.7);
/// if a packager or author translated them, six percentages that add up to 100 are in the same order.
fn processors(words: &[Word]) -> Option<Found> {
    // `avg-cpu:%user`: one word after the removal of a full-width colon.
    let from = usize::from(!words[0].text.contains('%'));
    let name = |w: &Word| HEADINGS.iter().find(|h| w.text.ends_with(*h)).copied();
    let mut heads: Vec<&str> = words[from..].iter().map_while(name).collect();
    if heads.len() < HEADINGS.len()
        && words[from..].iter().take(HEADINGS.len()).all(|w| is_percentage(w.text))
    {
        heads = HEADINGS.to_vec();
    }
    let mut row = Row::of("cpu");
    for (i, head) in heads.iter().enumerate() {
        let word = words.get(from + heads.len() + i)?;
        row.values.put(
            &head[1..],
            decimal(word.text.trim_end_matches('%'))? * PERCENT,
            Unit::Share,
            word.spot,
        );
    }
    if heads.is_empty() {
        return None;
    }
    // If an additional number (such as a line number) comes first, all numbers are shifted, and the last is left over.
    let sum: f64 = row.values.iter().map(|(_, n)| n.value).sum();
    let whole = heads.len() < HEADINGS.len() || (sum - 1.0).abs() <= ROUNDED;
    let more = words.get(from + 2 * heads.len()).is_some_and(|w| !w.first && decimal(w.text).is_some());
    (whole && !more).then_some(())?;
    let reading = Reading { tool: "iostat", rows: vec![row], at: words[0].spot, ..Reading::default() };
    Found::all(reading, from + 2 * heads.len())
}

/// Whether a word is a `%` sign followed by letters: `%utilisateur`, `%usuario`.
fn is_percentage(text: &str) -> bool {
    text.strip_prefix('%').is_some_and(|t| !t.is_empty() && t.chars().all(|c| c.is_alphabetic() || c == '-'))
}

#[cfg(test)]
mod tests;
