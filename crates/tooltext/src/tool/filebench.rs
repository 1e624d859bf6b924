//! Reads filebench's statistics (`stats_snap`, filebench's stats.c): a line per flow operation, and the summary.
//!
//! ```text
//! statfile1        84183ops     1402ops/s   0.0mb/s      0.6ms/op [0.00ms -  1.71ms]
//! IO Summary: 447216 ops 7453.437 ops/s 1146/1147 rd/wr  28.2mb/s   0.6ms/op
//! IO Summary: 5568143 ops, 92797.3 ops/s, (14280/14278 r/w), 452.3mb/s, 0us cpu/op, 2.7ms latency
//! ```
//!
//! Its `mb` are 1024 * 1024 bytes; its time is a mean.
//!
//! **Versions**: filebench 1.4.9 to 1.5-alpha3 (`stats.c`).

use super::reader::{texts, Found, Tool};
use crate::output::number::{decimal, quantity, time_unit, with_suffix, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Filebench;

const MOST_ROWS: usize = 1000;
/// Limit on words of a summary.
const LONGEST: usize = 16;

impl Tool for Filebench {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let mut reading = Reading { tool: "filebench", at: words.first()?.spot, ..Reading::default() };
        let mut used = 0;
        while reading.rows.len() < MOST_ROWS {
            let Some((row, length)) = summary(&words[used..]).or_else(|| line(&words[used..])) else { break };
            reading.rows.push(row);
            used += length;
        }
        if used == 0 {
            return None;
        }
        Found::all(reading, used)
    }
}

fn put(row: &mut Row, word: &Word, suffix: &str) -> bool {
    let Some((value, end)) = with_suffix(word.text.trim_matches(['(', ')', ','])) else { return false };
    let unit = if end.is_empty() { suffix } else { end };
    let time = |of: &str| unit.strip_suffix(of).and_then(time_unit);
    let (name, factor, kind) = match unit {
        "ops" => ("count", 1.0, Unit::Count),
        "ops/s" => ("iops", 1.0, Unit::PerSecond),
        "mb/s" => ("bw", 1048576.0, Unit::BytesPerSecond),
        _ => match time("/op").or_else(|| time_unit(unit).filter(|_| suffix == "latency")) {
            Some(ns) => ("mean", ns, Unit::Nanoseconds),
            None => return false,
        },
    };
    row.values.put(name, value * factor, kind, word.spot);
    true
}

/// Adds minimum and maximum: `[0.77ms - 21.43ms]`.
fn put_range(row: &mut Row, words: &[Word]) {
    let times = words.iter().filter(|w| w.text != "-" && !w.text.trim_matches(['[', ']']).is_empty());
    for (name, word) in ["min", "max"].iter().zip(times) {
        if let Some((ns, unit @ Unit::Nanoseconds)) =
            quantity(word.text.trim_matches(['[', ']']), 1.0, Unit::Unstated)
        {
            row.values.put(*name, ns, unit, word.spot);
        }
    }
}

fn summary(words: &[Word]) -> Option<(Row, usize)> {
    let [_, "Summary:", _, ops] = texts(words)? else { return None };
    if words[0].text != "IO" || ops.trim_end_matches(',') != "ops" {
        return None;
    }
    let mut row = Row::of("all");
    let mut used = 2;
    let mut at = 2;
    while at < words.len().min(LONGEST) && row.values.get("mean").is_none() {
        let next = words.get(at + 1).map_or("", |w| w.text.trim_matches(['(', ')', ',']));
        if put(&mut row, &words[at], next) {
            // The unit is a separate word, or attached to the number.
            let apart = decimal(words[at].text.trim_end_matches(',')).is_some() || next == "latency";
            at += usize::from(apart);
            used = at + 1;
        }
        at += 1;
    }
    (row.values.iter().count() >= 3).then_some((row, used))
}

fn line(words: &[Word]) -> Option<(Row, usize)> {
    let [name, ops, rate] = texts(words)?;
    let named = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if !named || with_suffix(ops)?.1 != "ops" || with_suffix(rate)?.1 != "ops/s" {
        return None;
    }
    let mut row = Row::of(name);
    let mut used = 1;
    while used < words.len().min(LONGEST) && put(&mut row, &words[used], "") {
        used += 1;
    }
    // `148us/op-cpu`, and the range in brackets: `[0ms - 12ms]`.
    used += usize::from(words.get(used).is_some_and(|w| w.text.ends_with("/op-cpu")));
    if words.get(used).is_some_and(|w| w.text.starts_with('[')) {
        let length =
            words[used..].iter().take(4).position(|w| w.text.ends_with(']')).map_or(0, |end| end + 1);
        put_range(&mut row, &words[used..used + length]);
        used += length;
    }
    Some((row, used))
}
