//! biosnoop's lines, one for each I/O (bcc's biosnoop.py, libbpf-tools' biosnoop.c), by the columns of its heading.
//!
//! ```text
//! TIME(s)     COMM           PID    DISK      T SECTOR     BYTES   QUE(ms) LAT(ms)
//! 0.000004    supervise      1950   xvda1     W 13092560   4096      0.01    0.74
//! ```
//!
//! Each disk and direction has a row with the percentiles of its times; the times themselves are kept in their order. A
//! name of a task may be several words: then the columns behind it fit only when these are taken together.

use super::{Found, Tool};
use crate::mail::number::{decimal, Unit};
use crate::mail::reading::{Reading, Row};
use crate::mail::words::Word;
use evidence::Spot;
use stats::Blocks;
use std::sync::Arc;

pub struct Biosnoop;

const COLUMNS: [&str; 11] =
    ["TIME(s)", "TIME(ms)", "COMM", "PID", "DISK", "T", "SECTOR", "BYTES", "QUE(ms)", "LAT(ms)", "PATTERN"];
/// Words of a task's name, which has 15 characters.
const LONGEST_NAME: usize = 4;
/// Disks and directions.
const MOST_ROWS: usize = 256;
const PERCENTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// The I/O of one disk and direction.
struct Group {
    of: String,
    at: Spot,
    bytes: f64,
    queued: Blocks,
    took: Blocks,
}

impl Tool for Biosnoop {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if !words.first()?.text.starts_with("TIME(") {
            return None;
        }
        let columns: Vec<&str> =
            words.iter().map_while(|w| COLUMNS.iter().find(|c| **c == w.text).copied()).collect();
        if !columns.contains(&"LAT(ms)") || !columns.contains(&"DISK") {
            return None;
        }
        let mut groups: Vec<Group> = vec![];
        let (mut used, mut unknown) = (columns.len(), 0);
        while let Some((line, length)) = line(&words[used..], &columns) {
            let get = |column: &str| columns.iter().position(|c| *c == column).map(|i| line[i]);
            let (Some(disk), Some(took)) = (get("DISK"), get("LAT(ms)").and_then(|w| decimal(w.text))) else {
                break;
            };
            let direction = get("T").map_or(String::new(), |w| format!(" {}", w.text));
            let of = format!("{}{direction}", disk.text);
            let i = groups.iter().position(|g| g.of == of).or_else(|| {
                let room = groups.len() < MOST_ROWS;
                let group = Group {
                    of,
                    at: words[used].spot,
                    bytes: 0.0,
                    queued: Blocks::default(),
                    took: Blocks::default(),
                };
                room.then(|| groups.push(group)).map(|()| groups.len() - 1)
            });
            used += length;
            let Some(group) = i.map(|i| &mut groups[i]) else {
                unknown += length;
                continue;
            };
            group.took.record((took * 1e6).round() as u64);
            if let Some(queued) = get("QUE(ms)").and_then(|w| decimal(w.text)) {
                group.queued.record((queued * 1e6).round() as u64);
            }
            group.bytes += get("BYTES").and_then(|w| decimal(w.text)).unwrap_or(0.0);
        }
        if groups.is_empty() {
            return None;
        }
        let rows = groups.into_iter().map(row).collect();
        let reading = Reading { tool: "biosnoop", rows, at: words[0].spot, ..Reading::default() };
        Some(Found { reading: Some(reading), used, unknown })
    }
}

/// The words of one line by column, a task's name by its first, and how many words it takes.
fn line<'a, 'b>(words: &'b [Word<'a>], columns: &[&str]) -> Option<(Vec<&'b Word<'a>>, usize)> {
    let name = columns.iter().position(|c| *c == "COMM");
    (0..LONGEST_NAME).find_map(|more| {
        let at = |i: usize| if name.is_some_and(|n| i > n) { i + more } else { i };
        let line: Option<Vec<&Word>> = (0..columns.len()).map(|i| words.get(at(i))).collect();
        let fits = |(word, column): (&&Word, &&str)| match *column {
            "COMM" | "PATTERN" => true,
            "DISK" => word.text.len() <= 32,
            "T" => word.text.len() <= 6 && word.text.chars().all(|c| c.is_ascii_uppercase() || c == '-'),
            "QUE(ms)" | "LAT(ms)" | "TIME(s)" => decimal(word.text).is_some(),
            "SECTOR" => word.text.parse::<i64>().is_ok(),
            _ => word.text.parse::<u64>().is_ok(),
        };
        line.filter(|line| line.iter().zip(columns).all(fits)).map(|line| (line, columns.len() + more))
    })
}

fn row(group: Group) -> Row {
    let mut row = Row::of(group.of);
    let at = group.at;
    let all = group.took.all();
    row.values.put("count", all.count() as f64, Unit::Count, at);
    row.values.put("bytes", group.bytes, Unit::Bytes, at);
    for (name, blocks) in [("lat", &group.took), ("queued", &group.queued)] {
        let all = blocks.all();
        if all.is_empty() {
            continue;
        }
        row.values.put(format!("{name}.mean"), all.mean(), Unit::Nanoseconds, at);
        for (percentile, q) in PERCENTILES {
            row.values.put(format!("{name}.{percentile}"), all.quantile(q) as f64, Unit::Nanoseconds, at);
        }
        row.values.put(format!("{name}.max"), all.max() as f64, Unit::Nanoseconds, at);
    }
    row.in_order = Some(Arc::new(group.took));
    row
}
