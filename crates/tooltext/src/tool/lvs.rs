//! Reads lvs(8) of LVM2 for thin pools: how full their data and their metadata are, and what the kernel thinks of them.
//!
//! ```text
//!   LV               VG     Attr       LSize  Pool Origin Data%  Meta%  Move Log Cpy%Sync Convert
//!   root             vg0    -wi-ao---- 10.00g
//!   thinpool         vg0    twi-aot-D- 80.00g             100.00 0.12
//!   data             vg0    Vwi-aotz-- 90.00g thinpool    88.80
//! ```
//!
//! Empty columns leave no mark, so that only lines of pools are certain (attributes begin with `t`): no pool and no origin, then the two shares.
//! The ninth attribute is its health: `D` has no space for data, `M` accepts no changes of its metadata, `F` failed (lvs(8), NOTES).
//!
//! **Versions**: LVM2 2.02 by published output, 2.03 by its manual.

use super::reader::{texts, Found, Tool};
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row, Setting};
use crate::output::words::Word;

pub struct Lvs;

/// Words of the heading without which the columns are others.
const HEADING: [&str; 4] = ["LV", "VG", "Attr", "LSize"];
/// Columns that may follow (lib/report/columns.h).
const COLUMNS: [&str; 10] =
    ["Pool", "Origin", "Data%", "Meta%", "Snap%", "Copy%", "Move", "Log", "Cpy%Sync", "Convert"];
/// Limits on words of the heading, and on volumes.
const MOST_OF_HEADING: usize = 24;
const MOST: usize = 1000;
/// Characters of the attributes, and the index of the health.
const ATTRIBUTES: usize = 10;
const HEALTH: usize = 8;
/// What the health means.
const HEALTHS: [(char, &str); 4] =
    [('D', "out of data space"), ('M', "metadata read-only"), ('F', "failed"), ('X', "unknown")];

impl Tool for Lvs {
    fn read(&self, words: &[Word]) -> Option<Found> {
        (texts(words)? == HEADING).then_some(())?;
        // A mailer may have wrapped it.
        let heading = HEADING.len();
        let more = |w: &&Word| !w.first || COLUMNS.contains(&w.text);
        let heading = heading + words[heading..].iter().take(MOST_OF_HEADING).take_while(more).count();
        words[..heading].iter().any(|w| w.text == "Data%").then_some(())?;
        let mut reading = Reading { tool: "lvs", at: words[0].spot, ..Reading::default() };
        let mut used = heading;
        for _ in 0..MOST {
            let rest = &words[used..];
            let Some(end) = volume(rest) else { break };
            if let Some((row, health)) = pool(&rest[..end]) {
                let setting = |value: &str| Setting {
                    name: format!("health {}", row.of),
                    value: value.to_owned(),
                    at: rest[0].spot,
                };
                reading.settings.extend(health.map(setting));
                reading.rows.push(row);
            }
            used += end;
        }
        let reading = (!reading.rows.is_empty()).then_some(reading);
        (used > heading).then_some(Found { reading, used, unknown: 0 })
    }
}

/// The number of words of a volume's line.
fn volume(words: &[Word]) -> Option<usize> {
    let attributes = words.get(2)?.text;
    (words[0].first && attributes.len() == ATTRIBUTES && attributes.is_ascii()).then_some(())?;
    Some(1 + words.iter().skip(1).take(MOST_OF_HEADING).take_while(|w| !w.first).count())
}

/// A thin pool, and its health unless it is good.
fn pool(line: &[Word]) -> Option<(Row, Option<&'static str>)> {
    let [name, group, attributes, size, data, metadata] = texts(line)?;
    let is_size = size.starts_with(|c: char| c.is_ascii_digit() || c == '<')
        && size.ends_with(|c: char| c.is_ascii_alphabetic());
    (attributes.starts_with('t') && is_size).then_some(())?;
    // Somebody may have marked the number.
    let share =
        |text: &str| decimal(text.trim_matches('*')).filter(|n| (0.0..=100.0).contains(n)).map(|n| n / 100.0);
    let mut row = Row::of(format!("{group}/{}", name.trim_matches(['[', ']'])));
    row.values.put("data used", share(data)?, Unit::Share, line[4].spot);
    row.values.put("metadata used", share(metadata)?, Unit::Share, line[5].spot);
    let health = attributes.chars().nth(HEALTH)?;
    Some((row, HEALTHS.iter().find(|(c, _)| *c == health).map(|(_, said)| *said)))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn thin_pools_have_their_shares_and_their_health() {
        let text = "  LV               VG     Attr       LSize  Pool Origin Data%  Meta%  Move Log Cpy%Sync Convert\n\
            \x20 root             vg0    -wi-ao---- 10.00g\n  thinpool         vg0    twi-aot-D- 80.00g             **100.00** 0.12\n\
            \x20 other            vg0    twi-aotz-- 80.00g             12.50  99.00\n  data             vg0    Vwi-aotz-- 90.00g thinpool    88.80\n";
        let reading = one(text, "lvs");
        let rows: Vec<_> = reading
            .rows
            .iter()
            .map(|r| (r.of.as_str(), r.value("data used"), r.value("metadata used")))
            .collect();
        assert_eq!(rows, [("vg0/thinpool", Some(1.0), Some(0.0012)), ("vg0/other", Some(0.125), Some(0.99))]);
        let healths: Vec<_> = reading.settings.iter().map(|s| (s.name.as_str(), s.value.as_str())).collect();
        assert_eq!(healths, [("health vg0/thinpool", "out of data space")]);
    }

    #[test]
    fn listings_without_a_pool_and_other_tables_are_no_pools() {
        for text in [
            "  LV   VG     Attr       LSize  Pool Origin Data%  Meta%  Move Log Cpy%Sync Convert\n  root vg0    -wi-ao---- 10.00g\n",
            "  LV   VG     Attr       LSize\n  pool vg0    twi-aot-D- 80.00g 100.00 0.12\n",
            "  LV VG Attr LSize Data%\n  pool is a thinpool of 100.00 0.12\n",
        ] {
            assert!(all(text, "lvs").is_empty(), "{text}");
        }
    }
}
