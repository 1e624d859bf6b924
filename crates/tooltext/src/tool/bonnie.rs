//! bonnie++ 1.03 to 2.00: rates of one file, and from 1.96 on the longest latency of each.
//!
//! ```text
//! Version  1.97       ------Sequential Output------ --Sequential Input- --Random-
//! Concurrency   1     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
//! Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
//! server          16G   525  99 152345  24 75123  15  1234  98 345678  30 512.3  18
//! Latency             15012us     812ms    1012ms    8123us     112ms     198ms
//! ```
//!
//! `K` is 1024. Plus signs stand for what was too quick to be measured. The table of files made and deleted is not read.

use super::{Found, Tool};
use crate::mail::number::{decimal, time_unit, with_suffix, Unit};
use crate::mail::reading::{Reading, Row};
use crate::mail::words::Word;

pub struct Bonnie;

const KIB: f64 = 1024.0;
/// What is measured, in the order of the columns.
const MEASURED: [&str; 6] = ["write by bytes", "write", "rewrite", "read by bytes", "read", "seeks"];
/// Name and size of the heading, then a rate and a share of each.
const HEADING: usize = 2 + 2 * MEASURED.len();

impl Tool for Bonnie {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if !["Machine", "Name:Size"].contains(&words.first()?.text) {
            return None;
        }
        let heading = words.get(..HEADING)?;
        let rates = heading.iter().filter(|w| w.text.ends_with("/sec")).count();
        (rates == MEASURED.len() && heading.iter().filter(|w| w.text == "%CP").count() == rates)
            .then_some(())?;
        // Without its unit, 2.00 prints bytes with a suffix: `152m`.
        let suffixed = heading[0].text == "Name:Size";
        let mut reading = Reading { tool: "bonnie++", at: words[0].spot, ..Reading::default() };
        let mut used = HEADING;
        // The size is missing where two lines are of one machine.
        let pairs =
            (1..=2).find_map(|from| pairs(words.get(used + from..)?, suffixed).map(|rows| (from, rows)));
        let (from, mut rows) = pairs?;
        used += from + 2 * MEASURED.len();
        if words.get(used).is_some_and(|w| w.text == "Latency") {
            let times = words.get(used + 1..=used + MEASURED.len())?;
            for (row, word) in rows.iter_mut().zip(times) {
                let time = with_suffix(word.text).and_then(|(value, unit)| Some(value * time_unit(unit)?));
                time.into_iter().for_each(|ns| row.values.put("lat.max", ns, Unit::Nanoseconds, word.spot));
            }
            used += 1 + MEASURED.len();
        }
        reading.rows = rows.into_iter().filter(|row| !row.values.is_empty()).collect();
        Found::all(reading, used)
    }
}

fn pairs(words: &[Word], suffixed: bool) -> Option<Vec<Row>> {
    let all = words.get(..2 * MEASURED.len())?;
    let mut rows = vec![];
    for (name, pair) in MEASURED.iter().zip(all.chunks(2)) {
        let mut row = Row::of(*name);
        let (rate, cpu) = (pair[0], pair[1]);
        let is_unknown = |w: &Word| w.text.bytes().all(|b| b == b'+');
        if !is_unknown(&rate) {
            let (value, factor) = match with_suffix(rate.text)? {
                (value, "k") => (value, KIB),
                (value, "m") => (value, KIB * KIB),
                (value, "g") => (value, KIB * KIB * KIB),
                (value, "") => (value, if suffixed { 1.0 } else { KIB }),
                _ => return None,
            };
            match *name {
                "seeks" => row.values.put("iops", value, Unit::PerSecond, rate.spot),
                _ => row.values.put("bw", value * factor, Unit::BytesPerSecond, rate.spot),
            }
        }
        if !is_unknown(&cpu) {
            row.values.put("cpu", decimal(cpu.text)? / 100.0, Unit::Share, cpu.spot);
        }
        rows.push(row);
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

    #[test]
    fn rates_have_their_latency() {
        let text = "Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP\n\
            server          16G   525  99 152345  24 75123  15 +++++ +++ 345678  30 512.3  18\n\
            Latency             15012us     812ms    1012ms    8123us     112ms     198ms\n";
        let reading = one(text, "bonnie++");
        let value = |of: &str, name: &str| reading.row(of).and_then(|r| r.value(name));
        assert_eq!(
            (value("write", "bw"), value("write", "lat.max")),
            (Some(152_345.0 * 1024.0), Some(812e6))
        );
        assert_eq!((value("seeks", "iops"), value("read by bytes", "bw")), (Some(512.3), None));
        assert_eq!(value("read", "cpu"), Some(0.3));
    }
}
