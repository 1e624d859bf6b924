//! Reads pgbench(1): transactions per second and their latency, all versions.
//!
//! ```text
//! number of transactions actually processed: 123456
//! latency average = 12.345 ms
//! latency stddev = 1.234 ms
//! initial connection time = 20.1 ms
//! tps = 810.123456 (without initial connection time)
//! progress: 5.0 s, 123.4 tps, lat 8.123 ms stddev 2.234, 0 failed              -P 5; `0 failed` from PostgreSQL 15 on
//! progress: 6.0 s, 99.0 tps, lat 1.2 ms stddev 0.3, lag 0.05 ms, 2 skipped     with --rate and --latency-limit
//! statement latencies in milliseconds and failures:                            -r; `and failures` from 15 on
//!          0.072           0 BEGIN;
//!         45.123           0 END;
//! ```
//!
//! Each progress line is a row with the numbers of its interval. Each statement is a row, too: END waits for the log.
//!
//! **Versions**: PostgreSQL 15 run, older forms by published texts.

use super::phrases::{self, Phrase};
use super::reader::{texts, Found, Tool};
use super::table;
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Pgbench;

const MS: f64 = 1e6;
const PHRASES: [Phrase; 8] = [
    (&["number", "of", "transactions", "actually", "processed:"], "count", 1.0, Unit::Count),
    (&["latency", "average", "="], "lat.mean", MS, Unit::Nanoseconds),
    (&["latency", "average:"], "lat.mean", MS, Unit::Nanoseconds),
    (&["latency", "stddev", "="], "lat.stdev", MS, Unit::Nanoseconds),
    (&["latency", "stddev:"], "lat.stdev", MS, Unit::Nanoseconds),
    (&["initial", "connection", "time", "="], "connecting", MS, Unit::Nanoseconds),
    (&["tps", "="], "tps", 1.0, Unit::PerSecond),
    (&["scaling", "factor:"], "scale", 1.0, Unit::Count),
];

impl Tool for Pgbench {
    fn read(&self, words: &[Word]) -> Option<Found> {
        match words.first()?.text {
            "progress:" => return lines("progress", words, 0, interval),
            "statement" => return statements(words),
            _ => {}
        }
        let (row, used, unknown) = phrases::row(words, &PHRASES, "transactions")?;
        let again = once_more(&words[used..]);
        // "latency average" alone may be prose.
        let said =
            words.get(used).is_some_and(|w| ["(including", "(excluding", "(without"].contains(&w.text));
        (row.get("tps").is_some() && (said || row.values.iter().count() > 1)).then_some(())?;
        let reading = Reading { tool: "pgbench", rows: vec![row], at: words[0].spot, ..Reading::default() };
        Some(Found { reading: Some(reading), used: used + again, unknown })
    }
}

/// Limit on words between two rates, including prefixes of lines.
const MOST_BETWEEN: usize = 16;

/// Number of words of a second rate, without connecting, which belongs to the same run.
fn once_more(words: &[Word]) -> usize {
    if words.first().is_none_or(|w| w.text != "(including") {
        return 0;
    }
    let second = |i: &usize| {
        words
            .get(*i..)
            .and_then(texts)
            .is_some_and(|next: [&str; 4]| [next[0], next[1], next[3]] == ["tps", "=", "(excluding"])
    };
    // "(excluding connections establishing)"
    (1..MOST_BETWEEN.min(words.len())).find(second).map_or(0, |at| (at + 6).min(words.len()))
}

/// Reads lines of one form.
fn lines(
    name: &str,
    words: &[Word],
    used: usize,
    read: impl Fn(&[Word]) -> Option<(Row, usize)>,
) -> Option<Found> {
    let reading = Reading { tool: "pgbench", name: name.into(), at: words[0].spot, ..Reading::default() };
    let ends = |w: &Word| PHRASES.iter().any(|(phrase, ..)| phrase[0] == w.text);
    table::gather(reading, words, used, table::MOST_ROWS, ends, read)
}

/// Parses `progress: 5.0 s, 123.4 tps, lat 8.123 ms stddev 2.234, lag 0.05 ms, 2 skipped, 0 failed`.
fn interval(words: &[Word]) -> Option<(Row, usize)> {
    let ["progress:", at, "s,", tps, "tps,", "lat", lat, "ms", "stddev", stdev] = texts(words)? else {
        return None;
    };
    let mut row = Row::of("transactions");
    decimal(at)?;
    row.values.put("tps", decimal(tps)?, Unit::PerSecond, words[3].spot);
    // Without transactions there is no mean: `-nan`, in some versions 0.
    let (stdev, mut more) = stdev.strip_suffix(',').map_or((stdev, false), |stdev| (stdev, true));
    for (name, text, at) in [("lat.mean", lat, 6), ("lat.stdev", stdev, 9)] {
        // These have three decimal places: a whole number is something else.
        (text.contains('.') || text.ends_with("nan") || text.ends_with("NaN")).then_some(())?;
        let ms = decimal(text).filter(|_| row.value("tps") != Some(0.0));
        ms.into_iter().for_each(|ms| row.values.put(name, ms * MS, Unit::Nanoseconds, words[at].spot));
    }
    let mut used = 10;
    while more {
        let rest = &words[used..];
        let Some([number, what]) = texts(rest) else { break };
        let (ended, said) = what.strip_suffix(',').map_or((true, what), |said| (false, said));
        match (number, said) {
            ("lag", lag) => {
                let unit = texts::<3>(rest)?[2];
                (unit.trim_end_matches(',') == "ms").then_some(())?;
                row.values.put("lag", decimal(lag)? * MS, Unit::Nanoseconds, rest[1].spot);
                (used, more) = (used + 3, unit.ends_with(','));
                continue;
            }
            (n, "skipped" | "failed" | "retried" | "retries") => {
                row.values.put(said, decimal(n)?, Unit::Count, rest[0].spot);
            }
            _ => break,
        }
        (used, more) = (used + 2, !ended);
    }
    Some((row, used))
}

/// Limit on words of a statement.
const MOST_OF_STATEMENT: usize = 64;

/// Reads `statement latencies in milliseconds:` and a line per statement: since 15 with failures, with retries enabled also with their number.
fn statements(words: &[Word]) -> Option<Found> {
    let ["statement", "latencies", "in", unit] = texts(words)? else { return None };
    unit.starts_with("milliseconds").then_some(())?;
    let end = words.iter().take(MOST_OF_TITLE).position(|w| w.text.ends_with(':'))?;
    let counts = words[3..=end].iter().filter(|w| w.text != "and").count() - 1;
    let statement = |words: &[Word]| {
        let (first, rest) = words.split_first().filter(|(first, _)| first.first)?;
        let ms = decimal(first.text).filter(|_| first.text.contains('.'))?;
        rest.get(..counts)?.iter().all(|w| w.text.parse::<u64>().is_ok()).then_some(())?;
        let said = rest[counts..].iter().take(MOST_OF_STATEMENT).take_while(|w| !w.first);
        let said: Vec<&str> = said.map(|w| w.text).collect();
        said.first()?.starts_with(|c: char| c.is_alphabetic() || c == '\\').then_some(())?;
        let mut row = Row::of(said.join(" "));
        row.values.put("lat.mean", ms * MS, Unit::Nanoseconds, first.spot);
        Some((row, 1 + counts + said.len()))
    };
    lines("statements", words, end + 1, statement)
}

/// Limit on words of `statement latencies in milliseconds, failures and retries:`.
const MOST_OF_TITLE: usize = 8;

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn lines_of_progress_are_intervals() {
        let text = "starting vacuum...end.\nprogress: 60.0 s, 502.6 tps, lat 15.875 ms stddev 11.5\nprogress: 120.0 s, 480.1 tps, lat 16.5 ms stddev 12.25, 3 failed\n\
            progress: 125.0 s, 0.0 tps, lat -nan ms stddev -nan\nprogress: 126.0 s, 99.0 tps, lat 1.5 ms stddev 0.25, lag 0.5 ms, 7 skipped, 0 failed, 4 retried, 5 retries\n";
        let reading = one(text, "pgbench");
        let values = |i: usize| ["tps", "lat.mean", "lat.stdev"].map(|name| reading.rows[i].value(name));
        assert_eq!(reading.rows.len(), 4);
        assert_eq!(values(0), [502.6, 15.875e6, 11.5e6].map(Some));
        assert_eq!((values(1)[2], reading.rows[1].value("failed")), (Some(12.25e6), Some(3.0)));
        assert_eq!(values(2), [Some(0.0), None, None]);
        let last = &reading.rows[3];
        let more = ["lag", "skipped", "failed", "retried", "retries"].map(|name| last.value(name));
        assert_eq!(more, [0.5e6, 7.0, 0.0, 4.0, 5.0].map(Some));
        assert!(all("progress: 5.0 s, 12 of 20 tps, lat unknown", "pgbench").is_empty());
    }

    /// Any prefix before each line.
    #[test]
    fn the_rate_without_connecting_is_no_other_run() {
        let text = "latency average = 3773.5 ms\ntps = 2.5 (including connections establishing)\ntps = 2.75 (excluding connections establishing)\n";
        for before in ["", "* ", "01:02:03 "] {
            let marked: String = text.lines().map(|line| format!("{before}{line}\n")).collect();
            let rates: Vec<_> = all(&marked, "pgbench").iter().map(|r| r.rows[0].value("tps")).collect();
            assert_eq!(rates, [Some(2.5)], "{before}");
        }
    }

    #[test]
    fn progress_and_the_sum_are_two() {
        let text = "progress: 60.0 s, 146.4 tps, lat 6.5 ms stddev 9.25, 0 failed\nprogress: 120.0 s, 166.3 tps, lat 6.0 ms stddev 7.5, 0 failed\n\
            transaction type: <builtin: TPC-B (sort of)>\nscaling factor: 1\nnumber of transactions actually processed: 18762\nlatency average = 6.25 ms\n\
            latency stddev = 8.5 ms\ntps = 156.25 (without initial connection time)\n";
        let readings = all(text, "pgbench");
        assert_eq!(readings.iter().map(|r| r.rows.len()).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(readings[1].rows[0].value("lat.mean"), Some(6.25e6));
    }

    #[test]
    fn statements_have_their_latency() {
        for (title, counts) in
            [("", ""), (" and failures", "           0"), (", failures and retries", "  0  12")]
        {
            let text = format!(
                "statement latencies in milliseconds{title}:\n         0.002{counts}  \\set aid random(1, 100000 * :scale)\n\
                 \x20        0.072{counts}  BEGIN;\n        45.5{counts}  END;\n\nThat is all.\n"
            );
            let reading = one(&text, "pgbench");
            let of: Vec<&str> = reading.rows.iter().map(|r| r.of.as_str()).collect();
            assert_eq!(of, ["\\set aid random(1, 100000 * :scale)", "BEGIN;", "END;"], "{title}");
            assert_eq!(reading.row("END;").unwrap().value("lat.mean"), Some(45.5e6));
        }
    }

    #[test]
    fn old_and_new_versions_say_the_same() {
        let new = "scaling factor: 100\nquery mode: simple\nnumber of clients: 8\nnumber of transactions actually processed: 123456\n\
            number of failed transactions: 0 (0.000%)\nlatency average = 12.345 ms\nlatency stddev = 1.5 ms\ntps = 810.5 (without initial connection time)\n";
        let old = "number of transactions actually processed: 123456\nlatency average: 12.345 ms\ntps = 810.5 (including connections establishing)\n\
            tps = 811.5 (excluding connections establishing)\n";
        for text in [new, old] {
            let row = &one(text, "pgbench").rows[0];
            assert_eq!(
                (row.value("lat.mean"), row.value("tps"), row.value("count")),
                (Some(12.345e6), Some(810.5), Some(123_456.0))
            );
        }
    }
}
