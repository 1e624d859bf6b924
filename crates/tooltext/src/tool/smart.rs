//! What drives say of themselves: smartctl's attributes (ATA), its and nvme-cli's log of NVMe drives.
//!
//! ```text
//! ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
//!   5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       16
//! 197 Current_Pending_Sector  0x0012   100   100   000    Old_age   Always       -       8 (a remark)
//! Percentage Used:                    3%
//! Media and Data Integrity Errors:    0
//! media_errors                        : 0                 nvme smart-log
//! ```

use super::phrases::{self, Phrase};
use super::table;
use super::{texts, Found, Tool};
use crate::mail::number::Unit;
use crate::mail::reading::{Reading, Row};
use crate::mail::words::Word;

pub struct Smart;

const HEADING: [&str; 3] = ["ID#", "ATTRIBUTE_NAME", "FLAG"];
const MOST_ROWS: usize = 256;
const PHRASES: [Phrase; 20] = [
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
    (&["Thermal", "Management", "T1", "Trans", "Count", ":"], "times slowed by heat", 1.0, Unit::Count),
    (&["Thermal", "Management", "T2", "Trans", "Count", ":"], "times slowed much by heat", 1.0, Unit::Count),
];

impl Tool for Smart {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if HEADING.iter().zip(words).all(|(h, w)| *h == w.text) && words.len() > HEADING.len() {
            return attributes(words);
        }
        let (row, used, unknown) = phrases::row(words, &PHRASES, "drive")?;
        // A single one may be anybody's words.
        (row.values.iter().count() > 1).then_some(())?;
        let reading = Reading { tool: "smart", rows: vec![row], at: words[0].spot, ..Reading::default() };
        Some(Found { reading: Some(reading), used, unknown })
    }
}

fn attributes(words: &[Word]) -> Option<Found> {
    let mut used = words.iter().take(12).position(|w| w.text == "RAW_VALUE")? + 1;
    let mut unknown = 0;
    let mut reading = Reading { tool: "smart", at: words[0].spot, ..Reading::default() };
    let mut all = Row::of("drive");
    let mut rows = 0;
    while rows < MOST_ROWS {
        let ends = |w: &Word| w.text == "ID#";
        let Some((skip, (name, value, at), length)) = table::next(&words[used..], ends, attribute) else {
            break;
        };
        used += skip + length;
        unknown += skip;
        rows += 1;
        all.values.put(name, value, Unit::Count, at);
    }
    reading.rows.push(all);
    (rows > 0).then_some(Found { reading: Some(reading), used, unknown })
}

/// `5 Reallocated_Sector_Ct 0x0033 100 100 010 Pre-fail Always - 16`
fn attribute<'a>(words: &[Word<'a>]) -> Option<((&'a str, f64, evidence::Spot), usize)> {
    let [id, name, flag, value, worst, threshold, kind, updated, _failed, raw] = texts(words)?;
    let number = |text: &str| text.parse::<u16>().is_ok();
    let fits = number(id) && flag.starts_with("0x") && number(value) && number(worst);
    let fits = fits
        && (number(threshold) || threshold == "---")
        && kind.contains(['-', '_'])
        && updated.starts_with(['A', 'O']);
    // `34 (Min/Max 20/45)`, `12345h+30m+10.1s`: the number they begin with.
    let digits = raw.split(|c: char| !c.is_ascii_digit()).next().unwrap_or("");
    let raw: u64 = digits.parse().ok().filter(|_| fits)?;
    let more = words[10..].iter().take(8).take_while(|w| !w.first).count();
    Some(((name, raw as f64, words[9].spot), 10 + more))
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
    }

    #[test]
    fn both_logs_of_nvme_drives_are_read() {
        let smartctl = "Critical Warning:                   0x00\nTemperature:                        45 Celsius\nAvailable Spare:                    100%\n\
            Percentage Used:                    3%\nMedia and Data Integrity Errors:    7\n";
        let cli = "available_spare                     : 100%\npercentage_used                     : 3%\nmedia_errors                        : 7\n";
        for text in [smartctl, cli] {
            let row = one(text, "smart").rows.remove(0);
            assert_eq!((row.value("used"), row.value("media errors")), (Some(0.03), Some(7.0)), "{text}");
        }
    }
}
