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
//! Elements in grown defect list: 12                        SCSI
//! read:          0      941       941       941       1090      47812.883           0      SCSI: the last could not be corrected
//! ```
//!
//! A whole report (`# smartctl -a /dev/sda`, `smartctl 7.3 2022-02-28 r5338`) is one drive, named after the device in the command.
//!
//! **Versions**: smartmontools 6.6 to 7.5 (`ataprint.cpp`, `nvmeprint.cpp`), nvme-cli 1.0 to 2.3 (`nvme-print.c`).

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
const PHRASES: [Phrase; 24] = [
    (&["Available", "Spare:"], "spare", 0.01, Unit::Share),
    (&["Percentage", "Used:"], "used", 0.01, Unit::Share),
    (&["Media", "and", "Data", "Integrity", "Errors:"], "media errors", 1.0, Unit::Count),
    (&["Error", "Information", "Log", "Entries:"], "error log", 1.0, Unit::Count),
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
        if let Some(found) = report(words) {
            return Some(found);
        }
        part(words)
    }
}

/// Limit on words of a report: its logs of errors and self-tests have thousands.
const LONGEST_REPORT: usize = 6000;
/// Limit on words of a command, and on those between the command and its report.
const MOST_OF_COMMAND: usize = 16;

/// Reads a report from its command or first line on: all parts in one row, up to the next report.
fn report(words: &[Word]) -> Option<Found> {
    let version = |i: usize| {
        let [name, number] = words.get(i..).and_then(texts)?;
        let begins = number.starts_with(|c: char| c.is_ascii_digit()) && number.contains('.');
        (name == "smartctl" && begins).then_some(())
    };
    let command = |i: usize| {
        let prompt = words.get(i).is_some_and(|w| w.text.ends_with(['#', '$']));
        prompt && words[i + 1..].iter().take(2).any(|w| w.text.ends_with("smartctl") && !w.first)
    };
    let header = match words.first()?.text {
        "smartctl" => version(0).map(|()| 0)?,
        _ if command(0) => (1..MOST_OF_COMMAND).find(|i| version(*i).is_some())?,
        _ => return None,
    };
    let device = words[..header].iter().find_map(|w| w.text.strip_prefix("/dev/"));
    let device = device.filter(|name| evidence::is_device_name(name)).unwrap_or("");
    let mut all = Row::of(if device.is_empty() { "drive" } else { device });
    let (mut at, mut used, mut unknown) = (header + 2, 0, 0);
    while at < words.len().min(LONGEST_REPORT) {
        if version(at).is_some() || command(at) {
            break;
        }
        let Some(found) = part(&words[at..]) else {
            at += 1;
            continue;
        };
        for row in found.reading.iter().flat_map(|r| &r.rows) {
            row.values.iter().for_each(|(name, n)| all.values.put(name, n.value, n.unit, n.at));
        }
        (at, unknown) = (at + found.used.max(1), unknown + found.unknown);
        used = at;
    }
    let reading = Reading {
        tool: "smart",
        name: device.to_owned(),
        rows: vec![all],
        at: words[0].spot,
        ..Reading::default()
    };
    (used > 0).then_some(Found { reading: Some(reading), used, unknown })
}

/// Reads one part of a report.
fn part(words: &[Word]) -> Option<Found> {
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
    let (row, used, unknown) = phrases::row(words, &PHRASES, "drive")?;
    // A single phrase may be prose.
    let only_here = ["grown defects", "other errors"].iter().any(|name| row.get(name).is_some());
    (row.values.iter().count() > 1 || only_here).then_some(())?;
    let reading = Reading { tool: "smart", rows: vec![row], at: words[0].spot, ..Reading::default() };
    Some(Found { reading: Some(reading), used, unknown })
}

/// The drive's verdict: its name (`failing`, 1 or 0; the bits of `critical warning`), value, and number of
/// words.
fn verdict(words: &[Word]) -> Option<(&'static str, f64, usize)> {
    let first = words.first()?.text;
    ["SMART", "Critical", "critical_warning"].contains(&first).then_some(())?;
    let text = |i: usize| words.get(i).map_or("", |w| w.text);
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
mod tests {
    use crate::tool::testing::one;

    #[test]
    fn attributes_are_numbers_of_the_drive() {
        let text = "ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE\n\
              5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       16\n\
            194 Temperature_Celsius     0x0022   066   055   000    Old_age   Always       -       34 (Min/Max 20/45)\n\
            197 Current_Pending_Sector  0x0012   100   100   000    Old_age   Always       -       8\n";
        let row = one(text, "smart").rows.remove(0);
        assert_eq!(
            (row.value("Reallocated_Sector_Ct"), row.value("Current_Pending_Sector")),
            (Some(16.0), Some(8.0))
        );
        assert_eq!(row.value("Temperature_Celsius"), Some(34.0));
        let brief = "ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE\n  5 Reallocated_Sector_Ct   PO--CK   100   100   010    -    24\n\
            197 Current_Pending_Sector  -O--CK   200   200   000    NOW  16\n                            ||||||_ K auto-keep\n";
        let row = one(brief, "smart").rows.remove(0);
        let values =
            ["Reallocated_Sector_Ct", "Current_Pending_Sector", "failing"].map(|name| row.value(name));
        assert_eq!(values, [Some(24.0), Some(16.0), Some(1.0)]);
    }

    #[test]
    fn both_logs_of_nvme_drives_are_read() {
        let smartctl =
            "Temperature:                        45 Celsius\nAvailable Spare:                    100%\n\
            Percentage Used:                    3%\nMedia and Data Integrity Errors:    7\n";
        let cli = "available_spare                     : 100%\npercentage_used                     : 3%\nmedia_errors                        : 7\n";
        for text in [smartctl, cli] {
            let row = one(text, "smart").rows.remove(0);
            assert_eq!((row.value("used"), row.value("media errors")), (Some(0.03), Some(7.0)), "{text}");
        }
    }

    /// With tabs, units after numbers, and names that nvme-cli changed between 1 and 2.
    #[test]
    fn nvme_cli_names_all_that_smartctl_does() {
        let text = "Smart Log for NVME device:nvme0n1 namespace-id:ffffffff\ncritical_warning\t\t\t: 0x4\ntemperature\t\t\t\t: 41 °C (314 K)\navailable_spare\t\t\t\t: 87%\navailable_spare_threshold\t\t: 10%\npercentage_used\t\t\t\t: 45%\n\
            endurance group critical warning summary: 0\nData Units Read\t\t\t\t: 123,456,789 (63.21 TB)\nhost_read_commands\t\t\t: 1,111,222,333\nmedia_errors\t\t\t\t: 2\nnum_err_log_entries\t\t\t: 99\n\
            Warning Temperature Time\t\t: 17\nCritical Composite Temperature Time\t: 4\nTemperature Sensor 1           : 41 °C (314 K)\nThermal Management T1 Trans Count\t: 6\nThermal Management T2 Trans Count\t: 1\n";
        let readings = crate::tool::testing::all(text, "smart");
        let value = |name: &str| readings.iter().flat_map(|r| &r.rows).find_map(|r| r.value(name));
        for (name, number) in [
            ("critical warning", 4.0),
            ("spare", 0.87),
            ("used", 0.45),
            ("reads", 1_111_222_333.0),
            ("media errors", 2.0),
            ("error log", 99.0),
            ("minutes too warm", 17.0),
            ("minutes too hot", 4.0),
            ("times slowed by heat", 6.0),
            ("times slowed much by heat", 1.0),
        ] {
            assert_eq!(value(name), Some(number), "{name}");
        }
    }

    #[test]
    fn scsi_drives_count_defects_and_errors() {
        let text = "Elements in grown defect list: 12\n\nError counter log:\n           Errors Corrected by           Total   Correction     Gigabytes    Total\n\
            \x20              ECC          rereads/    errors   algorithm      processed    uncorrected\n           fast | delayed   rewrites  corrected  invocations   [10^9 bytes]  errors\n\
            read:          0      941       941       941       1090      47812,883           5\nwrite:         0       86        86        86        113       8569.762           0\n\nNon-medium error count:      345\n";
        let readings = crate::tool::testing::all(text, "smart");
        let value = |name: &str| readings.iter().flat_map(|r| &r.rows).find_map(|r| r.value(name));
        assert_eq!(
            ["grown defects", "read uncorrected", "write uncorrected", "other errors"].map(value),
            [12.0, 5.0, 0.0, 345.0].map(Some)
        );
        assert!(crate::tool::testing::all("read: 1 2 3 4 5 6 7\nUnsafe Shutdowns: 3\n", "smart").is_empty());
    }

    #[test]
    fn what_a_drive_says_of_itself_is_a_number() {
        for (text, name, value) in [
            ("SMART overall-health self-assessment test result: FAILED!\n", "failing", 1.0),
            ("SMART overall-health self-assessment test result: PASSED\n", "failing", 0.0),
            ("SMART Health Status: OK\n", "failing", 0.0),
            ("SMART Health Status: FIRMWARE IMPENDING FAILURE [asc=5d, ascq=60]\n", "failing", 1.0),
            ("Critical Warning:                   0x04\n", "critical warning", 4.0),
            ("critical_warning                    : 0x12\n", "critical warning", 18.0),
            ("critical_warning                    : 0\n", "critical warning", 0.0),
        ] {
            assert_eq!(one(text, "smart").rows[0].value(name), Some(value), "{text}");
        }
        assert!(crate::tool::testing::all("critical_warning : 41 C (314 K)\n", "smart").is_empty());
        assert!(crate::tool::testing::all(
            "Critical Warning: the disk is slow\nSMART Health Status: of all\n",
            "smart"
        )
        .is_empty());
    }

    #[test]
    fn a_report_is_one_drive_with_its_commands_device() {
        let report = |device: &str, failing: &str, pending: u32| {
            format!(
                "# smartctl -a /dev/{device}\nsmartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\n\
                 === START OF READ SMART DATA SECTION ===\nSMART overall-health self-assessment test result: {failing}\n\n\
                 General SMART Values:\nOffline data collection status:  (0x82)\n\n\
                 ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE\n\
                 197 Current_Pending_Sector  0x0012   100   100   000    Old_age   Always       -       {pending}\n\n\
                 SMART Error Log Version: 1\nNo Errors Logged\n\n"
            )
        };
        let text = report("sdb", "PASSED", 8) + &report("sdc", "FAILED!", 0);
        let all = crate::tool::testing::all(&text, "smart");
        let told: Vec<_> = all
            .iter()
            .map(|r| (r.name.as_str(), r.rows[0].value("failing"), r.rows[0].value("Current_Pending_Sector")))
            .collect();
        assert_eq!(told, [("sdb", Some(0.0), Some(8.0)), ("sdc", Some(1.0), Some(0.0))]);
        // Without a command the row is named `drive`.
        let bare = report("sdb", "PASSED", 8).replace("# smartctl -a /dev/sdb\n", "");
        assert_eq!(one(&bare, "smart").rows[0].of, "drive");
        // Prose about smartctl.
        assert!(crate::tool::testing::all("# smartctl -a /dev/sdb\nsmartctl 7.3 is what I use\n", "smart")
            .is_empty());
    }
}
