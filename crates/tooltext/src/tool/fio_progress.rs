//! Reads fio's progress line if there are no results: the current rates. If results follow, the line adds no
//! information.
//!
//! ```text
//! Jobs: 4 (f=4): [r(4)][50.0%][r=1171MiB/s,w=0KiB/s][r=300k,w=0 IOPS][eta 00m:30s]              fio 3
//! Jobs: 1 (f=1): [m(1)] [3.8% done] [312.1MB/15680KB/0KB /s] [80.2K/980/0 iops] [eta 28m:52s]  fio 2: read, written, trimmed
//! ```
//!
//! fio 2 prints `KB` for 1024 bytes.
//!
//! **Versions**: fio 2.1 to 3.42.

use super::fio_units::{fio_size, suffixed, thousands};
use super::reader::Found;
use super::table;
use crate::output::number::{size_unit, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

/// Limit on words of a line.
const LONGEST: usize = 40;
/// Words after the last line in which results may start: warnings, signals.
const MOST_BEFORE_RESULTS: usize = 40;
const OPERATIONS: [(&str, &str); 3] = [("r", "read"), ("w", "write"), ("t", "trim")];

/// Reads the lines at the start of `words`; without a reading if results follow or there are no rates.
pub(super) fn read(words: &[Word]) -> Option<Found> {
    line(words)?;
    let (mut used, mut unknown) = (0, 0);
    let mut reading =
        Reading { tool: "fio", name: "progress".into(), at: words[0].spot, ..Reading::default() };
    let ends = |w: &Word| w.text.starts_with("(groupid=");
    while let Some((skip, rows, length)) = table::next(&words[used..], ends, line) {
        used += skip + length;
        unknown += skip;
        reading.rows.extend(rows);
    }
    let results = words[used..].iter().take(MOST_BEFORE_RESULTS).any(|w| w.text.starts_with("(groupid="));
    let reading = (!results && !reading.rows.is_empty()).then_some(reading);
    (used > 0).then_some(Found { reading, used, unknown })
}

/// The rows of one line, and its number of words.
fn line(words: &[Word]) -> Option<(Vec<Row>, usize)> {
    ["bs:", "^Cbs:", "Jobs:", "^CJobs:"].contains(&words.first()?.text).then_some(())?;
    words.get(1)?.text.parse::<u32>().ok()?;
    let eta = words.iter().take(LONGEST).position(|w| w.text.ends_with("[eta"))?;
    let used = (eta + 2).min(words.len());
    let text = words[..used].iter().map(|w| w.text).collect::<Vec<_>>().join(" ");
    // Without the letters for the activity of each job, which may include `=`.
    let parts: Vec<&str> =
        text.split('[').skip(1).map(|part| part.trim_end().trim_end_matches(']')).collect();
    let mut rows: Vec<Row> = OPERATIONS.iter().map(|(_, of)| Row::of(*of)).collect();
    let at = words[eta].spot;
    for part in parts {
        let rates = named(part).or_else(|| in_order(part)).unwrap_or_default();
        for (row, (name, value, unit)) in
            rows.iter_mut().zip(rates).filter_map(|(row, rate)| Some((row, rate?)))
        {
            row.values.put(name, value, unit, at);
        }
    }
    rows.retain(|row| row.values.iter().any(|(_, n)| n.value > 0.0));
    Some((rows, used))
}

type Rate = Option<(&'static str, f64, Unit)>;

/// Parses `r=1171MiB/s,w=0KiB/s`, `r=300k,w=0 IOPS`.
fn named(part: &str) -> Option<[Rate; 3]> {
    let (rates, iops) = part.strip_suffix(" IOPS").map_or((part, false), |rates| (rates, true));
    let mut all = [None; 3];
    for rate in rates.split(',') {
        let (of, value) = rate.split_once('=')?;
        let at = OPERATIONS.iter().position(|(letter, _)| *letter == of)?;
        all[at] = Some(match iops {
            true => ("iops", suffixed(value, thousands)?, Unit::PerSecond),
            false => ("bw", suffixed(value.strip_suffix("/s")?, size_unit)?, Unit::BytesPerSecond),
        });
    }
    Some(all)
}

/// Parses `312.1MB/15680KB/0KB /s`, `80.2K/980/0 iops`.
fn in_order(part: &str) -> Option<[Rate; 3]> {
    let (values, unit) = part.rsplit_once(' ')?;
    let mut all = [None; 3];
    for (i, value) in values.split('/').enumerate() {
        *all.get_mut(i)? = Some(match unit {
            "iops" => ("iops", suffixed(value, thousands)?, Unit::PerSecond),
            "/s" => ("bw", suffixed(value, fio_size)?, Unit::BytesPerSecond),
            _ => return None,
        });
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn both_versions_have_the_rates_of_each_operation() {
        let mib = 1048576.0;
        for text in [
            "Jobs: 4 (f=4): [m(4)][50.0%][r=1171MiB/s,w=15.5MiB/s][r=300k,w=980 IOPS][eta 00m:30s]\n",
            "Jobs: 4 (f=4): [m(4)] [50.0% done] [1171MB/15.5MB/0KB /s] [300K/980/0 iops] [eta 00m:30s]\n",
        ] {
            let reading = one(text, "fio");
            let value = |of: &str, name: &str| reading.row(of).and_then(|r| r.value(name));
            assert_eq!(
                (value("read", "bw"), value("read", "iops")),
                (Some(1171.0 * mib), Some(300e3)),
                "{text}"
            );
            assert_eq!(
                (value("write", "bw"), value("write", "iops")),
                (Some(15.5 * mib), Some(980.0)),
                "{text}"
            );
            assert!(reading.row("trim").is_none());
        }
        let lines = "Jobs: 1 (f=1): [R(1)][20.0%][r=191MiB/s][r=191 IOPS][eta 00m:32s]\nJobs: 1 (f=1): [R(1)][35.9%][r=82.0MiB/s][r=82 IOPS][eta 00m:25s]\n";
        let iops: Vec<_> = one(lines, "fio").rows.iter().map(|r| r.value("iops")).collect();
        assert_eq!(iops, [Some(191.0), Some(82.0)]);
        for text in ["Jobs: 4 in Berlin [eta", "Jobs: 40 (f=40): [RRRR] [38.9% done] [eta 00m:22s]\n"] {
            assert!(all(text, "fio").is_empty(), "{text}");
        }
    }

    #[test]
    fn above_results_it_says_nothing_more() {
        let text = "Jobs: 1 (f=1): [R(1)][100.0%][r=191MiB/s][r=191 IOPS][eta 00m:00s]\n\
            rd: (groupid=0, jobs=1): err= 0: pid=57: Tue Dec 11 14:41:27 2012\n  read: IOPS=190, BW=190MiB/s (199MB/s)(1900MiB/10001msec)\n";
        let reading = one(text, "fio");
        assert_eq!((reading.name.as_str(), reading.rows[0].value("iops")), ("rd", Some(190.0)));
    }
}
