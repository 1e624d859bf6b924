//! Reads tools that print a line per I/O: biosnoop of bcc, libbpf-tools and bpftrace, and perf-tools' iosnoop, by the columns of their heading.
//!
//! ```text
//! TIME(s)     COMM           PID    DISK      T SECTOR     BYTES   QUE(ms) LAT(ms)      bcc
//! 0.000004    supervise      1950   xvda1     W 13092560   4096      0.01    0.74
//! TIME(ms)    DISK           COMM   PID    LAT(ms)                                      bpftrace: whole milliseconds
//! 611         nvme0n1        bash   4179        10
//! COMM        PID    TYPE    DEV    BLOCK      BYTES   LATms                            iosnoop
//! tar         14794  RM      202,1  8457608    4096     7.53
//! TIME(s)          T  BYTES    LAT(ms)                                                  bcc's disksnoop
//! 16458043.436012  W  4096        3.13
//! ```
//!
//! Lines of bcc's biosnoop without a heading (after grep) are recognised by the form of each word.
//!
//! Requests without a disk, as flushes may be, leave the column empty; so their rows have a word less.
//!
//! Each disk and direction has a row with the percentiles of its times; individual times are kept in order. Columns that a
//! version lacks (bytes, direction) are unknown, and a time printed as 0 is only below the tool's resolution.
//!
//! **Versions**: bcc 0.1.7 to 0.37 (`tools/biosnoop.py`) and its libbpf-tools, bpftrace 0.17 (`biosnoop.bt`), perf-tools 1.0 (`iosnoop`).

use super::reader::{Found, Tool};
use super::table::{self, Cell, Column, Lines};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;
use evidence::Spot;
use stats::Blocks;
use std::sync::Arc;

pub struct Biosnoop;

const MS: f64 = 1e6;
const COLUMNS: [Column; 21] = [
    ("TIME(s)", Cell::Time),
    ("TIME(ms)", Cell::Time),
    ("STARTs", Cell::Time),
    ("ENDs", Cell::Time),
    ("COMM", Cell::Name),
    ("PID", Cell::Whole),
    ("DISK", Cell::Word),
    ("DEV", Cell::Word),
    ("T", Cell::Letters),
    ("TYPE", Cell::Letters),
    ("SECTOR", Cell::Whole),
    ("BLOCK", Cell::Whole),
    ("BYTES", Cell::Number("bytes", 1.0, Unit::Bytes)),
    ("QUE(ms)", Cell::Number("queued", MS, Unit::Nanoseconds)),
    ("LAT(ms)", Cell::Number("lat", MS, Unit::Nanoseconds)),
    ("LATms", Cell::Number("lat", MS, Unit::Nanoseconds)),
    ("P", Cell::Word),
    ("PATTERN", Cell::Word),
    ("CGROUP", Cell::Word),
    ("FLAG", Cell::Word),
    ("FLAGS", Cell::Word),
];
/// Stands in place of the disk's name.
const NO_DISK: &str = "(no disk)";
/// Limit on combinations of disk and direction.
const MOST_ROWS: usize = 256;
/// Percentiles computed from individual times.
pub(super) const PERCENTILES: [(&str, f64); 4] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// The I/O of one disk and direction.
pub(super) struct Group {
    pub of: String,
    pub at: Spot,
    pub bytes: Option<f64>,
    pub queued: Blocks,
    pub took: Blocks,
}

/// All groups, in order of appearance.
#[derive(Default)]
pub(super) struct Groups(Vec<Group>);

impl Tool for Biosnoop {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let first = words.first()?.text;
        let (columns, heading) = match first.starts_with("TIME(") || first == "COMM" || first == "STARTs" {
            true => table::heading(words, &COLUMNS),
            false => (without_heading(words)?, 0),
        };
        let is = |names: &[&str]| columns.iter().map(|(name, _)| *name).eq(names.iter().copied());
        let disk = ["DISK", "DEV"].into_iter().find(|d| table::has(&columns, &[d]));
        let disk = disk.or_else(|| is(&["TIME(s)", "T", "BYTES", "LAT(ms)"]).then_some("DISK"))?;
        if !table::has(&columns, &["LAT(ms)"]) && !table::has(&columns, &["LATms"]) {
            return None;
        }
        let no_disk = without_disk(&columns);
        let all = rows(&words[heading..], &columns, &no_disk);
        let mut groups = Groups::default();
        let mut unknown = all.unknown;
        for line in &all.lines {
            let direction = line.text("T").or_else(|| line.text("TYPE"));
            let nameless = if table::has(&columns, &[disk]) { NO_DISK } else { "" };
            let name = line.text(disk).unwrap_or_else(|| nameless.to_owned());
            let of = format!("{name} {}", direction.unwrap_or_default());
            let Some(group) = groups.of(of.trim(), line.first().spot) else {
                unknown += columns.len();
                continue;
            };
            let ns = |name: &str| line.number(name).map(|n| n.value.max(0.0).round() as u64);
            ns("lat").into_iter().for_each(|lat| group.took.record(lat));
            ns("queued").into_iter().for_each(|queued| group.queued.record(queued));
            if let Some(bytes) = line.number("bytes") {
                *group.bytes.get_or_insert(0.0) += bytes.value;
            }
        }
        let tool = if first == "COMM" || first == "STARTs" { "iosnoop" } else { "biosnoop" };
        let reading = Reading { tool, rows: groups.rows(), at: words[0].spot, ..Reading::default() };
        let mut used = heading + all.used;
        // A truncated line must not be taken for a complete one of another version.
        while without_heading(&words[used..]).is_some_and(|other| other.len() < columns.len()) {
            let cut = 1 + words[used + 1..].iter().take_while(|w| !w.first).count();
            (used, unknown) = (used + cut, unknown + cut);
        }
        let reading = (!reading.rows.is_empty()).then_some(reading);
        (used > heading).then_some(Found { reading, used, unknown })
    }
}

/// The columns of a row whose disk is empty. None unless a number is before the disk and letters behind it: only then such a row differs
/// from one below a heading that lost a word.
fn without_disk(columns: &[Column]) -> Vec<Column> {
    let is_one = columns.windows(3).any(|near| near.iter().map(|(name, _)| *name).eq(["PID", "DISK", "T"]));
    columns.iter().filter(|(name, _)| is_one && *name != "DISK").copied().collect()
}

/// The rows below a heading, with a disk or without.
fn rows<'w, 'a>(words: &'w [Word<'a>], columns: &'w [Column], no_disk: &'w [Column]) -> Lines<'w, 'a> {
    let ends = |w: &Word| columns.iter().any(|(name, _)| *name == w.text);
    // Without a disk the row is a whole line.
    let short = |rest: &'w [Word<'a>]| {
        let (line, length) = table::row(rest, no_disk).filter(|_| !no_disk.is_empty())?;
        let whole = rest[0].first && rest.get(length).is_none_or(|w| w.first);
        (whole && !rest[1..length].iter().any(|w| w.first)).then_some((line, length))
    };
    let read = |rest: &'w [Word<'a>]| short(rest).or_else(|| table::row(rest, columns));
    let mut all = Lines { lines: vec![], used: 0, unknown: 0 };
    while all.lines.len() < table::MOST_ROWS {
        let rulers = table::rulers(&words[all.used..]);
        let Some((skip, line, length)) = table::next(&words[all.used + rulers..], ends, read) else { break };
        all.unknown += skip;
        all.used += rulers + skip + length;
        all.lines.push(line);
    }
    all
}

/// The columns of a line of bcc's biosnoop without a heading, with or without the time in the queue.
fn without_heading(words: &[Word]) -> Option<Vec<Column>> {
    let time = words.first().filter(|w| w.first)?.text.split_once('.')?;
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    (digits(time.0) && digits(time.1) && time.1.len() >= 6).then_some(())?;
    // A mailer may have broken the line once, even before its last number. Two parts are tried first, since they are longer.
    let first_of = |line: usize| {
        let mut starts = words.iter().take(MOST_WORDS + 1).enumerate().skip(1).filter(|(_, w)| w.first);
        starts.nth(line).map(|(at, _)| at)
    };
    let all = words.len().min(MOST_WORDS);
    [first_of(1).unwrap_or(all), first_of(0).unwrap_or(all)]
        .into_iter()
        .find_map(|length| columns_of(&words[..length]))
}

/// The columns of a complete line, whose first word is a time.
fn columns_of(line: &[Word]) -> Option<Vec<Column>> {
    const BEFORE: [&str; 7] = ["TIME(s)", "COMM", "PID", "DISK", "T", "SECTOR", "BYTES"];
    const WITHOUT_DISK: usize = BEFORE.len() - 1;
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    (1..=2).find_map(|times| {
        let (before, behind) = line.split_at_checked(line.len().checked_sub(times)?)?;
        let [.., last_but_two, direction, sector, bytes] = before else { return None };
        // The process is before the disk, if there is one.
        let pid = match before.len() {
            WITHOUT_DISK => last_but_two,
            many => &before[many.checked_sub(5)?],
        };
        let letters = |text: &str| text.len() <= 4 && text.bytes().all(|b| b.is_ascii_uppercase());
        let whole = [pid, sector, bytes].iter().all(|w| digits(w.text));
        let decimals = behind.iter().all(|w| w.text.contains('.') && w.text.parse::<f64>().is_ok());
        (before.len() >= WITHOUT_DISK && whole && letters(direction.text) && decimals).then_some(())?;
        let names =
            BEFORE.iter().chain(if times == 2 { &["QUE(ms)", "LAT(ms)"][..] } else { &["LAT(ms)"][..] });
        names.map(|name| COLUMNS.iter().find(|(known, _)| known == name).copied()).collect()
    })
}

/// Limit on words of a line, including those of a long name.
const MOST_WORDS: usize = 14;

impl Groups {
    /// The group with this name, added if it is new; `None` if there are too many.
    pub fn of(&mut self, of: &str, at: Spot) -> Option<&mut Group> {
        let found = self.0.iter().position(|g| g.of == of);
        let i = match found {
            Some(i) => i,
            None if self.0.len() >= MOST_ROWS => return None,
            None => {
                let (queued, took) = (Blocks::default(), Blocks::default());
                self.0.push(Group { of: of.to_owned(), at, bytes: None, queued, took });
                self.0.len() - 1
            }
        };
        self.0.get_mut(i)
    }

    /// A row per group.
    pub fn rows(self) -> Vec<Row> {
        self.0.into_iter().filter(|g| !g.took.all().is_empty()).map(row).collect()
    }
}

fn row(group: Group) -> Row {
    let mut row = Row::of(group.of);
    let at = group.at;
    let all = group.took.all();
    row.values.put("count", all.count() as f64, Unit::Count, at);
    if let Some(bytes) = group.bytes {
        row.values.put("bytes", bytes, Unit::Bytes, at);
    }
    for (name, blocks) in [("lat", &group.took), ("queued", &group.queued)] {
        let all = blocks.all();
        if all.is_empty() {
            continue;
        }
        // A time of 0 is below the tool's resolution and thus unknown. A mean of such times is too small.
        let mut put = |what: &str, ns: f64| {
            if ns > 0.0 || name == "queued" {
                row.values.put(format!("{name}.{what}"), ns, Unit::Nanoseconds, at);
            }
        };
        put("mean", all.mean());
        // With less than one operation beyond it, a percentile is the maximum. Rounded, because 1 - 0.999 is not exactly 0.001.
        let has = |q: f64| q <= 0.5 || (all.count() as f64 * (1.0 - q) * 1e6).round() >= 1e6;
        for (percentile, q) in PERCENTILES.iter().filter(|(_, q)| has(*q)) {
            put(percentile, all.quantile(*q) as f64);
        }
        put("max", all.max() as f64);
    }
    row.in_order = Some(Arc::new(group.took));
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::words::words;

    fn read(text: &str) -> Vec<Row> {
        Biosnoop.read(&words(text)).unwrap().reading.unwrap().rows
    }

    #[test]
    fn a_percentile_needs_an_operation_beyond_it() {
        let line = "0.000000    fio            12345   nvme0n1   R 1234568    4096       0.09\n";
        let names = |n: usize| {
            let text = format!(
                "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES   LAT(ms)\n{}",
                line.repeat(n)
            );
            let row = &read(&text)[0];
            ["p50", "p90", "p99", "p99.9"].map(|p| row.get(&format!("lat.{p}")).is_some())
        };
        assert_eq!(names(5), [true, false, false, false]);
        assert_eq!(names(100), [true, true, true, false]);
        assert_eq!(names(1000), [true, true, true, true]);
    }

    /// bcc's `-P` puts a letter before the times.
    #[test]
    fn the_pattern_is_a_column() {
        let text = "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES   P QUE(ms) LAT(ms)\n\
            0.000000    fio            12345   nvme0n1   R 1234568    4096    R    0.01    0.09\n\
            0.000910    jbd2/vda1-8    345     nvme0n1   R 2234568    16384   ?    0.02    2.50\n";
        let row = &crate::tool::testing::one(text, "biosnoop").rows[0];
        assert_eq!(
            (row.value("count"), row.value("lat.max"), row.value("queued.max")),
            (Some(2.0), Some(2.5e6), Some(2e4))
        );
    }

    #[test]
    fn lines_without_heading_and_without_disk_are_read() {
        let lines = "0.004978000    Web Content     1234   sda     W 7479408   4096     2.50\n1.004978000    fio     1235   sda     W 7479408   4096     3.50\n";
        let row = &crate::tool::testing::one(lines, "biosnoop").rows[0];
        assert_eq!(
            (row.of.as_str(), row.value("count"), row.value("lat.max")),
            ("sda W", Some(2.0), Some(3.5e6))
        );
        let queued = lines.replace("4096 ", "4096     0.25");
        let row = &crate::tool::testing::one(&queued, "biosnoop").rows[0];
        assert_eq!((row.value("lat.max"), row.value("bytes")), (Some(3.5e6), Some(8192.0)));
        for (at, with) in
            [("4096 ", "4096\n"), ("7479408 ", "7479408\n"), ("sda ", "sda\n"), ("0.25 ", "0.25\n")]
        {
            for lines in [lines.to_owned(), queued.clone()] {
                let broken = crate::tool::testing::one(&lines.replace(at, with), "biosnoop");
                assert_eq!(
                    broken.rows[0].values,
                    crate::tool::testing::one(&lines, "biosnoop").rows[0].values
                );
            }
        }
        let disksnoop = "TIME(s)            T  BYTES    LAT(ms)\n16458043.436012    W  4096        3.13\n";
        assert_eq!(crate::tool::testing::one(disksnoop, "biosnoop").rows[0].of, "W");
        assert!(crate::tool::testing::all("1.2345678 is 3 times 4 W 5 6 7.5\n", "biosnoop").is_empty());
    }

    #[test]
    fn rows_without_a_disk_are_read() {
        let heading = "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)\n";
        let flush = "0.500000    ?              0              W 0          0       77.50\n";
        let write = "0.700000    jbd2/vdc1-8    91     vdc     W 4242       8192     3.50\n";
        for text in [
            format!("{heading}{flush}{write}{flush}"),
            format!("{heading}{write}{flush}{flush}"),
            format!("{flush}{write}{flush}"),
        ] {
            let output = crate::output::ToolOutput::read("text", text.as_bytes());
            let rows = &output.runs[0].readings[0].rows;
            let of = |name: &str| {
                let row = rows.iter().find(|row| row.of == name).expect("a row");
                (row.value("count"), row.value("lat.max"))
            };
            assert_eq!(of("(no disk) W"), (Some(2.0), Some(77.5e6)), "{text}");
            assert_eq!(of("vdc W"), (Some(1.0), Some(3.5e6)), "{text}");
            assert_eq!((output.left_out, output.words), (0, output.understood), "{text}");
        }
        // A queue's time is lost, not the disk.
        let cut = "TIME(s) COMM PID DISK T SECTOR BYTES QUE(ms) LAT(ms)\n0.7 fio 91 vdc W 4242 8192 3.50\n0.8 fio 91 vdc W 1 2 3.50 4.50\n";
        let rows = read(cut);
        assert_eq!((rows.len(), rows[0].of.as_str(), rows[0].value("count")), (1, "vdc W", Some(1.0)));
    }

    #[test]
    fn what_a_version_does_not_print_is_not_known() {
        let rows = read(
            "TIME(ms) DISK COMM PID LAT(ms)\n611 nvme0n1 bash 4179 0\n612 nvme0n1 Web Content 4179 0\n\
             630 nvme0n1 cat 4179 12\n",
        );
        assert_eq!((rows[0].of.as_str(), rows[0].value("count")), ("nvme0n1", Some(3.0)));
        assert_eq!((rows[0].get("bytes"), rows[0].get("lat.p50")), (None, None));
        assert_eq!(rows[0].value("lat.max"), Some(12e6));
    }

    #[test]
    fn columns_stand_in_any_order_and_rows_between_remarks() {
        let rows = read(
            "COMM PID TYPE DEV BLOCK BYTES LATms\ntar 1 RM 202,1 8457608 4096 7.50\n[...]\ntar 1 RM 202,1 8 4096 2.50\n",
        );
        assert_eq!((rows[0].of.as_str(), rows[0].value("bytes")), ("202,1 RM", Some(8192.0)));
        assert_eq!(rows[0].value("lat.mean"), Some(5e6));
    }
}
