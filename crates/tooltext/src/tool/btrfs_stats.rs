//! Reads the errors that btrfs counted for each device of a file system: `btrfs device stats`, and what the kernel tells of them when it
//! mounts the file system.
//!
//! ```text
//! [/dev/sda].write_io_errs    0
//! [/dev/sda].read_io_errs     12
//! [/dev/sda].flush_io_errs    0
//! [/dev/sda].corruption_errs  2
//! [/dev/sda].generation_errs  0
//! BTRFS info (device sdt): bdev /dev/sde errs: wr 0, rd 0, flush 0, corrupt 2035, gen 0
//! btrfs: bdev /dev/sde errs: wr 0, rd 0, flush 0, corrupt 2035, gen 0                        before Linux 3.14
//! ```
//!
//! The counts are of the file system's whole life, or since they were set to 0 (`btrfs device stats -z`). The kernel prints the same line
//! as an error when one has just grown; `kernel_errors` reads that. In Linux 3 both look alike.
//!
//! **Versions**: Linux 3.5 to 6.14 (`fs/btrfs/volumes.c`, `btrfs_dev_stat_print_on_load`), btrfs-progs 3 to 6 by published output.

use super::reader::{texts, Found, Tool};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct BtrfsStats;

/// Counters: the name of btrfs-progs, that of the kernel, and that of ours.
const COUNTERS: [(&str, &str, &str); 5] = [
    ("write_io_errs", "wr", "write errors"),
    ("read_io_errs", "rd", "read errors"),
    ("flush_io_errs", "flush", "flush errors"),
    ("corruption_errs", "corrupt", "corruption errors"),
    ("generation_errs", "gen", "generation errors"),
];
/// A device that is not there has no name, in several ways.
const MISSING: &str = "a missing device";
const NAMELESS: [&str; 3] = ["(efault)", "(null)", "<missing"];
/// Limit on words between two lines of the kernel's log: date, host, program.
const MOST_BETWEEN: usize = 8;
/// Words of a line before its device: `BTRFS info (device sda1 state C): bdev`.
const MOST_BEFORE: usize = 7;
/// Limit on devices.
const MOST: usize = 1000;

impl Tool for BtrfsStats {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let mut reading = Reading { tool: "btrfs stats", at: words.first()?.spot, ..Reading::default() };
        let (mut used, mut unknown) = (0, 0);
        while reading.rows.len() < MOST {
            let rest = &words[used..];
            if let Some((of, name, count)) = counter(rest) {
                let last = reading.rows.iter_mut().rfind(|row| row.of == of);
                // The same counter again is of another time.
                if last.as_ref().is_some_and(|row| row.get(name).is_some()) {
                    break;
                }
                match last {
                    Some(row) => row.values.put(name, count, Unit::Count, rest[1].spot),
                    None => {
                        let mut row = Row::of(of);
                        row.values.put(name, count, Unit::Count, rest[1].spot);
                        reading.rows.push(row);
                    }
                }
                used += 2;
                continue;
            }
            let most = if reading.rows.is_empty() { 1 } else { MOST_BETWEEN.min(rest.len()) };
            let next = (0..most).find_map(|skip| Some((skip, totals(&rest[skip..])?)));
            let Some((skip, (row, length))) = next else { break };
            if reading.row(&row.of).is_some() {
                break;
            }
            reading.rows.push(row);
            unknown += skip;
            used += skip + length;
        }
        (!reading.rows.is_empty()).then_some(())?;
        Some(Found { reading: Some(reading), used, unknown })
    }
}

/// A line of btrfs-progs: the device, the counter, the count.
fn counter(words: &[Word]) -> Option<(String, &'static str, f64)> {
    let [what, count] = texts(words)?;
    let (of, counter) = what.strip_prefix('[')?.split_once("].")?;
    let (.., name) = COUNTERS.iter().find(|(known, ..)| *known == counter)?;
    Some((called(of), *name, f64::from(count.parse::<u32>().ok()?)))
}

/// A line of the kernel that tells all counters of a device at a mount, and the number of its words.
pub(super) fn totals(words: &[Word]) -> Option<(Row, usize)> {
    let bdev = match texts(words)? {
        ["btrfs:", "bdev"] => 1,
        ["BTRFS", "info"] => words.iter().take(MOST_BEFORE).position(|w| w.text == "bdev")?,
        _ => return None,
    };
    let errs = words[bdev..].iter().take(4).position(|w| w.text == "errs:")? + bdev;
    let mut row = Row::of(called(words.get(bdev + 1)?.text));
    for (i, (_, kind, name)) in COUNTERS.iter().enumerate() {
        let count = words.get(errs + 2 + 2 * i).filter(|_| words[errs + 1 + 2 * i].text == *kind)?;
        let n: u32 = count.text.trim_end_matches(',').parse().ok()?;
        row.values.put(*name, f64::from(n), Unit::Count, count.spot);
    }
    Some((row, errs + 1 + 2 * COUNTERS.len()))
}

/// A device by its name: `sda` of `/dev/sda`.
fn called(path: &str) -> String {
    match path.strip_prefix("/dev/") {
        None if NAMELESS.contains(&path) => MISSING.to_owned(),
        name => name.unwrap_or(path).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    const STATS: &str = "[/dev/sdq].write_io_errs    3\n[/dev/sdq].read_io_errs     0\n[/dev/sdq].flush_io_errs    0\n[/dev/sdq].corruption_errs  17\n[/dev/sdq].generation_errs  1\n\
        [/dev/mapper/two].write_io_errs    0\n[/dev/mapper/two].read_io_errs     0\n[/dev/mapper/two].flush_io_errs    0\n";

    #[test]
    fn counters_of_each_device() {
        let reading = one(STATS, "btrfs stats");
        let names: Vec<&str> = reading.rows.iter().map(|row| row.of.as_str()).collect();
        assert_eq!(names, ["sdq", "mapper/two"]);
        let row = &reading.rows[0];
        let told =
            ["write errors", "read errors", "corruption errors", "generation errors"].map(|n| row.value(n));
        assert_eq!(told, [Some(3.0), Some(0.0), Some(17.0), Some(1.0)]);
        assert_eq!(all(&STATS.repeat(2), "btrfs stats").len(), 2, "a later time");
        assert!(all("[/dev/sdq].write_io_errs many\n[sdq].size 7\n", "btrfs stats").is_empty());
    }

    #[test]
    fn totals_at_a_mount() {
        let text = "[  12.5] BTRFS info (device sdq2): bdev /dev/sdq2 errs: wr 0, rd 31, flush 0, corrupt 0, gen 0\n\
            [  12.6] BTRFS info (device sdq2 state C): bdev /dev/sdr2 errs: wr 0, rd 0, flush 0, corrupt 404, gen 2\n\
            [  12.7] BTRFS info (device sdq2): bdev (efault) errs: wr 5, rd 0, flush 0, corrupt 0, gen 0\n\
            [  12.8] BTRFS info (device sdq2): bdev <missing disk> errs: wr 5, rd 0, flush 0, corrupt 0, gen 0\n";
        let readings = all(text, "btrfs stats");
        let rows: Vec<(&str, f64)> = readings
            .iter()
            .flat_map(|reading| &reading.rows)
            .map(|row| (row.of.as_str(), row.values.iter().map(|(_, n)| n.value).sum()))
            .collect();
        assert_eq!(
            rows,
            [("sdq2", 31.0), ("sdr2", 406.0), ("a missing device", 5.0), ("a missing device", 5.0)]
        );
        let old =
            "Mar  1 10:00:00 db kernel: btrfs: bdev /dev/sdq errs: wr 0, rd 7, flush 0, corrupt 0, gen 0\n";
        assert_eq!(one(old, "btrfs stats").rows[0].value("read errors"), Some(7.0));
        let grown = text.replace("info", "error");
        assert!(all(&grown, "btrfs stats").is_empty(), "the kernel's log tells of errors of now");
    }
}
