//! iostat's device tables, from sysstat 7 with `svctm` and `avgrq-sz` to today's with discards and flushes, basic and
//! extended, in kB, MB or blocks, long, short and human (iostat(1); `write_ext_stat`, sysstat's iostat.c).
//!
//! ```text
//! Device:  rrqm/s wrqm/s   r/s    w/s  rkB/s    wkB/s avgrq-sz avgqu-sz  await r_await w_await svctm  %util
//! dm-37      0.00   0.00  0.00 263.92   0.00 12338.14    93.50   128.54 505.81    0.00  505.81  3.89 102.68
//! ```
//!
//! A row is a name and as many numbers as there are columns, so it may be wrapped. Slides sometimes break a table of
//! one row in two, the further columns standing below: these are read too. `kB` is 1024 bytes, `MB` 1024 times that,
//! a block or sector 512 bytes.

use super::{Found, Tool};
use crate::mail::number::{decimal, Unit};
use crate::mail::reading::{Reading, Row};
use crate::mail::words::Word;
use evidence::Spot;

pub struct IostatText;

/// Rows of a table.
const MOST_ROWS: usize = 16_384;

const KB: f64 = 1024.0;
const MB: f64 = 1024.0 * 1024.0;
/// A sector, and what iostat calls a block.
const SECTOR: f64 = 512.0;
const MS: f64 = 1e6;
const PERCENT: f64 = 0.01;

/// A column: as printed, its name in a [`Row`], the factor to its unit.
pub(crate) type Column = (&'static str, &'static str, f64, Unit);

use Unit::{Bytes, BytesPerSecond, Count, Nanoseconds, PerSecond, Share};
const COLUMNS: [Column; 60] = [
    ("tps", "tps", 1.0, PerSecond),
    ("r/s", "r/s", 1.0, PerSecond),
    ("w/s", "w/s", 1.0, PerSecond),
    ("d/s", "d/s", 1.0, PerSecond),
    ("f/s", "f/s", 1.0, PerSecond),
    ("rqm/s", "rqm/s", 1.0, PerSecond),
    ("rrqm/s", "rrqm/s", 1.0, PerSecond),
    ("wrqm/s", "wrqm/s", 1.0, PerSecond),
    ("drqm/s", "drqm/s", 1.0, PerSecond),
    ("%rqm", "%rqm", PERCENT, Share),
    ("%rrqm", "%rrqm", PERCENT, Share),
    ("%wrqm", "%wrqm", PERCENT, Share),
    ("%drqm", "%drqm", PERCENT, Share),
    ("kB/s", "bytes/s", KB, BytesPerSecond),
    ("MB/s", "bytes/s", MB, BytesPerSecond),
    ("sec/s", "bytes/s", SECTOR, BytesPerSecond),
    ("rkB/s", "rbytes/s", KB, BytesPerSecond),
    ("wkB/s", "wbytes/s", KB, BytesPerSecond),
    ("dkB/s", "dbytes/s", KB, BytesPerSecond),
    ("rMB/s", "rbytes/s", MB, BytesPerSecond),
    ("wMB/s", "wbytes/s", MB, BytesPerSecond),
    ("dMB/s", "dbytes/s", MB, BytesPerSecond),
    ("rsec/s", "rbytes/s", SECTOR, BytesPerSecond),
    ("wsec/s", "wbytes/s", SECTOR, BytesPerSecond),
    ("dsec/s", "dbytes/s", SECTOR, BytesPerSecond),
    ("kB_read/s", "rbytes/s", KB, BytesPerSecond),
    ("kB_wrtn/s", "wbytes/s", KB, BytesPerSecond),
    ("kB_dscd/s", "dbytes/s", KB, BytesPerSecond),
    ("MB_read/s", "rbytes/s", MB, BytesPerSecond),
    ("MB_wrtn/s", "wbytes/s", MB, BytesPerSecond),
    ("MB_dscd/s", "dbytes/s", MB, BytesPerSecond),
    ("Blk_read/s", "rbytes/s", SECTOR, BytesPerSecond),
    ("Blk_wrtn/s", "wbytes/s", SECTOR, BytesPerSecond),
    ("Blk_dscd/s", "dbytes/s", SECTOR, BytesPerSecond),
    ("kB_read", "rbytes", KB, Bytes),
    ("kB_wrtn", "wbytes", KB, Bytes),
    ("kB_dscd", "dbytes", KB, Bytes),
    ("MB_read", "rbytes", MB, Bytes),
    ("MB_wrtn", "wbytes", MB, Bytes),
    ("MB_dscd", "dbytes", MB, Bytes),
    ("Blk_read", "rbytes", SECTOR, Bytes),
    ("Blk_wrtn", "wbytes", SECTOR, Bytes),
    ("Blk_dscd", "dbytes", SECTOR, Bytes),
    ("avgrq-sz", "size", SECTOR, Bytes),
    ("areq-sz", "size", KB, Bytes),
    ("rareq-sz", "rsize", KB, Bytes),
    ("wareq-sz", "wsize", KB, Bytes),
    ("dareq-sz", "dsize", KB, Bytes),
    ("avgqu-sz", "queue", 1.0, Count),
    ("aqu-sz", "queue", 1.0, Count),
    ("await", "await", MS, Nanoseconds),
    ("r_await", "r_await", MS, Nanoseconds),
    ("w_await", "w_await", MS, Nanoseconds),
    ("d_await", "d_await", MS, Nanoseconds),
    ("f_await", "f_await", MS, Nanoseconds),
    ("svctm", "svctm", MS, Nanoseconds),
    ("%util", "util", PERCENT, Share),
    ("rrqm", "rrqm/s", 1.0, PerSecond),
    ("wrqm", "wrqm/s", 1.0, PerSecond),
    ("util%", "util", PERCENT, Share),
];

impl Tool for IostatText {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let first = words.first()?;
        // Both headings are translated: `Gerät:`, `CPU-Durchschn.:`. The names of columns are not.
        let second = words.get(1)?.text;
        if second == "%user" {
            return processors(words);
        }
        if column(first.text).is_some() {
            return human(words);
        }
        column(second)?;
        let mut columns = headings(&words[1..]);
        // "Device" alone is an ordinary word.
        if columns.len() < 3 {
            return None;
        }
        let mut used = 1 + columns.len();
        let mut reading = Reading { tool: "iostat", at: first.spot, ..Reading::default() };
        while reading.rows.len() < MOST_ROWS {
            let Some(row) = row(&words[used..], &columns) else { break };
            reading.rows.push(row);
            used += 1 + columns.len();
        }
        if reading.rows.is_empty() {
            return None;
        }
        if let [row] = &mut reading.rows[..] {
            columns = headings(&words[used..]);
            let values = &words[used + columns.len()..];
            if !columns.is_empty() && put(row, values, &columns).is_some() {
                used += 2 * columns.len();
            }
        }
        Found::all(reading, used)
    }
}

pub(crate) fn column(text: &str) -> Option<&'static Column> {
    COLUMNS.iter().find(|(heading, ..)| *heading == text)
}

fn headings(words: &[Word]) -> Vec<&'static Column> {
    words.iter().map_while(|w| column(w.text)).collect()
}

fn row(words: &[Word], columns: &[&Column]) -> Option<Row> {
    let name = words.first()?.text;
    // Something must tell a device from a number that belongs to nothing.
    let device = name.len() <= 128 && name.starts_with(|c: char| c.is_ascii_alphabetic());
    let mut row = device.then(|| Row::of(name))?;
    put(&mut row, &words[1..], columns)?;
    Some(row)
}

/// Puts one number for each column; `None`, and nothing put, if there are not as many.
fn put(row: &mut Row, words: &[Word], columns: &[&Column]) -> Option<()> {
    let numbers: Option<Vec<(f64, Spot)>> =
        words.get(..columns.len())?.iter().map(|w| Some((decimal(w.text)?, w.spot))).collect();
    for ((value, spot), (_, name, factor, unit)) in numbers?.into_iter().zip(columns) {
        row.values.put(*name, value * factor, *unit, spot);
    }
    Some(())
}

/// `-h`: the name stands last, sizes and shares have their unit behind them: `12.3k`, `0.0%`.
fn human(words: &[Word]) -> Option<Found> {
    let columns = headings(words);
    if columns.len() < 3 || words.get(columns.len())?.text != "Device" {
        return None;
    }
    let mut used = columns.len() + 1;
    let mut reading = Reading { tool: "iostat", at: words[0].spot, ..Reading::default() };
    while reading.rows.len() < MOST_ROWS {
        let Some(line) = words.get(used..used + columns.len() + 1) else { break };
        let (name, values) = line.split_last()?;
        let mut row = Row::of(name.text);
        let mut all = true;
        for (word, (_, name, factor, unit)) in values.iter().zip(&columns) {
            let (digits, suffix) = word.text.split_at(word.text.trim_end_matches(char::is_alphabetic).len());
            let digits = digits.trim_end_matches('%');
            let scale = match suffix {
                "" => *factor,
                "B" => 1.0,
                "k" => KB,
                "M" => MB,
                "G" => MB * KB,
                "T" => MB * MB,
                _ => 0.0,
            };
            match decimal(digits).filter(|_| scale > 0.0) {
                Some(value) => row.values.put(*name, value * scale, *unit, word.spot),
                None => all = false,
            }
        }
        if !all {
            break;
        }
        reading.rows.push(row);
        used += columns.len() + 1;
    }
    if reading.rows.is_empty() {
        return None;
    }
    Found::all(reading, used)
}

/// `avg-cpu:  %user   %nice %system %iowait  %steal   %idle` and a line of numbers.
fn processors(words: &[Word]) -> Option<Found> {
    const HEADINGS: [&str; 6] = ["%user", "%nice", "%system", "%iowait", "%steal", "%idle"];
    let heads: Vec<&str> = words[1..].iter().map(|w| w.text).take_while(|t| HEADINGS.contains(t)).collect();
    let mut row = Row::of("cpu");
    for (i, head) in heads.iter().enumerate() {
        let word = words.get(1 + heads.len() + i)?;
        row.values.put(&head[1..], decimal(word.text.trim_end_matches('%'))? * PERCENT, Share, word.spot);
    }
    if heads.is_empty() {
        return None;
    }
    let reading = Reading { tool: "iostat", rows: vec![row], at: words[0].spot, ..Reading::default() };
    Found::all(reading, 1 + 2 * heads.len())
}
