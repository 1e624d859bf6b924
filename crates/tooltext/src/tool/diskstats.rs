//! Reads `/proc/diskstats` (Documentation/admin-guide/iostats.rst): sums since boot.
//!
//! ```text
//!    8       0 sda 1287 5 79000 702 151907 147 1200000 147202 0 3000 147904 [4 discards] [2 flushes]
//! ```
//!
//! 11 numbers follow the name; 15 since Linux 4.18, 17 since 5.5. A sector is 512 bytes, times are in milliseconds.
//!
//! **Versions**: Linux 2.6.25, 4.18 and 5.5 each added numbers; 6.1 run.

use super::reader::{Found, Tool};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Diskstats;

/// Names, factors and units, in the order of the numbers.
pub(super) const COLUMNS: [(&str, f64, Unit); 17] = [
    ("read.ios", 1.0, Unit::Count),
    ("read.merges", 1.0, Unit::Count),
    ("read.bytes", 512.0, Unit::Bytes),
    ("read.time", 1e6, Unit::Nanoseconds),
    ("write.ios", 1.0, Unit::Count),
    ("write.merges", 1.0, Unit::Count),
    ("write.bytes", 512.0, Unit::Bytes),
    ("write.time", 1e6, Unit::Nanoseconds),
    ("in_flight", 1.0, Unit::Count),
    ("busy", 1e6, Unit::Nanoseconds),
    ("in_queue", 1e6, Unit::Nanoseconds),
    ("discard.ios", 1.0, Unit::Count),
    ("discard.merges", 1.0, Unit::Count),
    ("discard.bytes", 512.0, Unit::Bytes),
    ("discard.time", 1e6, Unit::Nanoseconds),
    ("flush.ios", 1.0, Unit::Count),
    ("flush.time", 1e6, Unit::Nanoseconds),
];
/// Possible numbers of values, depending on the kernel.
const LENGTHS: [usize; 3] = [11, 15, 17];
const MOST_ROWS: usize = 16_384;
/// Shortest names: `sda`, `md0`, `sr0`.
const SHORTEST_NAME: usize = 3;

impl Tool for Diskstats {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let mut reading = Reading { tool: "diskstats", at: words.first()?.spot, ..Reading::default() };
        // In flattened text a row may start anywhere. `48 89 e5 41 57` are bytes of code.
        (words[0].first || words[0].spot.column > 0).then_some(())?;
        let mut used = 0;
        while reading.rows.len() < MOST_ROWS {
            let Some((row, length)) = line(&words[used..]) else { break };
            reading.rows.push(row);
            used += length;
        }
        if used == 0 {
            return None;
        }
        Found::all(reading, used)
    }
}

fn line(words: &[Word]) -> Option<(Row, usize)> {
    let number = |i: usize| words.get(i).and_then(|w| w.text.parse::<u64>().ok());
    let name = words.get(2)?.text;
    let named = name.len() >= SHORTEST_NAME && name.starts_with(|c: char| c.is_ascii_alphabetic());
    if number(0)? > 0xfff || number(1)? > 0xf_ffff || !named {
        return None;
    }
    let mut many = (0..LENGTHS[2] + 3).take_while(|i| number(3 + i).is_some()).count();
    // The device number of the next line also consists of numbers.
    let next_is_name =
        |n: usize| words.get(3 + n).is_some_and(|w| w.text.starts_with(|c: char| c.is_ascii_alphabetic()));
    if !LENGTHS.contains(&many) && many >= 2 && next_is_name(many) {
        many -= 2;
    }
    if !LENGTHS.contains(&many) {
        return None;
    }
    let mut row = Row::of(name);
    for (i, (name, factor, unit)) in COLUMNS.iter().enumerate().take(many) {
        row.values.put(*name, number(3 + i)? as f64 * factor, *unit, words[3 + i].spot);
    }
    Some((row, 3 + many))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    /// The code bytes in an oops are numbers and letters, too, even in flattened text.
    #[test]
    fn bytes_of_code_are_no_disk() {
        let code = "Code: 02 4d 0a 66 90 90 90 48 89 e5 41 57 41 56 41 55 41 54 53 48 83 e4 e0 <48> 81 ec c0 02 00\n";
        assert!(all(code, "diskstats").is_empty());
        assert!(all(&code.replace('\n', " ").repeat(9), "diskstats").is_empty());
        let line = "   8       0 sda 1287 5 79000 702 151907 147 1200000 147202 0 3000 147904\n";
        assert_eq!(one(line, "diskstats").rows[0].value("read.ios"), Some(1287.0));
    }
}
