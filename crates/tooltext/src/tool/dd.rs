//! Reads dd's last lines (coreutils' dd.c, `print_xfer_stats`), in any locale and all versions.
//!
//! ```text
//! 2048+0 records in
//! 2048+0 records out
//! 2147483648 bytes (2.1 GB, 2.0 GiB) copied, 1.0991 s, 2.0 GB/s
//! 2147483648 Bytes (2,1 GB, 2,0 GiB) kopiert, 1,0991 s, 2,0 GB/s
//! 1073741824 bytes (1.1 GB) copied, 25.9824 seconds, 41.3 MB/s                 coreutils before 7
//! 1073741824 bytes (1.0GB) copied, 25.982352 seconds, 39.4MB/s                 BusyBox, whose MB are 1024 * 1024
//! 1073741824 bytes transferred in 3.123456 secs (343767088 bytes/sec)          BSD, macOS
//! ```
//!
//! **Versions**: coreutils 9.1 run; those before 8.24, which print one size only, BusyBox, FreeBSD and macOS by published texts.

use super::reader::{texts, Found, Tool};
use crate::output::number::{decimal, size_unit, time_unit, with_suffix, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Dd;

/// Limit on words from the number of bytes to the rate.
const LONGEST: usize = 16;
/// Limit on words after a number of records.
const LONGEST_REMARK: usize = 12;

impl Tool for Dd {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let spot = words.first()?.spot;
        let mut used = 0;
        // Records, with words that depend on the locale: `2048+0 records in`, `2048+0 Datensätze ein`.
        while words.get(used).is_some_and(|w| used < 3 * LONGEST_REMARK && is_records(w.text)) {
            let after = words[used + 1..].iter().take(LONGEST_REMARK);
            let number = |w: &Word| is_records(w.text) || w.text.parse::<u64>().is_ok();
            // A number at the start of a line is not part of the words before it.
            let next = after.clone().position(|w| w.first && number(w));
            used += 1 + next.or_else(|| after.clone().take(6).position(number))?;
        }
        let bytes = words.get(used)?;
        let size: u64 = bytes.text.parse().ok()?;
        let line = &words[used..words.len().min(used + LONGEST)];
        if !["bytes", "byte", "Bytes", "octets", "bytes,"].contains(&line.get(1)?.text) {
            // Other languages are accepted only after lines of records.
            (used > 0).then_some(())?;
        }
        let mut row = Row::of("copy");
        row.values.put("bytes", size as f64, Unit::Bytes, bytes.spot);
        let bsd = bsd(line, &mut row);
        let end = bsd.or_else(|| (2..line.len()).find_map(|i| Some(i + rate(&line[i..], &mut row)?)))?;
        // A line of progress (`status=progress`) stands before the records; the last lines tell all.
        let progress = used == 0 && words.get(end).is_some_and(|w| w.first && is_records(w.text));
        if let Some(whole) = words.get(end..).filter(|_| progress).and_then(|rest| Dd.read(rest)) {
            return Some(Found { used: end + whole.used, ..whole });
        }
        Found::all(Reading { tool: "dd", rows: vec![row], at: spot, ..Reading::default() }, used + end)
    }
}

/// Parses `5.06064 s, 424 MB/s`, `25.98 seconds, 39.4MB/s`: seconds, then a rate; returns the number of words.
fn rate(words: &[Word], row: &mut Row) -> Option<usize> {
    let [seconds, "s," | "seconds," | "second,", rate] = texts(words)? else { return None };
    let (value, suffix) = with_suffix(rate)?;
    let (unit, used) = match suffix {
        "" => (words.get(3)?.text, 4),
        suffix => (suffix, 3),
    };
    // If two dd run at once, the next line may follow without a blank: `1.0 kB/s1+0 records in`.
    let (unit, rest) = unit.trim_end_matches(['.', ',']).split_once("/s")?;
    (rest.is_empty() || is_records(rest)).then_some(())?;
    let per_second = match used {
        // BusyBox uses powers of 1024, and prints no blank.
        3 => 1024f64.powi("KMGT".find(unit.strip_suffix('B')?.chars().next()?)? as i32 + 1),
        _ => size_unit(unit)?,
    };
    row.values.put("runtime", decimal(seconds)? * time_unit("s")?, Unit::Nanoseconds, words[0].spot);
    row.values.put("bw", value * per_second, Unit::BytesPerSecond, words[2].spot);
    Some(used)
}

/// Parses `bytes transferred in 3.12 secs (343767088 bytes/sec)`; returns the number of words, including the number before them.
fn bsd(line: &[Word], row: &mut Row) -> Option<usize> {
    let [_, "bytes", "transferred", "in", seconds, "secs", rate, "bytes/sec)"] = texts(line)? else {
        return None;
    };
    let (seconds, rate) = (decimal(seconds)?, decimal(rate.strip_prefix('(')?)?);
    row.values.put("runtime", seconds * 1e9, Unit::Nanoseconds, line[4].spot);
    row.values.put("bw", rate, Unit::BytesPerSecond, line[6].spot);
    Some(8)
}

/// Whether a word is a number of records: `2048+0`.
fn is_records(text: &str) -> bool {
    text.split_once('+').is_some_and(|(a, b)| a.parse::<u64>().is_ok() && b.parse::<u64>().is_ok())
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn the_words_of_bsd_are_read() {
        let text = "1024+0 records in\n1024+0 records out\n1073741824 bytes transferred in 3.125 secs (343597383 bytes/sec)\n";
        let row = &one(text, "dd").rows[0];
        assert_eq!((row.value("runtime"), row.value("bw")), (Some(3.125e9), Some(343_597_383.0)));
    }

    #[test]
    fn progress_is_no_copy_of_its_own() {
        let text =
            "163840 bytes (164 kB, 160 KiB) copied, 59 s, 2.8 kB/s\n1000+0 records in\n1000+0 records out\n\
                    512000 bytes (512 kB, 500 KiB) copied, 58.75 s, 8.7 kB/s\n";
        let all = all(text, "dd");
        assert_eq!((all.len(), all[0].rows[0].value("runtime")), (1, Some(58.75e9)));
    }

    #[test]
    fn lines_of_two_that_run_at_once_may_touch() {
        let text = "1+0 records in\n1+0 records out\n10240 bytes (10 kB, 10 KiB) copied, 10.0625 s, 1.0 kB/s1+0 records in\n\
                    1+0 records out\n\n10240 bytes (10 kB, 10 KiB) copied, 9.25 s, 1.1 kB/s\n";
        let told: Vec<_> =
            all(text, "dd").iter().map(|r| (r.rows[0].value("runtime"), r.rows[0].value("bw"))).collect();
        assert_eq!(told, [(Some(10.0625e9), Some(1000.0)), (Some(9.25e9), Some(1100.0))]);
        assert!(all(&text.replace("kB/s1+0", "kB/s10"), "dd").len() == 1, "no records");
    }

    #[test]
    fn old_versions_and_busybox_write_seconds_out() {
        let mib = 1048576.0;
        for (line, seconds, bw) in [
            ("1073741824 bytes (1.0GB) copied, 25.982352 seconds, 39.4MB/s", 25.982_352, 39.4 * mib),
            ("1073741824 bytes (1.1 GB) copied, 25.9824 seconds, 41.3 MB/s", 25.9824, 41.3e6),
            ("512 bytes (512B) copied, 0.500000 seconds, 1.0KB/s", 0.5, 1024.0),
            ("1073741824 bytes (1.1 GB) copied, 25.9824 s, 41.3 MB/s", 25.9824, 41.3e6),
        ] {
            let row = &one(&format!("256+0 records in\n256+0 records out\n{line}\n"), "dd").rows[0];
            assert_eq!((row.value("runtime"), row.value("bw")), (Some(seconds * 1e9), Some(bw)), "{line}");
        }
    }
}
