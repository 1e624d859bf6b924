//! Reads btt's `.avg`: the time of each step (`btt/doc/btt.tex` of blktrace), in total, per process and per device.
//!
//! ```text
//!             ALL           MIN           AVG           MAX           N
//! --------------- ------------- ------------- ------------- -----------
//! Q2C               0.000162944   0.051680212  34.306738827         901
//!
//!             D2C           MIN           AVG           MAX           N
//! --------------- ------------- ------------- ------------- -----------
//! (  8,  0)         0.000047293   0.010145118   0.808580002        3751
//!
//!        DEV |       Q2G       G2I       Q2M       I2D       D2C
//! ---------- | --------- --------- --------- --------- ---------
//!  (  8,  0) |   9.7419%   2.4317%   0.0138%  29.1040%  58.7086%
//! ```
//!
//! The first table is a reading with a row per step; the second, a reading named after its step with a row per process
//! or device (`D2C 8,0`); the third, `overhead`, has the shares of the steps in the total time. `btt_tables.rs` reads the other tables
//! of devices.
//!
//! **Versions**: blktrace 1.2.0 (the tests run it), and before 1.0 by its manual.

use super::btt_cells::{ends_table, Cells, ALL};
use super::btt_tables::{self, activity, banner};
use super::reader::{Found, Tool};
use super::table;
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct BttAvg;

/// Limit on rows of a table: processes and devices.
const MOST_ROWS: usize = 1000;
/// Limit on words of a process name.
const MOST_WORDS_OF_NAME: usize = 4;
impl Tool for BttAvg {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let first = words.first()?;
        match first.text {
            "DEV" => overhead(words).or_else(|| btt_tables::table(words)),
            "#" => activity(words),
            text if text.starts_with("====") => banner(words),
            text if text == ALL || text == "|" || is_step(text) => times(words),
            _ => None,
        }
    }
}

/// Whether a word is a step between two actions, in any version (`Q2I` only before 1.0): `Q2C`; steps of device mapper's own requests end in `dm`.
fn is_step(text: &str) -> bool {
    let step = text.strip_suffix("dm").unwrap_or(text).as_bytes();
    matches!(step, [b'A'..=b'Z', b'2', b'A'..=b'Z'])
}

/// Reads a table of times: of all steps, or of one step.
fn times(words: &[Word]) -> Option<Found> {
    let mut cells = Cells { words, used: 0 };
    let title = cells.next()?.text;
    for heading in ["MIN", "AVG", "MAX", "N"] {
        (cells.next()?.text == heading).then_some(())?;
    }
    let by_step = title == ALL;
    (by_step || is_step(title)).then_some(())?;
    let name = if by_step { String::new() } else { title.to_owned() };
    let reading = Reading { tool: "btt", name, at: words[0].spot, ..Reading::default() };
    let read = |rest| {
        let (row, length) = row(rest).filter(|(row, _)| !by_step || is_step(&row.of))?;
        let of = if by_step { row.of } else { format!("{title} {}", row.of) };
        Some((Row { of, ..row }, length))
    };
    // The name of a step starts a row of the first table, and ends any other table.
    let ends = |w: &Word| ends_table(w) || !by_step && is_step(w.text);
    let found = table::gather(reading, words, cells.used, MOST_ROWS, ends, read);
    // Most tables of single steps are empty: only the heading is then consumed.
    match by_step {
        true => found,
        false => found.or_else(|| Found::noise(cells.used)),
    }
}

/// Parses `Q2C 0.000162944 0.051680212 34.306738827 901`.
fn row(words: &[Word]) -> Option<(Row, usize)> {
    let mut cells = Cells { words, used: 0 };
    let mut of = cells.subject()?;
    let mut seconds = cells.next()?;
    for _ in 1..MOST_WORDS_OF_NAME {
        if decimal(seconds.text).is_some() {
            break;
        }
        of = format!("{of} {}", seconds.text);
        seconds = cells.next()?;
    }
    let mut row = Row::of(of);
    for name in ["min", "mean", "max"] {
        // Times have nine decimal places; the last word of a name may be a number, too.
        row.values.put(name, decimal(seconds.text)? * 1e9, Unit::Nanoseconds, seconds.spot);
        seconds = cells.next()?;
    }
    row.values.put("count", seconds.text.parse::<u64>().ok()? as f64, Unit::Count, seconds.spot);
    Some((row, cells.used))
}

/// Reads the shares of the steps in the time of a device's requests.
fn overhead(words: &[Word]) -> Option<Found> {
    let steps = ["Q2G", "G2I", "Q2M", "I2D", "D2C"];
    let mut cells = Cells { words, used: 1 };
    for step in steps {
        (cells.next()?.text == step).then_some(())?;
    }
    let reading = Reading { tool: "btt", name: "overhead".into(), at: words[0].spot, ..Reading::default() };
    let read = |rest| shares(rest, &steps);
    table::gather(reading, words, cells.used, MOST_ROWS, ends_table, read)
        .or_else(|| Found::noise(cells.used))
}

fn shares(words: &[Word], steps: &[&str]) -> Option<(Row, usize)> {
    let mut cells = Cells { words, used: 0 };
    let mut row = Row::of(cells.subject()?);
    for step in steps {
        let word = cells.next()?;
        let percent = decimal(word.text.strip_suffix('%')?)?;
        row.values.put(*step, percent / 100.0, Unit::Share, word.spot);
    }
    Some((row, cells.used))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::words::words;

    fn read(text: &str) -> Reading {
        BttAvg.read(&words(text)).unwrap().reading.unwrap()
    }

    #[test]
    fn the_table_of_all_has_steps_of_device_mapper_too() {
        let r = read("ALL MIN AVG MAX N\n------ -----\nQ2Qdm 0.1 0.2 0.3 7\nQ2I 0.1 0.2 0.3 7\nQ2C 0.000000001 2.0 3.0 8\n");
        let of: Vec<&str> = r.rows.iter().map(|r| r.of.as_str()).collect();
        assert_eq!(
            (of, r.rows[2].value("min"), r.rows[2].value("count")),
            (vec!["Q2Qdm", "Q2I", "Q2C"], Some(1.0), Some(8.0))
        );
    }

    #[test]
    fn a_step_has_its_processes_or_devices() {
        let r = read(
            "D2C MIN AVG MAX N\n---- ----\n(  8,  0) 0.1 0.2 0.3 7\n(253, 16) 0.1 0.2 0.4 8\n\nQ2C MIN AVG",
        );
        assert_eq!((r.name.as_str(), r.rows.len(), r.rows[1].of.as_str()), ("D2C", 2, "D2C 253,16"));
        assert_eq!(r.rows[1].value("max"), Some(4e8));
        let r = read("Q2Q MIN AVG MAX N\n----\nWeb Content 0.1 0.2 0.3 7\n");
        assert_eq!(r.rows[0].of, "Q2Q Web Content");
    }

    #[test]
    fn an_empty_table_is_no_reading_and_no_words_are_left_out() {
        let found = BttAvg.read(&words("S2G MIN AVG MAX N\n---- ----\n\nG2I MIN AVG MAX N\n")).unwrap();
        assert!(found.reading.is_none() && found.used == 5);
    }

    #[test]
    fn overheads_are_shares() {
        let r = read("DEV | Q2G G2I Q2M I2D D2C\n--- | ---\n (  8,  0) | 9.5% 2.5% 0.0% 29.0% 59.0%\n--- | ---\nOverall | 9.5% 2.5% 0.0% 29.0% 59.0%\n");
        assert_eq!((r.rows[0].of.as_str(), r.rows[0].value("D2C")), ("8,0", Some(0.59)));
        assert_eq!(r.rows[1].of, "Overall");
    }
}
