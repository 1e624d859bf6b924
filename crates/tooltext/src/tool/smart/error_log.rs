//! The log of an ATA drive's errors, as `smartctl -a` and `smartctl -l error` print it (`ataprint.cpp`): the last error first, each with the
//! commands before it.
//!
//! Errors of a drive's life are of another time: nothing here says that it fails now.

use crate::output::number::{grouped, Unit};
use crate::output::reading::Row;
use crate::output::words::Word;
use crate::tool::reader::texts;

/// Limit on words of an entry of the error log: registers, and five commands.
const MOST_OF_ENTRY: usize = 160;
/// Entries that a drive keeps; smartctl prints as many (`-l error`), `-l xerror,error` more.
const MOST_ENTRIES: usize = 64;

/// The log of an ATA drive's errors (`-l error`): how many there ever were, when the last one was, and how many of those in the log are
/// sectors that could not be read.
pub(super) fn read(words: &[Word]) -> Option<(Row, usize, usize)> {
    let mut row = Row::of("drive");
    let (mut used, mut unread, mut first) = (0, 0.0, None);
    // With `-l xerror` it is the log of the device.
    if let Some(["ATA" | "Device", "Error", "Count:", count]) = texts(words) {
        row.values.put("ATA errors", grouped(count)?, Unit::Count, words[3].spot);
        used = 4;
    } else {
        entry(words)?;
    }
    for _ in 0..MOST_ENTRIES {
        let rest = &words[used..];
        let Some(skip) = (0..MOST_OF_ENTRY.min(rest.len())).find(|skip| entry(&rest[*skip..]).is_some())
        else {
            break;
        };
        let (number, hours, length) = entry(&rest[skip..])?;
        first.get_or_insert((number, hours, rest[skip].spot));
        used += skip + length;
        let said = words[used..].iter().take(MOST_OF_ENTRY).enumerate();
        let said = said.take_while(|(i, _)| entry(&words[used + i..]).is_none()).map(|(i, _)| i);
        let kind = said
            .into_iter()
            .find_map(|i| Some((i, texts::<2>(&words[used + i..]).filter(|t| t[0] == "Error:")?)));
        if let Some((at, [_, kind])) = kind {
            used += at + 2;
            unread += f64::from(u8::from(["UNC", "UNC,"].contains(&kind)));
        }
    }
    let unknown = used.saturating_sub(4);
    if let Some((number, hours, at)) = first {
        row.values.put("ATA errors", number, Unit::Count, at);
        row.values.put("hours at the last error", hours, Unit::Count, at);
        row.values.put("unreadable sectors in the log", unread, Unit::Count, at);
    }
    (!row.values.is_empty()).then_some((row, used, unknown))
}

/// Parses `Error 16 occurred at disk power-on lifetime: 9377 hours`: the number, the hours, and the number of words.
fn entry(words: &[Word]) -> Option<(f64, f64, usize)> {
    let ["Error", number, "occurred", "at", "disk", "power-on", "lifetime:", hours, "hours"] = texts(words)?
    else {
        return None;
    };
    Some((f64::from(number.parse::<u32>().ok()?), f64::from(hours.parse::<u32>().ok()?), 9))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    const ENTRIES: &str = "Error 16 occurred at disk power-on lifetime: 9377 hours (390 days + 17 hours)\n\
        \x20 When the command that caused the error occurred, the device was active or idle.\n\n\
        \x20 After command completion occurred, registers were:\n  ER ST SC SN CL CH DH\n  -- -- -- -- -- -- --\n\
        \x20 40 51 c0 b0 92 94 40  Error: UNC at LBA = 0x009492b0 = 9736880\n\n\
        \x20 Commands leading to the command that caused the error were:\n  60 00 00 ff ff ff 4f 00   5d+09:40:31.517  READ FPDMA QUEUED\n\n\
        Error 15 occurred at disk power-on lifetime: 9376 hours (390 days + 16 hours)\n\
        \x20 84 51 c0 b0 92 94 40  Error: ICRC, ABRT at LBA = 0x009492b0 = 9736880\n";

    #[test]
    fn the_log_alone_has_its_errors() {
        let row = one(ENTRIES, "smart").rows.remove(0);
        let names = ["ATA errors", "hours at the last error", "unreadable sectors in the log"];
        assert_eq!(names.map(|name| row.value(name)), [16.0, 9377.0, 1.0].map(Some));
        let head = "# smartctl -l error /dev/sdb\nsmartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\n\
            === START OF READ SMART DATA SECTION ===\nSMART Error Log Version: 1\n\
            ATA Error Count: 18 (device log contains only the most recent five errors)\n\tCR = Command Register [HEX]\n\n";
        let reading = one(&format!("{head}{ENTRIES}"), "smart");
        assert_eq!(reading.name, "sdb");
        assert_eq!(names.map(|name| reading.rows[0].value(name)), [18.0, 9377.0, 1.0].map(Some));
    }

    #[test]
    fn prose_about_errors_is_no_log() {
        for text in ["Error 16 occurred at disk power-on, I think\n", "The ATA Error Count: see below\n"] {
            assert!(all(text, "smart").is_empty(), "{text}");
        }
    }
}
