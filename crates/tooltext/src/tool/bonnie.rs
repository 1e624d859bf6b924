//! Reads bonnie++ 1.03 to 2.00: rates of one file and of many small ones, and since 1.96 the longest latency of each.
//!
//! ```text
//! Version  1.97       ------Sequential Output------ --Sequential Input- --Random-
//! Concurrency   1     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
//! Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
//! server          16G   525  99 152345  24 75123  15  1234  98 345678  30 512.3  18
//! Latency             15012us     812ms    1012ms    8123us     112ms     198ms
//! Version  1.97       ------Sequential Create------ --------Random Create--------
//! server              -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
//!               files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
//!                  16 21500  28 +++++ +++ 15120  31 31500  69 +++++ +++ 16231  40
//! Latency               640us     410us     425us     118us      35us      72us
//! ```
//!
//! Six columns have the same heading, so that only their order identifies them, and a line of latencies has half as many words:
//! `table.rs` cannot read these. `K` is 1024. Plus signs mean that a test was too fast to be measured. The comma-separated line after
//! the tables repeats them, and is read if they are missing (`bonnie_csv.rs`).
//!
//! **Versions**: bonnie++ 1.03 to 1.98 by published texts, 2.00a run.

use super::bonnie_csv;
use super::bonnie_rates::{put_latency, rates, FILES, MEASURED};
use super::reader::{Found, Tool};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Bonnie;

/// Words of the heading: name and size, then a rate and a share per test.
const HEADING: usize = 2 + 2 * MEASURED.len();
/// Limit on words between a table and its continuation.
const MOST_BETWEEN: usize = 24;

impl Tool for Bonnie {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let first = words.first()?.text;
        if let Some((rows, used)) = bonnie_csv::line(words) {
            return found(rows, words, used);
        }
        let (mut rows, mut used) = match first {
            "Machine" | "Name:Size" => of_one_file(words)?,
            "files" => of_many(words)?,
            _ => return None,
        };
        if first != "files" {
            let behind = |i: usize| Some((i, of_many(&words[used + i..])?));
            if let Some((skip, (more, length))) = (0..MOST_BETWEEN.min(words.len() - used)).find_map(behind) {
                rows.extend(more);
                used += skip + length;
            }
        }
        if let Some((_, length)) = bonnie_csv::line(&words[used..]).filter(|(again, _)| agree(&rows, again)) {
            used += length;
        }
        found(rows, words, used)
    }
}

fn found(mut rows: Vec<Row>, words: &[Word], used: usize) -> Option<Found> {
    rows.retain(|row| !row.values.is_empty());
    Found::all(Reading { tool: "bonnie++", rows, at: words[0].spot, ..Reading::default() }, used)
}

/// Whether a comma-separated line repeats the rows before it: 2.00 prints three digits in its tables.
fn agree(rows: &[Row], csv: &[Row]) -> bool {
    let same = |a: f64, b: f64| (a - b).abs() <= 0.01 * a.abs().max(b.abs());
    rows.iter().all(|row| {
        let again = csv.iter().find(|other| other.of == row.of);
        again.is_some_and(|again| {
            row.values.iter().all(|(name, n)| again.value(name).is_some_and(|v| same(v, n.value)))
        })
    })
}

fn of_one_file(words: &[Word]) -> Option<(Vec<Row>, usize)> {
    let heading = words.get(..HEADING)?;
    let rates = heading.iter().filter(|w| w.text.ends_with("/sec")).count();
    (rates == MEASURED.len() && heading.iter().filter(|w| w.text == "%CP").count() == rates).then_some(())?;
    // If the heading has no unit, 2.00 prints bytes with a suffix: `152m`.
    let suffixed = heading[0].text == "Name:Size";
    // The size is missing if two lines are from one machine.
    let rows = |from: usize| Some((from, pairs(words.get(HEADING + from..)?, &MEASURED, suffixed)?));
    let (from, mut rows) = [2, 1].into_iter().find_map(rows)?;
    let used = HEADING + from + 2 * MEASURED.len();
    let more = latencies(&words[used..], &mut rows)?;
    Some((rows, used + more))
}

/// Parses the table of many files: `files  /sec %CP  /sec %CP ...`.
fn of_many(words: &[Word]) -> Option<(Vec<Row>, usize)> {
    const HEADING: usize = 1 + 2 * FILES.len();
    let heading = words.get(..HEADING)?;
    let parts = heading[1..].chunks(2).all(|pair| pair[0].text == "/sec" && pair[1].text == "%CP");
    (heading[0].text == "files" && parts).then_some(())?;
    // The number of files, in units of 1024: `16`, `16:100000:16/64`.
    words.get(HEADING)?.text.starts_with(|c: char| c.is_ascii_digit()).then_some(())?;
    let mut rows = pairs(words.get(HEADING + 1..)?, &FILES, false)?;
    let used = HEADING + 1 + 2 * FILES.len();
    let more = latencies(&words[used..], &mut rows)?;
    Some((rows, used + more))
}

/// Parses the line of latencies after rates; returns its number of words. `None` if it is truncated.
fn latencies(words: &[Word], rows: &mut [Row]) -> Option<usize> {
    if words.first().is_none_or(|w| w.text != "Latency") {
        return Some(0);
    }
    let times = words.get(1..=rows.len())?;
    for (row, word) in rows.iter_mut().zip(times) {
        put_latency(row, word.text, word);
    }
    Some(1 + rows.len())
}

fn pairs(words: &[Word], names: &[&str], suffixed: bool) -> Option<Vec<Row>> {
    let all = words.get(..2 * names.len())?;
    let row = |(name, pair): (&&str, &[Word])| {
        rates(name, pair[0].text, pair[1].text, suffixed, [&pair[0], &pair[1]])
    };
    names.iter().zip(all.chunks(2)).map(row).collect()
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

    const FIRST: &str = "Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP\n\
        server          16G   525  99 152345  24 75123  15 +++++ +++ 345678  30 512.3  18\n\
        Latency             15012us     812ms    1012ms    8123us     112ms     198ms\n";
    const SECOND: &str = "Version  1.97       ------Sequential Create------ --------Random Create--------\n\
        server              -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n\
        \x20             files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n\
        \x20                16 21500  28 +++++ +++ +++++ +++ 31500  69 +++++ +++ 16231  40\n\
        Latency               640us     410us     425us     118us      35us      72us\n";
    const CSV: &str = "1.97,1.97,server,1,1764030000,16G,,525,99,152345,24,75123,15,+++++,+++,345678,30,512.3,18,16,,,,,21500,28,+++++,+++,+++++,+++,31500,69,+++++,+++,16231,40,15012us,812ms,1012ms,8123us,112ms,198ms,640us,410us,425us,118us,35us,72us\n";

    #[test]
    fn rates_have_their_latency() {
        let reading = one(FIRST, "bonnie++");
        let value = |of: &str, name: &str| reading.row(of).and_then(|r| r.value(name));
        assert_eq!(
            (value("write", "bw"), value("write", "lat.max")),
            (Some(152_345.0 * 1024.0), Some(812e6))
        );
        assert_eq!((value("seeks", "iops"), value("read by bytes", "bw")), (Some(512.3), None));
        assert_eq!(value("read", "cpu"), Some(0.3));
    }

    /// Its tables and its comma-separated line are one reading; for files that were too fast, only the latency is known.
    #[test]
    fn both_tables_and_the_line_behind_them_are_one() {
        let reading = one(&format!("{FIRST}{SECOND}{CSV}"), "bonnie++");
        assert_eq!(reading.rows.len(), 12);
        let value = |of: &str, name: &str| reading.row(of).and_then(|r| r.value(name));
        assert_eq!((value("create", "files/s"), value("create", "lat.max")), (Some(21_500.0), Some(640e3)));
        assert_eq!((value("stat", "files/s"), value("stat", "lat.max")), (None, Some(410e3)));
        assert_eq!(
            (value("delete at random", "cpu"), value("rewrite", "lat.max")),
            (Some(0.4), Some(1012e6))
        );
        // The line of another run.
        let two = crate::tool::testing::all(
            &format!("{FIRST}{SECOND}{}", CSV.replace("152345", "99999")),
            "bonnie++",
        );
        assert_eq!(two.len(), 2);
        assert_eq!(one(SECOND, "bonnie++").rows.len(), 6);
    }

    #[test]
    fn version_2_has_units() {
        let text = "Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n\
            host              48G  512k  98  700m  97  900m  90 2100k  97  1.1g  57 +++++ +++\n";
        let reading = one(text, "bonnie++");
        let bw = |of: &str| reading.row(of).and_then(|r| r.value("bw"));
        let mib = 1048576.0;
        assert_eq!((bw("write by bytes"), bw("write")), (Some(512.0 * 1024.0), Some(700.0 * mib)));
        assert_eq!(
            (bw("read"), bw("seeks")),
            (Some(1.1 * 1024.0 * mib).map(|v: f64| (v * 10.0).round() / 10.0), None)
        );
    }
}
