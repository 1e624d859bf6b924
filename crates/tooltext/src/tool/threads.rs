//! Reads tables that people make of a benchmark's results at several numbers of threads, possibly with several variants per cell.
//!
//! ```text
//! Threads   Base                 Changed              Diff% (changed vs base)
//! 1         99,691 / 110,804     45,801 / 151,478     -54.1% / 36.7%
//! 2        182,221 / 188,503    145,968 / 227,948     -19.8% / 20.9%
//! ```
//!
//! The table does not tell the meaning of the numbers, so they have no unit. Column `Base` yields `Base.1` and `Base.2`.
//!
//! **Versions**: of no tool: as people write them.

use super::reader::{Found, Tool};
use crate::output::number::{grouped, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct ThreadTable;

/// Limit on words of the heading.
const MOST_HEADING: usize = 16;
const MOST_ROWS: usize = 1000;
/// Limit on variants in a cell.
const MOST_VARIANTS: usize = 8;

impl Tool for ThreadTable {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let first = words.first()?;
        if !["Threads", "threads", "nthreads", "Jobs", "jobs", "numjobs"].contains(&first.text) {
            return None;
        }
        let from = words.iter().skip(1).take(MOST_HEADING).position(|w| w.text.parse::<u32>().is_ok())? + 1;
        let columns = columns(&words[1..from]);
        if columns.is_empty() {
            return None;
        }
        let mut used = from;
        let mut reading =
            Reading { tool: "table", name: first.text.into(), at: first.spot, ..Reading::default() };
        while reading.rows.len() < MOST_ROWS {
            let Some((row, length)) = row(&words[used..], &columns) else { break };
            reading.rows.push(row);
            used += length;
        }
        // A single row may be a sentence about threads.
        (reading.rows.len() > 1).then_some(())?;
        Found::all(reading, used)
    }
}

/// The headings; words in parentheses explain a heading and are skipped.
fn columns<'a>(words: &[Word<'a>]) -> Vec<&'a str> {
    let mut depth = 0i32;
    let mut all = Vec::new();
    for word in words {
        let opens = word.text.matches('(').count() as i32;
        if depth == 0 && opens == 0 {
            all.push(word.text);
        }
        depth += opens - word.text.matches(')').count() as i32;
    }
    all
}

/// Parses `1  99,691 / 110,804  45,801 / 151,478`: a number of threads, and a cell per column.
fn row(words: &[Word], columns: &[&str]) -> Option<(Row, usize)> {
    let threads: u32 = words.first()?.text.parse().ok()?;
    let mut row = Row::of(threads.to_string());
    let mut used = 1;
    for column in columns {
        let mut variant = 0;
        let mut more = true;
        while more && variant < MOST_VARIANTS {
            let word = words.get(used)?;
            used += 1;
            // The slash may be attached: `230,410/` and `/243,300`.
            let parts: Vec<&str> = word.text.split('/').collect();
            for part in parts.iter().filter(|part| !part.is_empty()) {
                variant += 1;
                let (digits, unit, factor) = match part.strip_suffix('%') {
                    Some(digits) => (digits, Unit::Share, 0.01),
                    None => (*part, Unit::Unstated, 1.0),
                };
                let name = if variant == 1 { column.to_string() } else { format!("{column}.{variant}") };
                row.values.put(name, grouped(digits)? * factor, unit, word.spot);
            }
            let next_joins = words.get(used).is_some_and(|w| w.text.starts_with('/'));
            more = word.text.ends_with('/') || next_joins;
        }
    }
    Some((row, used))
}
