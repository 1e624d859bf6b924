//! Reads ioztat, which reports for each data set of OpenZFS what `zpool iostat` reports for pools; the first table covers the time since boot,
//! unless it was omitted (`-y`).
//!
//! ```text
//!                    operations    throughput      opsize           `-x`; with `-xx` also: unlinks
//! dataset            read  write   read  write   read  write                             queue   done
//! ----------------  -----  -----  -----  -----  -----  -----
//! ssd                   0      0      0      0      0      0
//!   images/DC1          4     18  49.0K  98.0K  12.5K  5.56K
//! dataset                        w/s      wMB/s        r/s      rMB/s   wareq-sz   rareq-sz      before version 2
//! ssd                          17.96       0.10       3.99       0.05       5.66      12.29
//! ```
//!
//! Operations use powers of 1000, bytes powers of 1024 (not with `-D`, which the table does not show); before version 2 all use 1000.
//! Parent data sets without numbers are on lines of their own.
//!
//! **Versions**: ioztat 1.0 to 2.0.2 and those before, by its source.

use super::reader::{texts, Found, Tool};
use super::table;
use crate::output::number::{with_suffix, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Ioztat;

/// A column: name, factor, step of a suffix, unit.
type Column = (&'static str, f64, f64, Unit);
const GROUPS: [(&str, [&str; 2], [Column; 2]); 4] = [
    (
        "operations",
        ["read", "write"],
        [("r/s", 1.0, 1e3, Unit::PerSecond), ("w/s", 1.0, 1e3, Unit::PerSecond)],
    ),
    (
        "throughput",
        ["read", "write"],
        [("rbytes/s", 1.0, 1024.0, Unit::BytesPerSecond), ("wbytes/s", 1.0, 1024.0, Unit::BytesPerSecond)],
    ),
    ("opsize", ["read", "write"], [("rsize", 1.0, 1024.0, Unit::Bytes), ("wsize", 1.0, 1024.0, Unit::Bytes)]),
    (
        "unlinks",
        ["queue", "done"],
        [("unlinks queued", 1.0, 1e3, Unit::Count), ("unlinks", 1.0, 1e3, Unit::Count)],
    ),
];
const BEFORE_2: [(&str, Column); 6] = [
    ("w/s", ("w/s", 1.0, 1.0, Unit::PerSecond)),
    ("wMB/s", ("wbytes/s", 1e6, 1.0, Unit::BytesPerSecond)),
    ("r/s", ("r/s", 1.0, 1.0, Unit::PerSecond)),
    ("rMB/s", ("rbytes/s", 1e6, 1.0, Unit::BytesPerSecond)),
    ("wareq-sz", ("wsize", 1e3, 1.0, Unit::Bytes)),
    ("rareq-sz", ("rsize", 1e3, 1.0, Unit::Bytes)),
];

impl Tool for Ioztat {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let (columns, used) = match words.first()?.text {
            "operations" => grouped(words)?,
            "dataset" => before_2(words)?,
            _ => return None,
        };
        let reading = Reading { tool: "ioztat", at: words[0].spot, ..Reading::default() };
        let ends = |w: &Word| ["operations", "dataset"].contains(&w.text);
        table::gather(reading, words, used, table::MOST_ROWS, ends, |rest| row(rest, &columns))
    }
}

/// The columns below `operations    throughput      opsize`, and the number of words in both lines.
fn grouped(words: &[Word]) -> Option<(Vec<Column>, usize)> {
    let many = words.iter().take(GROUPS.len() + 1).position(|w| w.text == "dataset")?;
    let groups = GROUPS.get(..many).filter(|_| many > 1)?;
    groups.iter().zip(words).all(|((name, ..), w)| *name == w.text).then_some(())?;
    let used = 1 + many + 2 * many;
    let below = words.get(many + 1..used)?;
    let names = groups.iter().flat_map(|(_, below, _)| below);
    names.zip(below).all(|(name, w)| *name == w.text).then_some(())?;
    Some((groups.iter().flat_map(|(_, _, columns)| *columns).collect(), used))
}

fn before_2(words: &[Word]) -> Option<(Vec<Column>, usize)> {
    let heading: [&str; 7] = texts(words)?;
    let same = BEFORE_2.iter().zip(&heading[1..]).all(|((name, _), text)| name == text);
    same.then(|| (BEFORE_2.iter().map(|(_, column)| *column).collect(), heading.len()))
}

/// Parses `images/DC1 4 18 49.0K 98.0K 12.5K 5.56K`.
fn row(words: &[Word], columns: &[Column]) -> Option<(Row, usize)> {
    let line = words.get(..=columns.len())?;
    let name = line[0].text;
    // A broken line ends where the row does.
    let ends = words.get(columns.len() + 1).is_none_or(|w| w.first);
    (!name.ends_with("--") && (ends || line[1..].iter().all(|w| !w.first))).then_some(())?;
    let mut row = Row::of(name);
    for ((name, factor, step, unit), word) in columns.iter().zip(&line[1..]) {
        let (value, suffix) = with_suffix(word.text)?;
        let power = match suffix {
            "" => 0,
            suffix => 1 + "KMGTPE".find(suffix).filter(|_| suffix.len() == 1)? as i32,
        };
        row.values.put(*name, value * step.powi(power) * factor, *unit, word.spot);
    }
    Some((row, line.len()))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    const TABLE: &str = "                   operations    throughput      opsize\n\
        dataset            read  write   read  write   read  write\n\
        ----------------  -----  -----  -----  -----  -----  -----\n\
        ssd                   0      0      0      0      0      0\n\
        \x20   DC1               4   1.5K  49.0K  1.50M  12.5K  5.56K\n\
        \x20   qemu\n\
        \x20     autostart       1      2    512      0    512      0\n\
        \x20   QB                0      2      0  9.75K      0  5.00K\n\
        ----------------  -----  -----  -----  -----  -----  -----\n\
        ssd                   7      8     1K     2K    100    200\n";

    #[test]
    fn data_sets_have_operations_of_1000s_and_bytes_of_1024s() {
        let reading = one(TABLE, "ioztat");
        let names: Vec<&str> = reading.rows.iter().map(|r| r.of.as_str()).collect();
        assert_eq!(names, ["ssd", "DC1", "autostart", "QB", "ssd"]);
        let row = &reading.rows[1];
        assert_eq!(
            (row.value("w/s"), row.value("rbytes/s"), row.value("wbytes/s"), row.value("rsize")),
            (Some(1500.0), Some(49.0 * 1024.0), Some(1.5 * 1048576.0), Some(12.5 * 1024.0))
        );
        assert_eq!(reading.rows[4].value("wsize"), Some(200.0));
    }

    #[test]
    fn old_versions_have_their_own_order_and_new_ones_further_columns() {
        let text = "dataset                     w/s      wMB/s        r/s      rMB/s   wareq-sz   rareq-sz\n\
            ssd                        0.00       0.00       0.00       0.00       0.00       0.00\n\
            \x20  DC1                  17.96       0.10       3.99       0.05       5.66      12.29\n";
        let row = &one(text, "ioztat").rows[1];
        assert_eq!(
            (row.value("w/s"), row.value("r/s"), row.value("wbytes/s"), row.value("rsize")),
            (Some(17.96), Some(3.99), Some(1e5), Some(12_290.0))
        );
        let text = "operations throughput opsize unlinks\ndataset read write read write read write queue done\nssd 1 2 3 4 5 6 7 8\n";
        let row = &one(text, "ioztat").rows[0];
        assert_eq!((row.value("unlinks queued"), row.value("unlinks")), (Some(7.0), Some(8.0)));
        let cut = "operations throughput\ndataset read write read\nssd 1 2 3\n";
        assert!(
            all(cut, "ioztat").is_empty() && all("operations throughput of a dataset\n", "ioztat").is_empty()
        );
    }
}
