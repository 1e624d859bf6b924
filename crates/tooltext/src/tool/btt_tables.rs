//! Reads btt's tables of devices: merges, seeks, plugs, requests at queueing, active and idle time (`btt/output.c` of blktrace).
//!
//! ```text
//! ==================== Device Q2Q Seek Information ====================
//!
//!        DEV |          NSEEKS            MEAN          MEDIAN | MODE
//! ---------- | --------------- --------------- --------------- | ---------------
//!  (254,  0) |           20821        671850.5               0 | 0(22)
//! ---------- | --------------- --------------- --------------- | ---------------
//!    Overall |          NSEEKS            MEAN          MEDIAN | MODE
//!    Average |           20821        671850.5               0 | 0(22)
//!
//! #     Total System : q activity
//!   0.000000000   0.0
//!   0.000000000   0.4
//!   7.380989795   0.4
//! ```
//!
//! A table is identified by its headings; a cell such as `0(22)` or `1( 6)` has two numbers. btt counts seeks and sizes in
//! sectors of 512 bytes. The lists of activity are points of a curve with height 0.4 (or 0.9) while something is
//! active: the time between two consecutive such points is summed.
//!
//! **Versions**: blktrace 1.2.0 (the tests run it).

use super::btt_cells::{ends_table, Cells};
use super::reader::Found;
use super::table::{gather, rulers};
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;
use Unit::{Bytes, Count, Nanoseconds, Share};

/// A table: the name of its reading, its headings after `DEV`, its columns.
struct Table {
    name: &'static str,
    headings: &'static [&'static str],
    columns: &'static [(&'static str, f64, Unit)],
}

const SECTOR: f64 = 512.0;
const SECOND: f64 = 1e9;
const PERCENT: f64 = 0.01;

const TABLES: [Table; 7] = [
    Table {
        name: "merges",
        headings: &["#Q", "#D", "Ratio", "BLKmin", "BLKavg", "BLKmax", "Total"],
        columns: &[
            ("queued", 1.0, Count),
            ("issued", 1.0, Count),
            ("ratio", 1.0, Count),
            ("size.min", SECTOR, Bytes),
            ("size.mean", SECTOR, Bytes),
            ("size.max", SECTOR, Bytes),
            ("bytes", SECTOR, Bytes),
        ],
    },
    Table {
        name: "seeks",
        headings: &["NSEEKS", "MEAN", "MEDIAN", "MODE"],
        columns: &[
            ("seeks", 1.0, Count),
            ("mean", SECTOR, Bytes),
            ("median", SECTOR, Bytes),
            ("mode", SECTOR, Bytes),
            ("mode.count", 1.0, Count),
        ],
    },
    Table {
        name: "plugs",
        headings: &["#", "Plugs", "#", "Timer", "Us", "%", "Time", "Q", "Plugged"],
        columns: &[("plugs", 1.0, Count), ("timeouts", 1.0, Count), ("plugged", PERCENT, Share)],
    },
    Table {
        name: "unplugs",
        headings: &["IOs/Unp", "IOs/Unp(to)"],
        columns: &[("ios", 1.0, Count), ("ios.timeout", 1.0, Count)],
    },
    Table { name: "requests at Q", headings: &["Avg", "Reqs", "@", "Q"], columns: &[("queue", 1.0, Count)] },
    Table {
        name: "active",
        headings: &["#", "Live", "Avg.", "Act", "Avg.", "!Act", "%", "Live"],
        columns: &[
            ("periods", 1.0, Count),
            ("active.mean", SECOND, Nanoseconds),
            ("idle.mean", SECOND, Nanoseconds),
            ("active", PERCENT, Share),
        ],
    },
    Table {
        name: "Q2D",
        headings: &[
            "<.005", "<.010", "<.025", "<.050", "<.075", "<.100", "<.250", "<.500", "<", "1.0", ">=1.0",
        ],
        columns: &[
            ("below 5 ms", PERCENT, Share),
            ("below 10 ms", PERCENT, Share),
            ("below 25 ms", PERCENT, Share),
            ("below 50 ms", PERCENT, Share),
            ("below 75 ms", PERCENT, Share),
            ("below 100 ms", PERCENT, Share),
            ("below 250 ms", PERCENT, Share),
            ("below 500 ms", PERCENT, Share),
            ("below 1 s", PERCENT, Share),
            ("1 s or more", PERCENT, Share),
        ],
    },
];

/// Titles between rulers of `=`, and the name that they give to the table below.
const BANNERS: [(&str, Option<&str>); 11] = [
    ("Per Process", None),
    ("Per Device", None),
    ("All Devices", None),
    ("Device Overhead", None),
    ("Device Merge Information", None),
    ("Device Q2Q Seek Information", Some("Q2Q seeks")),
    ("Device D2D Seek Information", Some("D2D seeks")),
    ("Plug Information", None),
    ("Active Requests At Q Information", None),
    ("I/O Active Period Information", None),
    ("Q2D Histogram", None),
];
/// Limit on words of a title, and of a process name.
const MOST_WORDS: usize = 6;
/// Limit on rows of a table, and on lists of activity.
const MOST_ROWS: usize = 1000;
/// Limit on listed modes with equal count, one word each; btt abbreviates more as `...(8 more)`.
const MOST_MODES: usize = 24;

/// Reads `======= Device Merge Information =======`, with the table below it if that is one of these.
pub(super) fn banner(words: &[Word]) -> Option<Found> {
    let rule = |text: &str| text.len() >= 8 && text.bytes().all(|b| b == b'=');
    rule(words.first()?.text).then_some(())?;
    let end = 1 + words[1..].iter().take(MOST_WORDS).position(|w| rule(w.text))?;
    let said: Vec<&str> = words[1..end].iter().map(|w| w.text).collect();
    let (_, name) = BANNERS.iter().find(|(text, _)| *text == said.join(" "))?;
    let used = end + 1;
    match (name, table(&words[used..])) {
        (Some(name), Some(Found { reading: Some(reading), used: more, unknown })) => {
            let reading = Reading { name: (*name).to_owned(), ..reading };
            Some(Found { reading: Some(reading), used: used + more, unknown })
        }
        _ => Found::noise(used),
    }
}

/// Reads a table that starts with `DEV`.
pub(super) fn table(words: &[Word]) -> Option<Found> {
    (words.first()?.text == "DEV").then_some(())?;
    let table = TABLES.iter().find(|t| headings(words, t.headings).is_some())?;
    let used = headings(words, table.headings)?;
    let reading = Reading { tool: "btt", name: table.name.into(), at: words[0].spot, ..Reading::default() };
    let ends = |w: &Word| ends_table(w) || w.text == "Overall";
    let read = |rest| row(rest, table.columns);
    let Some(found) = gather(reading, words, used, MOST_ROWS, ends, read) else { return Found::noise(used) };
    // The headings are repeated before the sum or mean of all devices.
    let behind = found.used + rulers(&words[found.used..]);
    let Some(again) = headings(&words[behind..], table.headings) else { return Some(found) };
    let all = gather(found.reading?, words, behind + again, MOST_ROWS, ends, read)?;
    Some(Found { unknown: found.unknown + all.unknown, ..all })
}

/// Number of words up to the end of the headings; the first word is `DEV` or `Overall`.
fn headings(words: &[Word], wanted: &[&str]) -> Option<usize> {
    let mut cells = Cells { words, used: 0 };
    let first = cells.next()?.text;
    ["DEV", "Overall"].contains(&first).then_some(())?;
    wanted.iter().all(|heading| cells.next().is_some_and(|w| w.text == *heading)).then_some(cells.used)
}

fn row(words: &[Word], columns: &[(&str, f64, Unit)]) -> Option<(Row, usize)> {
    let mut cells = Cells { words, used: 0 };
    let mut of = cells.subject()?;
    // The subject `Total Sys` has two words.
    if of == "Total" {
        of = format!("Total {}", cells.next()?.text);
    }
    let mut row = Row::of(of);
    let mut columns = columns.iter();
    while let Some((name, factor, unit)) = columns.next() {
        let word = cells.next()?;
        let (first, second) = word
            .text
            .trim_end_matches('%')
            .split_once('(')
            .map_or((word.text.trim_end_matches('%'), None), |(a, b)| (a, Some(b)));
        row.values.put(*name, decimal(first)? * factor, *unit, word.spot);
        if let Some(second) = second {
            // `1( 6)` has two words, `0(22)` one.
            let (text, spot) = match second {
                "" => cells.next().map(|w| (w.text, w.spot))?,
                text => (text, word.spot),
            };
            let (name, factor, unit) = columns.next()?;
            row.values.put(*name, decimal(text.strip_suffix(')')?)? * factor, *unit, spot);
        }
    }
    let mode = |w: &&Word| w.text.contains('(') && w.text.starts_with(|c: char| c.is_ascii_digit());
    cells.used += cells.words[cells.used..].iter().take(MOST_MODES).take_while(mode).count();
    if cells.words.get(cells.used).is_some_and(|w| w.text.starts_with("...(")) {
        cells.used = (cells.used + 2).min(cells.words.len());
    }
    Some((row, cells.used))
}

/// Reads `# NAME : q activity` and points; all lists of a report are one reading, with a row per list.
pub(super) fn activity(words: &[Word]) -> Option<Found> {
    let mut reading =
        Reading { tool: "btt", name: "activity".into(), at: words.first()?.spot, ..Reading::default() };
    let mut used = 0;
    while reading.rows.len() < MOST_ROWS {
        let rest = &words[used..];
        if let [Some("#"), Some("Total" | "Per"), Some("System" | "device" | "process")] =
            [0, 1, 2].map(|i| rest.get(i).map(|w| w.text))
        {
            if rest.get(3).is_some_and(|w| w.text == "#") {
                used += 3;
                continue;
            }
        }
        let Some((row, more)) = curve(rest) else { break };
        reading.rows.push(row);
        used += more;
    }
    if reading.rows.is_empty() {
        return None;
    }
    Found::all(reading, used)
}

fn curve(words: &[Word]) -> Option<(Row, usize)> {
    (words.first()?.text == "#").then_some(())?;
    let colon = words.iter().take(MOST_WORDS).position(|w| w.text == ":").filter(|colon| *colon > 1)?;
    let which = words.get(colon + 1)?.text;
    (["q", "c"].contains(&which) && words.get(colon + 2)?.text == "activity").then_some(())?;
    let name: Vec<&str> = words[1..colon].iter().map(|w| w.text).collect();
    let mut row = Row::of(format!("{} {which}", name.join(" ")));
    let (mut used, mut before, mut active, mut periods) = (colon + 3, None, 0.0, 0.0);
    while let Some((time, height)) = point(&words[used..]) {
        // 0.4 above 0.0, 0.9 above 0.5: active points are 0.4 above the curve's base.
        let high = (height * 10.0).round() % 5.0 == 4.0;
        if let Some((from, level)) = before {
            if level == height && high && time > from {
                active += time - from;
                periods += 1.0;
            }
        }
        before = Some((time, height));
        used += 2;
    }
    row.values.put("periods", periods, Count, words[0].spot);
    row.values.put("active", active * SECOND, Nanoseconds, words[0].spot);
    Some((row, used))
}

/// Parses a point: `7.380989795 0.4`.
fn point(words: &[Word]) -> Option<(f64, f64)> {
    let nine = |text: &str| text.split_once('.').is_some_and(|(_, digits)| digits.len() == 9);
    let (time, height) = (words.first()?.text, words.get(1)?.text);
    nine(time).then_some(())?;
    Some((decimal(time)?, decimal(height)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::words::words;

    const SEEKS: &str = "==================== Device D2D Seek Information ====================\n\n\
        DEV | NSEEKS MEAN MEDIAN | MODE\n---- | ---- ---- | ----\n\
        (  9,  0) | 9111 10.5 0 | 125392(3)\n ...(8 more)\n (254, 16) | 14570 4 2 | 0(8105) 8(8105)\n\
        ---- | ---- ----\nOverall | NSEEKS MEAN MEDIAN | MODE\nAverage | 38217 5 0 | 0(15930)\n\n";

    #[test]
    fn a_table_has_its_devices_and_their_mean() {
        let found = banner(&words(SEEKS)).unwrap();
        let r = found.reading.unwrap();
        let of: Vec<&str> = r.rows.iter().map(|r| r.of.as_str()).collect();
        assert_eq!((r.name.as_str(), of), ("D2D seeks", vec!["9,0", "254,16", "Average"]));
        assert_eq!((r.rows[0].value("mean"), r.rows[0].value("mode.count")), (Some(5376.0), Some(3.0)));
        assert_eq!((found.used, found.unknown), (words(SEEKS).len(), 0));
    }

    #[test]
    fn plugs_merges_and_activity() {
        let read = |text: &str| table(&words(text)).unwrap().reading.unwrap();
        let r = read(
            "DEV | # Plugs # Timer Us | % Time Q Plugged\n--- | --- --- | ---\n (254, 0) | 1( 6) | 99.5%\n",
        );
        assert_eq!((r.rows[0].value("plugs"), r.rows[0].value("timeouts")), (Some(1.0), Some(6.0)));
        assert_eq!(r.rows[0].value("plugged"), Some(0.995));
        let r = read("DEV | #Q #D Ratio | BLKmin BLKavg BLKmax Total\n--- | --\n (8, 0) | 20 10 2.0 | 1 63 2560 20480\n");
        assert_eq!(
            (r.rows[0].value("size.max"), r.rows[0].value("bytes")),
            (Some(1310720.0), Some(10485760.0))
        );
        let r =
            read("DEV | # Live Avg. Act Avg. !Act % Live\n--- | --\nTotal Sys | 253 0.5 0.000000001 99.73\n");
        assert_eq!((r.rows[0].of.as_str(), r.rows[0].value("active.mean")), ("Total Sys", Some(5e8)));
        assert!(table(&words("DEV | Avg Reqs @ Q\n---- | ----\n")).unwrap().reading.is_none());
    }

    #[test]
    fn lists_of_activity_are_added_up() {
        let text = "# Total System\n# Total System : q activity\n 0.000000000 0.0\n0.000000000 0.4\n1.500000000 0.4\n\
            1.500000000 0.0\n2.000000000 0.0\n2.000000000 0.4\n2.250000000 0.4\n2.250000000 0.0\n\n\
            # Web Content : c activity\n0.000000000 0.5\n0.000000000 0.9\n1.000000000 0.9\n";
        let found = activity(&words(text)).unwrap();
        let r = found.reading.unwrap();
        assert_eq!((r.rows[0].of.as_str(), r.rows[0].value("active")), ("Total System q", Some(1.75e9)));
        assert_eq!((r.rows[1].value("periods"), found.used), (Some(1.0), words(text).len()));
    }
}
