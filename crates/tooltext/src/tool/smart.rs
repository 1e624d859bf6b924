//! Reads the state of drives: smartctl's verdict and attributes (ATA), and the log of NVMe drives (smartctl and nvme-cli).
//!
//! ```text
//! SMART overall-health self-assessment test result: FAILED!
//! SMART Health Status: OK                                                                  SCSI
//! Critical Warning:                   0x04                bits: 0 spare, 1 heat, 2 unreliable, 3 read-only, 4 its backup
//! critical_warning                    : 0x4               nvme smart-log
//! ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
//!   5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       16
//! 197 Current_Pending_Sector  0x0012   100   100   000    Old_age   Always       -       8 (a remark)
//! Percentage Used:                    3%
//! Media and Data Integrity Errors:    0
//! media_errors                        : 0                 nvme smart-log
//! ATA Error Count: 16 (device log contains only the most recent five errors)
//! Error 16 occurred at disk power-on lifetime: 9377 hours (390 days + 17 hours)            ATA: the log of errors, the last first
//!   40 51 c0 b0 92 94 40  Error: UNC at LBA = 0x009492b0 = 9736880                         a sector that could not be read
//! Elements in grown defect list: 12                        SCSI
//! read:          0      941       941       941       1090      47812.883           0      SCSI: the last could not be corrected
//! ```
//!
//! A whole report (`report.rs`) is one drive.
//!
//! **Versions**: smartmontools 6.6 to 7.5 (`ataprint.cpp`, `nvmeprint.cpp`), nvme-cli 1.0 to 2.3 (`nvme-print.c`).

mod error_log;
mod report;

use super::phrases::{self, Phrase};
use super::reader::{texts, Found, Tool};
use super::table;
use crate::output::number::{grouped, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Smart;

/// Headings of the table of attributes: `FLAGS` with `-x`, which prints fewer columns.
const HEADING: [&str; 3] = ["ID#", "ATTRIBUTE_NAME", "FLAG"];
const BRIEF: [&str; 3] = ["ID#", "ATTRIBUTE_NAME", "FLAGS"];
const MOST_ROWS: usize = 256;
const PHRASES: [Phrase; 26] = [
    (&["Available", "Spare:"], "spare", 0.01, Unit::Share),
    (&["Percentage", "Used:"], "used", 0.01, Unit::Share),
    (&["Media", "and", "Data", "Integrity", "Errors:"], "media errors", 1.0, Unit::Count),
    (&["Error", "Information", "Log", "Entries:"], "error log", 1.0, Unit::Count),
    (&["Power", "On", "Hours:"], "Power_On_Hours", 1.0, Unit::Count),
    (&["power_on_hours", ":"], "Power_On_Hours", 1.0, Unit::Count),
    (&["Unsafe", "Shutdowns:"], "unsafe shutdowns", 1.0, Unit::Count),
    (&["Warning", "Comp.", "Temperature", "Time:"], "minutes too warm", 1.0, Unit::Count),
    (&["Critical", "Comp.", "Temperature", "Time:"], "minutes too hot", 1.0, Unit::Count),
    (&["percentage_used", ":"], "used", 0.01, Unit::Share),
    (&["Host", "Read", "Commands:"], "reads", 1.0, Unit::Count),
    (&["Host", "Write", "Commands:"], "writes", 1.0, Unit::Count),
    (&["host_read_commands", ":"], "reads", 1.0, Unit::Count),
    (&["host_write_commands", ":"], "writes", 1.0, Unit::Count),
    (&["available_spare", ":"], "spare", 0.01, Unit::Share),
    (&["media_errors", ":"], "media errors", 1.0, Unit::Count),
    (&["num_err_log_entries", ":"], "error log", 1.0, Unit::Count),
    (&["unsafe_shutdowns", ":"], "unsafe shutdowns", 1.0, Unit::Count),
    (&["Warning", "Temperature", "Time", ":"], "minutes too warm", 1.0, Unit::Count),
    (&["Critical", "Composite", "Temperature", "Time", ":"], "minutes too hot", 1.0, Unit::Count),
    (&["Critical", "Temperature", "Time", ":"], "minutes too hot", 1.0, Unit::Count),
    (GROWN, "grown defects", 1.0, Unit::Count),
    (&["Non-medium", "error", "count:"], "other errors", 1.0, Unit::Count),
    (&["SS", "Media", "used", "endurance", "indicator:"], "used", 0.01, Unit::Share),
    (&["Thermal", "Management", "T1", "Trans", "Count", ":"], "times slowed by heat", 1.0, Unit::Count),
    (&["Thermal", "Management", "T2", "Trans", "Count", ":"], "times slowed much by heat", 1.0, Unit::Count),
];

/// A phrase that only smartctl prints, for SCSI drives.
const GROWN: &[&str] = &["Elements", "in", "grown", "defect", "list:"];

impl Tool for Smart {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if let Some(found) = report::read(words) {
            return Some(found);
        }
        part(words, false)
    }
}

/// Reads one part; in a report a single phrase is enough, elsewhere it may be prose.
fn part(words: &[Word], in_report: bool) -> Option<Found> {
    if texts(words).is_some_and(|first| first == HEADING || first == BRIEF) {
        return attributes(words);
    }
    // Rows without a heading, after grep.
    if words.first().is_some_and(|w| w.first) && attribute(words).is_some() {
        return attributes(words);
    }
    if let Some((name, value, used)) = verdict(words) {
        let mut row = Row::of("drive");
        row.values.put(name, value, Unit::Count, words[used - 1].spot);
        return Found::all(
            Reading { tool: "smart", rows: vec![row], at: words[0].spot, ..Reading::default() },
            used,
        );
    }
    if let Some((row, used)) = uncorrected(words) {
        return Found::all(
            Reading { tool: "smart", rows: vec![row], at: words[0].spot, ..Reading::default() },
            used,
        );
    }
    if let Some((row, used, unknown)) = error_log::read(words) {
        let reading = Reading { tool: "smart", rows: vec![row], at: words[0].spot, ..Reading::default() };
        return Some(Found { reading: Some(reading), used, unknown });
    }
    let (row, used, unknown) = phrases::row(words, &PHRASES, "drive")?;
    let only_here = ["grown defects", "other errors"].iter().any(|name| row.get(name).is_some());
    (in_report || row.values.iter().count() > 1 || only_here).then_some(())?;
    let reading = Reading { tool: "smart", rows: vec![row], at: words[0].spot, ..Reading::default() };
    Some(Found { reading: Some(reading), used, unknown })
}

/// The drive's verdict: its name (`failing`, 1 or 0; the bits of `critical warning`), value, and number of
/// words.
fn verdict(words: &[Word]) -> Option<(&'static str, f64, usize)> {
    let first = words.first()?.text;
    let text = |i: usize| words.get(i).map_or("", |w| w.text);
    if first == "#1" || first == "#" && text(1) == "1" {
        return self_test(words);
    }
    ["SMART", "Critical", "critical_warning"].contains(&first).then_some(())?;
    let bits = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    match [first, text(1), text(2)] {
        ["SMART", "overall-health", "self-assessment"] if text(4) == "result:" => {
            let failing = match text(5) {
                "FAILED!" | "FAILED" => 1.0,
                "PASSED" => 0.0,
                _ => return None,
            };
            Some(("failing", failing, 6))
        }
        // Any other status is a warning: `FIRMWARE IMPENDING FAILURE GENERAL HARD DRIVE FAILURE [asc=5d, ascq=60]`.
        ["SMART", "Health", "Status:"] => {
            let failing = text(3) != "OK";
            let capitals = text(3).len() > 2 && text(3).bytes().all(|b| b.is_ascii_uppercase());
            (!failing || capitals).then_some(("failing", f64::from(u8::from(failing)), 4))
        }
        ["Critical", "Warning:", value] if value.starts_with("0x") => {
            Some(("critical warning", bits(value)?.into(), 3))
        }
        // The bits end the line: `: 41 C` is a temperature.
        ["critical_warning", ":", value] if words.get(3).is_none_or(|w| w.first || w.spot.column > 0) => {
            Some(("critical warning", bits(value)?.into(), 3))
        }
        _ => None,
    }
}

/// Limit on words from the number of a self-test to its result.
const MOST_OF_TEST: usize = 8;

/// The last self-test, if it failed: `# 1  Short offline  Completed: read failure  10%  18145  181539` (`ataprint.cpp`).
fn self_test(words: &[Word]) -> Option<(&'static str, f64, usize)> {
    let line = words.iter().take(MOST_OF_TEST).enumerate();
    let line = line.take_while(|(i, w)| *i == 0 || !w.first);
    let result = line.map(|(i, _)| i).find(|i| words[*i].text == "Completed:")?;
    let failed = texts(&words[result..]).is_some_and(|[_, _, failure]| failure == "failure");
    failed.then_some(("self-test failed", 1.0, result + 3))
}

/// The error log of a SCSI drive; for each kind, the last of seven numbers: `read: 0 941 941 941 1090 47812.883 0`, whose sixth is in
/// gigabytes.
fn uncorrected(words: &[Word]) -> Option<(Row, usize)> {
    const KINDS: [(&str, &str); 3] =
        [("read:", "read uncorrected"), ("write:", "write uncorrected"), ("verify:", "verify uncorrected")];
    const NUMBERS: usize = 7;
    let (mut row, mut used) = (Row::of("drive"), 0);
    while let Some(line) = words.get(used..used + 1 + NUMBERS) {
        let Some((_, name)) =
            KINDS.iter().find(|(kind, name)| line[0].text == *kind && row.get(name).is_none())
        else {
            break;
        };
        let whole = |w: &Word| w.text.parse::<u64>().ok();
        let counts = line[1..6].iter().all(|w| whole(w).is_some());
        let gigabytes =
            line[6].text.contains(['.', ',']) && grouped(&line[6].text.replace(',', "")).is_some();
        let Some(errors) = whole(&line[NUMBERS]).filter(|_| counts && gigabytes) else { break };
        row.values.put(*name, errors as f64, Unit::Count, line[NUMBERS].spot);
        used += 1 + NUMBERS;
    }
    (used > 0).then_some((row, used))
}

fn attributes(words: &[Word]) -> Option<Found> {
    let mut used = match words[0].text {
        "ID#" => words.iter().take(12).position(|w| w.text == "RAW_VALUE")? + 1,
        _ => 0,
    };
    let mut unknown = 0;
    let mut reading = Reading { tool: "smart", at: words[0].spot, ..Reading::default() };
    let mut all = Row::of("drive");
    let mut rows = 0;
    while rows < MOST_ROWS {
        let ends = |w: &Word| w.text == "ID#";
        let Some((skip, (name, value, at, failing), length)) = table::next(&words[used..], ends, attribute)
        else {
            break;
        };
        if failing {
            all.values.put("failing", 1.0, Unit::Count, at);
        }
        used += skip + length;
        unknown += skip;
        rows += 1;
        all.values.put(name, value, Unit::Count, at);
    }
    reading.rows.push(all);
    (rows > 0).then_some(Found { reading: Some(reading), used, unknown })
}

/// An attribute: name, number, place, and whether it is below the manufacturer's threshold.
type Attribute<'a> = (&'a str, f64, evidence::Spot, bool);

/// Parses `5 Reallocated_Sector_Ct 0x0033 100 100 010 Pre-fail Always - 16`.
fn attribute<'a>(words: &[Word<'a>]) -> Option<(Attribute<'a>, usize)> {
    let [id, name, flag, value, worst, threshold, failed, raw] = texts(words)?;
    // `5 Reallocated_Sector_Ct PO--CK 100 100 010 - 16` with `-x`; otherwise separate columns have the meaning of the letters.
    let brief = flag.len() == 6 && flag.bytes().all(|b| b == b'-' || b.is_ascii_uppercase());
    let (failed, raw, columns) = match brief {
        true => (failed, raw, 8),
        false => {
            let [kind, updated, failed, raw] = texts(&words[6..])?;
            let fits = flag.starts_with("0x") && kind.contains(['-', '_']) && updated.starts_with(['A', 'O']);
            fits.then_some((failed, raw, 10))?
        }
    };
    let number = |text: &str| text.parse::<u16>().is_ok();
    let fits = number(id) && number(value) && number(worst) && (number(threshold) || threshold == "---");
    // `34 (Min/Max 20/45)`, `12345h+30m+10.1s`: the leading number.
    let digits = raw.split(|c: char| !c.is_ascii_digit()).next().unwrap_or("");
    let raw: u64 = digits.parse().ok().filter(|_| fits)?;
    // If the number is missing, the next row's first word takes its place.
    let next = words.get(columns + 1).is_some_and(|w| w.text.starts_with("0x"));
    (!(words[columns - 1].first && next)).then_some(())?;
    let more = words[columns..].iter().take(8).take_while(|w| !w.first).count();
    Some((
        (name, raw as f64, words[columns - 1].spot, ["FAILING_NOW", "NOW"].contains(&failed)),
        columns + more,
    ))
}

#[cfg(test)]
mod tests;
