//! Reads vmstat -s and -D (procps): counters since boot, one per line.
//!
//! ```text
//!      16316412 K total memory
//!       7576260 K free swap
//!      51234567 pages paged in
//!        112345 pages swapped in
//! ```
//!
//! and of all disks together
//!
//! ```text
//!     123456 total reads
//!       1234 merged reads
//!    9876543 read sectors
//!      54321 milli reading
//!          0 inprogress IO
//! ```
//!
//! The words follow the numbers, so a line is identified by its end. `pages paged in` is in KiB despite its name (`pgpgin`,
//! mm/vmstat.c; procps 4.0 prints `K paged in`), `pages swapped in` in pages of the machine, a sector is 512 bytes; `milli spent IO` is
//! in seconds, as a comparison with `/proc/diskstats` shows (procps 4.0.2).
//!
//! **Versions**: procps 3.2 to 4.0; 4.0.2 run.

use super::reader::{Found, Tool};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct VmstatSums;

/// A counter: the words after its number, its name, the factor to its unit, its unit.
type Sum = (&'static [&'static str], &'static str, f64, Unit);

const MS: f64 = 1e6;
const KIB: f64 = 1024.0;
const SECTOR: f64 = 512.0;
/// Counters of the machine; the first element is the one printed first.
const MACHINE: [Sum; 17] = [
    (&["total", "memory"], "memory", 1.0, Unit::Bytes),
    (&["used", "memory"], "used", 1.0, Unit::Bytes),
    (&["free", "memory"], "free", 1.0, Unit::Bytes),
    (&["buffer", "memory"], "buffers", 1.0, Unit::Bytes),
    (&["swap", "cache"], "cached", 1.0, Unit::Bytes),
    (&["total", "swap"], "swap", 1.0, Unit::Bytes),
    (&["used", "swap"], "swap used", 1.0, Unit::Bytes),
    (&["non-nice", "user", "cpu", "ticks"], "user ticks", 1.0, Unit::Count),
    (&["system", "cpu", "ticks"], "system ticks", 1.0, Unit::Count),
    (&["idle", "cpu", "ticks"], "idle ticks", 1.0, Unit::Count),
    (&["IO-wait", "cpu", "ticks"], "iowait ticks", 1.0, Unit::Count),
    (&["pages", "paged", "in"], "read.bytes", KIB, Unit::Bytes),
    (&["pages", "paged", "out"], "write.bytes", KIB, Unit::Bytes),
    (&["pages", "swapped", "in"], "pages swapped in", 1.0, Unit::Count),
    (&["pages", "swapped", "out"], "pages swapped out", 1.0, Unit::Count),
    (&["K", "paged", "in"], "read.bytes", KIB, Unit::Bytes),
    (&["K", "paged", "out"], "write.bytes", KIB, Unit::Bytes),
];
/// Counters of all disks.
const DISKS: [Sum; 12] = [
    (&["disks"], "disks", 1.0, Unit::Count),
    (&["partitions"], "partitions", 1.0, Unit::Count),
    (&["total", "reads"], "read.ios", 1.0, Unit::Count),
    (&["merged", "reads"], "read.merges", 1.0, Unit::Count),
    (&["read", "sectors"], "read.bytes", SECTOR, Unit::Bytes),
    (&["milli", "reading"], "read.time", MS, Unit::Nanoseconds),
    (&["writes"], "write.ios", 1.0, Unit::Count),
    (&["merged", "writes"], "write.merges", 1.0, Unit::Count),
    (&["written", "sectors"], "write.bytes", SECTOR, Unit::Bytes),
    (&["milli", "writing"], "write.time", MS, Unit::Nanoseconds),
    // In thousands: 25 requests are 0 (procps 4.0.2 compared with `/proc/diskstats`). NaN is not kept.
    (&["inprogress", "IO"], "in_flight", f64::NAN, Unit::Count),
    (&["milli", "spent", "IO"], "busy", 1e9, Unit::Nanoseconds),
];
/// Units of memory, as `-S` accepts and prints them.
const UNITS: [(&str, f64); 4] = [("k", 1e3), ("K", KIB), ("m", 1e6), ("M", KIB * KIB)];
/// Minimum number of known lines.
const LEAST: usize = 4;
/// Limit on words of a line that is not kept: `1764030000 boot time`.
const LONGEST: usize = 6;
/// Limit on consecutive lines that are not kept.
const MOST_OTHERS: usize = 8;

impl Tool for VmstatSums {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let first = words.first()?;
        first.text.bytes().all(|b| b.is_ascii_digit()).then_some(())?;
        [(&MACHINE[..], "machine"), (&DISKS[..], "disks")].into_iter().find_map(|(sums, of)| {
            sum(words, sums).filter(|(found, ..)| std::ptr::eq(*found, &sums[0]))?;
            read(words, sums, of)
        })
    }
}

fn read(words: &[Word], sums: &'static [Sum], of: &str) -> Option<Found> {
    let mut row = Row::of(of);
    let (mut used, mut at, mut unknown, mut others) = (0, 0, 0, 0);
    while others <= MOST_OTHERS {
        let rest = &words[at..];
        if let Some((found, value, unit, length)) = sum(rest, sums) {
            // A repeated counter is from another call.
            if row.get(found.1).is_some() {
                break;
            }
            row.values.put(found.1, value, unit, rest[0].spot);
            unknown += at - used;
            at += length;
            (used, others) = (at, 0);
        } else {
            // Another line, for example of ticks.
            let line = 1 + rest.iter().skip(1).take(LONGEST).take_while(|w| !is_number(w)).count();
            let fits = rest.first().is_some_and(is_number) && (2..=LONGEST).contains(&line);
            if !fits {
                break;
            }
            at += line;
            others += 1;
        }
    }
    (row.values.iter().count() >= LEAST).then_some(())?;
    let reading = Reading { tool: "vmstat -s", rows: vec![row], at: words[0].spot, ..Reading::default() };
    Some(Found { reading: Some(reading), used, unknown })
}

fn is_number(word: &Word) -> bool {
    word.text.bytes().all(|b| b.is_ascii_digit())
}

/// Parses a line: counter, value, unit, number of words. For memory, the unit follows the number.
fn sum(words: &[Word], sums: &'static [Sum]) -> Option<(&'static Sum, f64, Unit, usize)> {
    let first = words.first().filter(|w| is_number(w))?;
    let value: u64 = first.text.parse().ok()?;
    let behind = |from: usize, texts: &[&str]| {
        texts.iter().enumerate().all(|(i, text)| words.get(from + i).is_some_and(|w| w.text == *text))
    };
    let line = |from: usize| sums.iter().find(|(texts, ..)| behind(from, texts));
    if let Some(found) = line(1) {
        let plain = found.3 != Unit::Bytes || found.2 != 1.0;
        return plain.then_some((found, value as f64 * found.2, found.3, 1 + found.0.len()));
    }
    let (_, scale) = UNITS.iter().find(|(unit, _)| words.get(1).is_some_and(|w| w.text == *unit))?;
    let found = line(2).filter(|found| found.3 == Unit::Bytes && found.2 == 1.0)?;
    Some((found, value as f64 * scale, found.3, 2 + found.0.len()))
}

#[cfg(test)]
mod tests {
    use crate::output::ToolOutput;
    use crate::tool::testing::one;

    const MACHINE: &str = "     16316412 K total memory\n     12030124 K used memory\n      8123456 K active memory\n\
        \x20      312344 K free memory\n      8388604 K total swap\n       812344 K used swap\n       912345 non-nice user cpu ticks\n\
        \x20        1234 nice user cpu ticks\n     51234567 pages paged in\n     81234567 pages paged out\n       112345 pages swapped in\n\
        \x20      212345 pages swapped out\n    312345678 interrupts\n   1764030000 boot time\n";
    const DISKS: &str = "           26 disks\n            2 partitions\n       123456 total reads\n         1234 merged reads\n\
        \x20     9876543 read sectors\n        54321 milli reading\n       223456 writes\n        22345 merged writes\n\
        \x20    19876543 written sectors\n       154321 milli writing\n            3 inprogress IO\n          123 milli spent IO\n";

    #[test]
    fn counters_of_the_machine_are_read() {
        let reading = one(MACHINE, "vmstat -s");
        let row = reading.row("machine").unwrap();
        let value = |name: &str| row.value(name);
        assert_eq!(
            (value("memory"), value("swap used")),
            (Some(16_316_412.0 * 1024.0), Some(812_344.0 * 1024.0))
        );
        assert_eq!(
            (value("read.bytes"), value("pages swapped out")),
            (Some(51_234_567.0 * 1024.0), Some(212_345.0))
        );
        assert_eq!(value("user ticks"), Some(912_345.0));
        // In another unit.
        let row = one(&MACHINE.replace(" K ", " M "), "vmstat -s").rows.remove(0);
        assert_eq!(row.value("memory"), Some(16_316_412.0 * 1024.0 * 1024.0));
    }

    #[test]
    fn counters_of_all_disks_are_read() {
        let reading = one(DISKS, "vmstat -s");
        let row = reading.row("disks").unwrap();
        let value = |name: &str| row.value(name);
        assert_eq!((value("read.ios"), value("read.time")), (Some(123_456.0), Some(54_321e6)));
        assert_eq!((value("write.bytes"), value("in_flight")), (Some(19_876_543.0 * 512.0), None));
        assert_eq!(value("busy"), Some(123e9));
    }

    #[test]
    fn two_calls_are_two_readings_and_words_are_none() {
        let twice = format!("{MACHINE}\n{}", MACHINE.replace("112345 pages", "112346 pages"));
        assert_eq!(crate::tool::testing::all(&twice, "vmstat -s").len(), 2);
        for text in ["I have 26 disks and 2 partitions of 123456 total reads.", "16316412 K total memory\n"] {
            assert!(!ToolOutput::read("text", text.as_bytes()).has_readings(), "{text}");
        }
    }
}
