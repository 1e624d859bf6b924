//! Reads operations slower than a limit, one per line: bcc's ext4slower, xfsslower, btrfsslower, nfsslower, zfsslower, f2fsslower and
//! fileslower.
//!
//! ```text
//! Tracing ext4 operations slower than 10 ms
//! TIME     COMM           PID    T BYTES   OFF_KB   LAT(ms) FILENAME
//! 06:35:01 cron           16464  R 1249    0          16.05 common-auth
//! TIME(s)  COMM           TID    D BYTES   LAT(ms) FILENAME                  fileslower
//! 0.000    randread.pl    4762   R 8192      12.70 data1
//! ```
//!
//! Each kind of operation (R, W, O, S or F: fsync) has a row, and a setting with the program and the file of the slowest: `slowest fsync` is
//! `postgres (16463): 000000010000`. Fast operations are missing, so the percentiles are not those of all operations.
//!
//! **Versions**: bcc 0.1.8 to 0.37 (`tools/ext4slower.py` and its kin, `libbpf-tools/fsslower.c`).

use super::biosnoop::Groups;
use super::reader::{Found, Tool};
use super::table::{self, Cell, Column, Line};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Setting};
use crate::output::words::Word;
use std::collections::BTreeMap;

pub struct Slower;

const COLUMNS: [Column; 12] = [
    ("TIME", Cell::Time),
    ("TIME(s)", Cell::Time),
    ("COMM", Cell::Name),
    ("PID", Cell::Whole),
    ("TID", Cell::Whole),
    ("T", Cell::Letters),
    ("D", Cell::Letters),
    ("BYTES", Cell::Number("bytes", 1.0, Unit::Bytes)),
    ("OFF_KB", Cell::Whole),
    ("LAT(ms)", Cell::Number("lat", 1e6, Unit::Nanoseconds)),
    ("FILENAME", Cell::Rest),
    ("FILE", Cell::Rest),
];

impl Tool for Slower {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if !words.first()?.text.starts_with("TIME") {
            return None;
        }
        let (columns, heading) = table::heading(words, &COLUMNS);
        let file = table::has(&columns, &["FILENAME"]) || table::has(&columns, &["FILE"]);
        (file && table::has(&columns, &["LAT(ms)", "COMM"])).then_some(())?;
        let all = table::rows(&words[heading..], &columns);
        let (mut groups, mut unknown) = (Groups::default(), all.unknown);
        let mut slowest: BTreeMap<&str, (f64, &Line)> = BTreeMap::new();
        for line in &all.lines {
            let kind = line.text("T").or_else(|| line.text("D")).unwrap_or_default();
            let of = operation(&kind);
            let (Some(group), Some(lat)) = (groups.of(of, line.first().spot), line.number("lat")) else {
                unknown += columns.len();
                continue;
            };
            group.took.record(lat.value.max(0.0).round() as u64);
            if let Some(bytes) = line.number("bytes") {
                *group.bytes.get_or_insert(0.0) += bytes.value;
            }
            if let Some(of) = KINDS.iter().map(|(_, of)| *of).find(|known| *known == of) {
                let known = slowest.entry(of).or_insert((lat.value, line));
                if lat.value > known.0 {
                    *known = (lat.value, line);
                }
            }
        }
        let settings = slowest.into_iter().map(|(of, (_, line))| whose(of, line)).collect();
        let reading = Reading {
            tool: "slower",
            rows: groups.rows(),
            settings,
            at: words[0].spot,
            ..Reading::default()
        };
        let used = heading + all.used;
        (!reading.rows.is_empty()).then_some(Found { reading: Some(reading), used, unknown })
    }
}

/// Letters of the kinds of operations.
const KINDS: [(&str, &str); 6] =
    [("R", "read"), ("W", "write"), ("O", "open"), ("S", "fsync"), ("F", "fsync"), ("G", "getattr")];

fn operation(letter: &str) -> &str {
    KINDS.iter().find(|(known, _)| *known == letter).map_or(letter, |(_, of)| of)
}

/// The program and the file of a kind's slowest operation.
fn whose(of: &str, line: &Line) -> Setting {
    let text = |names: [&str; 2]| names.into_iter().find_map(|name| line.text(name)).unwrap_or_default();
    let (command, number, file) = (text(["COMM", "COMM"]), text(["PID", "TID"]), text(["FILENAME", "FILE"]));
    // What is left out is marked on a line of its own.
    let value = format!("{command} ({number}): {}", file.trim_end_matches(" [...]"));
    Setting { name: format!("slowest {of}"), value, at: line.first().spot }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

    #[test]
    fn each_kind_has_its_row_in_all_versions() {
        let text = "TIME     COMM           PID    T BYTES   OFF_KB   LAT(ms) FILENAME\n\
            06:35:01 cron           16464  R 1249    0          16.05 common-auth\n\
            06:35:01 Web Content    16463  S 0       0          32.94 a file\n[...]\n\
            06:35:02 cron           16465  R 4096    0          10.61 login.defs\n";
        let reading = one(text, "slower");
        assert_eq!(reading.row("read").and_then(|r| r.value("count")), Some(2.0));
        assert_eq!(reading.row("fsync").and_then(|r| r.value("lat.max")), Some(32.94e6));
        assert_eq!(reading.setting("slowest read"), Some("cron (16464): common-auth"));
        assert_eq!(reading.setting("slowest fsync"), Some("Web Content (16463): a file"));
        let file = one(
            "TIME(s) COMM TID D BYTES LAT(ms) FILENAME\n0.000 randread.pl 4762 R 8192 12.70 data1\n",
            "slower",
        );
        assert_eq!(file.rows[0].value("bytes"), Some(8192.0));
    }
}
