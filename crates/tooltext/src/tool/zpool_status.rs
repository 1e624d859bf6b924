//! Reads zpool status: the state of a pool's devices and the errors that ZFS counted for each.
//!
//! ```text
//!   pool: tank
//!   scan: resilver in progress since Sat May 12 19:45:12 2018
//!         NAME                      STATE     READ WRITE CKSUM
//!         tank                      DEGRADED     0     0     0
//!           mirror-0                DEGRADED     0     0     0
//!             sdh                   ONLINE       0     0     0  (resilvering)
//!             wwn-0x5000c500a4b1d2  FAULTED     12   753    83  too many errors
//!         logs
//!           nvme0n1                 ONLINE       0     0     0
//!         NAME                      STATE     READ WRITE CKSUM             upath   health        with -c upath,health
//!         scsi-35000c50094bacf9f    FAULTED      0     0     0  too many errors  /dev/sdy      OK
//! ```
//!
//! A row for each line of the table, and a setting `state NAME` in the same order: `FAULTED, too many errors`. The setting `scan` tells that a
//! resilver or a scrub is in progress, `done` and `left` how far it is and how long it still takes; the setting `errors`, how much data is damaged beyond repair:
//!
//! ```text
//! errors: 3 data errors, use '-v' for a list                                            3 data errors
//! errors: Permanent errors have been detected in the following files:                   permanent errors
//! ```
//!
//! Counts are since the pool was imported or cleared; `K` and so on are powers of 1024 (`zfs_nicenum`), rounded, so they are kept to as many
//! digits as are printed.
//!
//! **Versions**: OpenZFS 0.6 to 2.2 (`zpool_main.c`, `print_status_config`) by published output.

use super::reader::{texts, Found, Tool};
use crate::output::number::{with_suffix, Unit};
use crate::output::reading::{Reading, Row, Setting};
use crate::output::words::Word;

pub struct ZpoolStatus;

/// Begins the status of a pool, and the line on what it is busy with.
const POOL: &str = "pool:";
const SCAN: &str = "scan:";
const HEADING: [&str; 5] = ["NAME", "STATE", "READ", "WRITE", "CKSUM"];
/// States of a device (`zpool_state_to_name`, lib/libzfs/libzfs_pool.c), and of a spare.
const STATES: [&str; 9] =
    ["ONLINE", "DEGRADED", "FAULTED", "OFFLINE", "UNAVAIL", "REMOVED", "SPLIT", "AVAIL", "INUSE"];
const COUNTS: [&str; 3] = ["read errors", "write errors", "checksum errors"];
/// Limit on words between the pool's name and its table, and on those of a remark.
const MOST_BEFORE: usize = 200;
const MOST_OF_REMARK: usize = 16;
/// Limit on devices.
const MOST: usize = 1000;

impl Tool for ZpoolStatus {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let mut reading = Reading { tool: "zpool status", at: words.first()?.spot, ..Reading::default() };
        let head = head(words)?;
        let mut used = head + HEADING.len();
        // Columns of a script (`-c`) stand behind these, and behind the remark of each device.
        let more = words[used..].iter().take(MOST_OF_REMARK).take_while(|w| !w.first).count();
        used += more;
        if head > 0 {
            if words[0].text == POOL {
                reading.name = words.get(1)?.text.to_owned();
            }
            let scan = scan(&words[..head]);
            reading.settings.extend(scan.iter().flat_map(|_| progress(&words[..head])));
            reading.settings.extend(scan);
        }
        while reading.rows.len() < MOST {
            let rest = &words[used..];
            let Some((row, state, length)) = device(rest, more > 0) else {
                let Some(length) = between(rest) else { break };
                used += length;
                continue;
            };
            reading.settings.push(Setting {
                name: format!("state {}", row.of),
                value: state,
                at: rest[0].spot,
            });
            reading.rows.push(row);
            used += length;
        }
        (!reading.rows.is_empty()).then_some(())?;
        if let Some((errors, length)) = data_errors(&words[used..]) {
            reading.settings.push(errors);
            used += length;
        }
        Found::all(reading, used)
    }
}

/// The number of words before the table's heading: 0, or those from `pool:` on.
fn head(words: &[Word]) -> Option<usize> {
    let heading = |at: usize| words.get(at..).and_then(texts) == Some(HEADING);
    if heading(0) {
        return Some(0);
    }
    // People leave out the lines before `scan:`.
    let begins = words[0].text == POOL || words[0].first && words[0].text == SCAN && scan(words).is_some();
    begins.then_some(())?;
    let before = (1..MOST_BEFORE.min(words.len())).take_while(|at| words[*at].text != POOL);
    before.into_iter().find(|at| heading(*at))
}

/// What zpool says of damaged data below its table, and the number of words. To other users than root it says first that it may not list them.
fn data_errors(words: &[Word]) -> Option<(Setting, usize)> {
    const UNLISTED: [&str; 4] = ["errors:", "List", "of", "errors"];
    if texts(words) != Some(UNLISTED) {
        return damage(words);
    }
    let line = 1 + words.iter().skip(1).take(MOST_OF_REMARK).take_while(|w| !w.first).count();
    damage(&words[line..]).map(|(errors, used)| (errors, line + used))
}

/// A line on damaged data, and the number of words.
fn damage(words: &[Word]) -> Option<(Setting, usize)> {
    const LISTED: [&str; 9] =
        ["errors:", "Permanent", "errors", "have", "been", "detected", "in", "the", "following"];
    let first = words.first().filter(|w| w.first)?;
    let (value, used) = match texts(words) {
        Some(["errors:", count, "data", "errors,"]) if count.parse::<u64>().is_ok_and(|n| n > 0) => {
            (format!("{count} data errors"), 4)
        }
        _ if texts(words) == Some(LISTED) => ("permanent errors".into(), LISTED.len()),
        _ => return None,
    };
    // `use '-v' for a list`, `files:`.
    let rest = words[used..].iter().take(MOST_OF_REMARK).take_while(|w| !w.first).count();
    Some((Setting { name: "errors".into(), value, at: first.spot }, used + rest))
}

/// A resilver or a scrub that is in progress.
fn scan(words: &[Word]) -> Option<Setting> {
    let at = words.iter().position(|w| w.text == SCAN)?;
    let [_, what, "in", "progress"] = texts(&words[at..])? else { return None };
    ["resilver", "scrub"].contains(&what).then(|| Setting {
        name: "scan".into(),
        value: what.to_owned(),
        at: words[at].spot,
    })
}

/// How far a scan is, and how long it still takes if ZFS says so: `14.91% done, 17:41:27 to go`, before 0.8 `0h58m to go` and `38.35% done`
/// in two lines (`print_scan_status`).
fn progress(words: &[Word]) -> Vec<Setting> {
    let follows = |i: usize, text: &str| words.get(i).is_some_and(|w| w.text.trim_end_matches(',') == text);
    let percent = |text: &str| text.strip_suffix('%').is_some_and(|n| n.parse::<f64>().is_ok());
    let done = (1..words.len()).find(|i| follows(*i, "done") && percent(words[i - 1].text));
    let told =
        |name: &str, value: String, at: usize| Setting { name: name.into(), value, at: words[at].spot };
    let done = done.map(|i| told("done", words[i - 1].text.replace('%', " %"), i - 1));
    let end = (1..words.len()).find(|i| follows(*i, "to") && follows(i + 1, "go"));
    let left = end.and_then(|end| {
        let first =
            (end.saturating_sub(MOST_OF_TIME)..end).rfind(|i| *i > 0 && words[i - 1].text.ends_with(','))?;
        let time: Vec<&str> = words[first..end].iter().map(|w| w.text).collect();
        let fits = |text: &&str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b':');
        time.iter().all(fits).then(|| told("left", time.join(" "), first))
    });
    done.into_iter().chain(left).collect()
}

/// Limit on words of a time: `0 days 02:28:21`.
const MOST_OF_TIME: usize = 3;

/// The number of words of a line between two devices: `logs`, `cache`, `spares`, or what somebody put in place of lines, `<snip>`, `[...]`.
fn between(words: &[Word]) -> Option<usize> {
    let first = words.first().filter(|w| w.first && !w.paragraph)?;
    let length = match first.text.starts_with(['<', '[', '.']) {
        true => 1 + words.iter().skip(1).take(MOST_OF_REMARK).take_while(|w| !w.first).count(),
        false => 1,
    };
    device(words.get(length..)?, false).map(|_| length)
}

/// A device's row and state, and the number of words: `sdh ONLINE 0 0 0 (resilvering)`. The values of a script's columns are none of the
/// state: they begin with the path of the device, a number or a dash.
fn device(words: &[Word], scripted: bool) -> Option<(Row, String, usize)> {
    let [name, state, counts @ ..] = words.get(..2 + COUNTS.len())? else { return None };
    if !name.first || !STATES.contains(&state.text) {
        return None;
    }
    let mut row = Row::of(name.text);
    for (word, kind) in counts.iter().zip(COUNTS) {
        row.values.put(kind, count(word.text)?, Unit::Count, word.spot);
    }
    let used = 2 + COUNTS.len();
    let all = words[used..].iter().take(2 * MOST_OF_REMARK).take_while(|w| !w.first).map(|w| w.text);
    let all: Vec<&str> = all.collect();
    let is_value =
        |text: &&str| scripted && text.starts_with(|c: char| c == '/' || c == '-' || c.is_ascii_digit());
    let remark = &all[..all.iter().position(is_value).unwrap_or(all.len())];
    let state = match remark.is_empty() {
        true => state.text.to_owned(),
        false => format!("{}, {}", state.text, remark.join(" ")),
    };
    Some((row, state, used + all.len()))
}

/// A count: `12`, `12.3K`. Of a rounded one no more digits are known than are printed: `1.2K` is 1,200, not 1,228.8.
fn count(text: &str) -> Option<f64> {
    let (value, suffix) = with_suffix(text)?;
    let power = match suffix {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        _ => return None,
    };
    let exact = value * 1024f64.powi(power);
    if power == 0 || value <= 0.0 {
        return (value >= 0.0).then_some(exact);
    }
    let digits = text.bytes().filter(u8::is_ascii_digit).count().max(1);
    format!("{exact:.0$e}", digits - 1).parse().ok()
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    const POOL: &str = "  pool: tank\n state: DEGRADED\nstatus: One or more devices is currently being resilvered.\n  \
        scan: resilver in progress since Sat May 12 19:45:12 2018\n\t123G resilvered, 66.46% done\nconfig:\n\n\
        \tNAME                     STATE     READ WRITE CKSUM\n\ttank                     DEGRADED     0     0     0\n\
        \t  mirror-0               DEGRADED     0     0     0\n\t    sdh                  ONLINE       0     0     0  (resilvering)\n\
        \t    wwn-0x5000c500a4b1d2 FAULTED     12  1.5K    83  too many errors\n\tlogs\n\t  nvme0n1                ONLINE       0     0     0\n\n\
        errors: No known data errors\n";

    #[test]
    fn each_device_has_its_state_and_errors() {
        let reading = one(POOL, "zpool status");
        assert_eq!((reading.name.as_str(), reading.setting("scan")), ("tank", Some("resilver")));
        let names: Vec<&str> = reading.rows.iter().map(|r| r.of.as_str()).collect();
        assert_eq!(names, ["tank", "mirror-0", "sdh", "wwn-0x5000c500a4b1d2", "nvme0n1"]);
        let bad = reading.row("wwn-0x5000c500a4b1d2").expect("a row");
        let counts = ["read errors", "write errors", "checksum errors"].map(|kind| bad.value(kind));
        assert_eq!(counts, [Some(12.0), Some(1500.0), Some(83.0)]);
        assert_eq!(reading.setting("state wwn-0x5000c500a4b1d2"), Some("FAULTED, too many errors"));
    }

    #[test]
    fn a_table_without_its_pool_is_read_and_other_states_are_not() {
        let (_, table) = POOL.split_once("config:\n\n").expect("a table");
        assert_eq!(one(table, "zpool status").rows.len(), 5);
        assert!(all(
            &table.replace("ONLINE", "fine").replace("DEGRADED", "so").replace("FAULTED", "no"),
            "zpool status"
        )
        .is_empty());
    }

    #[test]
    fn a_rounded_count_has_the_digits_of_the_text() {
        for (text, count) in
            [("7", 7.0), ("1.2K", 1200.0), ("95.9K", 98_200.0), ("512K", 524_000.0), ("0", 0.0)]
        {
            assert_eq!(super::count(text), Some(count), "{text}");
        }
    }

    #[test]
    fn damaged_data_is_told_by_a_setting() {
        let errors = |line: &str| {
            let text = POOL.replace("errors: No known data errors", line);
            one(&text, "zpool status").setting("errors").map(str::to_owned)
        };
        assert_eq!(errors("errors: No known data errors"), None);
        assert_eq!(errors("errors: 4 data errors, use '-v' for a list").as_deref(), Some("4 data errors"));
        let hidden = "errors: List of errors unavailable: permission denied";
        assert_eq!(errors(hidden), None);
        let counted = format!("{hidden}\n\nerrors: 4 data errors, use '-v' for a list");
        assert_eq!(errors(&counted).as_deref(), Some("4 data errors"));
        let listed =
            "errors: Permanent errors have been detected in the following files:\n\n        /tank/a\n";
        assert_eq!(errors(listed).as_deref(), Some("permanent errors"));
    }

    #[test]
    fn a_status_that_begins_at_its_scan_is_read() {
        let (_, rest) = POOL.split_once("resilvered.\n").expect("a scan");
        let reading = one(rest, "zpool status");
        assert_eq!(
            (reading.name.as_str(), reading.setting("scan"), reading.rows.len()),
            ("", Some("resilver"), 5)
        );
    }

    #[test]
    fn how_far_a_scan_is() {
        let of = |progress: &str| {
            let reading = one(&POOL.replace("\t123G resilvered, 66.46% done", progress), "zpool status");
            [reading.setting("done").map(str::to_owned), reading.setting("left").map(str::to_owned)]
        };
        let told = |done: &str, left: &str| [Some(done.to_owned()), Some(left.to_owned())];
        assert_eq!(of("\t3G resilvered, 4.25% done, 11:02:33 to go"), told("4.25 %", "11:02:33"));
        assert_eq!(
            of("\t0 repaired, 50.30% done, 2 days 02:28:21 to go"),
            told("50.30 %", "2 days 02:28:21")
        );
        assert_eq!(
            of("\t2T scanned out of 5T at 1G/s, 0h58m to go\n\t4M repaired, 38.35% done"),
            told("38.35 %", "0h58m")
        );
        assert_eq!(
            of("\t8G resilvered, 9.21% done, no estimated completion time"),
            [Some("9.21 %".into()), None]
        );
        assert_eq!(of("\tready to go"), [None, None]);
    }

    #[test]
    fn columns_of_a_script_are_no_state() {
        let text = "  pool: tank\n state: DEGRADED\nconfig:\n\n\
            \tNAME          STATE     READ WRITE CKSUM                     upath  defect  health\n\
            \ttank          DEGRADED     0     0 13.5M\n\t  <skipping unrelated vdevs here>\n\
            \t  sdh         DEGRADED     0     0     0  too many errors  (resilvering)    /dev/sdh     825     OK\n\
            \t  sdi         ONLINE       0     0     0                   /dev/sdi       -     OK\n";
        let reading = one(text, "zpool status");
        let states: Vec<_> = reading.settings.iter().map(|s| (s.name.as_str(), s.value.as_str())).collect();
        assert_eq!(
            states,
            [
                ("state tank", "DEGRADED"),
                ("state sdh", "DEGRADED, too many errors (resilvering)"),
                ("state sdi", "ONLINE")
            ]
        );
        assert_eq!(reading.rows[0].value("checksum errors"), Some(14_200_000.0));
    }
}
