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
//! Each kind of operation (R, W, O, S or F: fsync) has a row. Fast operations are missing, so the percentiles are not those of all operations.
//!
//! **Versions**: bcc 0.1.8 to 0.37 (`tools/ext4slower.py` and its kin, `libbpf-tools/fsslower.c`).

use super::biosnoop::Groups;
use super::reader::{Found, Tool};
use super::table::{self, Cell, Column};
use crate::output::number::Unit;
use crate::output::reading::Reading;
use crate::output::words::Word;

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
        for line in &all.lines {
            let kind = line.text("T").or_else(|| line.text("D")).unwrap_or_default();
            let of = match kind.as_str() {
                "R" => "read",
                "W" => "write",
                "O" => "open",
                "S" | "F" => "fsync",
                "G" => "getattr",
                other => other,
            };
            let (Some(group), Some(lat)) = (groups.of(of, line.first().spot), line.number("lat")) else {
                unknown += columns.len();
                continue;
            };
            group.took.record(lat.value.max(0.0).round() as u64);
            if let Some(bytes) = line.number("bytes") {
                *group.bytes.get_or_insert(0.0) += bytes.value;
            }
        }
        let reading =
            Reading { tool: "slower", rows: groups.rows(), at: words[0].spot, ..Reading::default() };
        let used = heading + all.used;
        (!reading.rows.is_empty()).then_some(Found { reading: Some(reading), used, unknown })
    }
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
        let file = one(
            "TIME(s) COMM TID D BYTES LAT(ms) FILENAME\n0.000 randread.pl 4762 R 8192 12.70 data1\n",
            "slower",
        );
        assert_eq!(file.rows[0].value("bytes"), Some(8192.0));
    }
}
