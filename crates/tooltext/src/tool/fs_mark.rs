//! Reads fs_mark: files created per second, a row per round.
//!
//! ```text
//! FSUse%        Count         Size    Files/sec     App Overhead
//!      0      1600000            0     147123.4         12345678
//! ```
//!
//! With `-v` each call has three more numbers, in microseconds: `CREAT (Min/Avg/Max)`, `FSYNC (Min/Avg/Max)`.
//!
//! **Versions**: fs_mark 3.3 run.

use super::reader::{Found, Tool};
use super::table;
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct FsMark;

const HEADING: [&str; 6] = ["FSUse%", "Count", "Size", "Files/sec", "App", "Overhead"];
const MOST_ROWS: usize = 10_000;

impl Tool for FsMark {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let same = HEADING.iter().zip(words).all(|(name, w)| *name == w.text);
        (same && words.len() > HEADING.len()).then_some(())?;
        let reading = Reading { tool: "fs_mark", at: words[0].spot, ..Reading::default() };
        let calls = calls(&words[HEADING.len()..]);
        let ends = |w: &Word| HEADING.contains(&w.text);
        let row = |rest: &[Word]| row(rest, &calls);
        table::gather(reading, words, HEADING.len() + 2 * calls.len(), MOST_ROWS, ends, row)
    }
}

/// The calls with their own columns, in lower case.
fn calls(words: &[Word]) -> Vec<String> {
    let pairs = words.chunks_exact(2).take(MOST_CALLS);
    pairs
        .take_while(|pair| pair[1].text == "(Min/Avg/Max)")
        .map(|pair| pair[0].text.to_ascii_lowercase())
        .collect()
}

/// Limit on calls: CREAT, WRITE, FSYNC, SYNC, CLOSE, UNLINK.
const MOST_CALLS: usize = 8;

fn row(words: &[Word], calls: &[String]) -> Option<(Row, usize)> {
    let line = words.get(..5)?;
    let whole = |i: usize| line[i].text.parse::<u64>().ok();
    // The share may have its `%` sign.
    let full = line[0].text.trim_end_matches('%').parse::<u32>().ok().filter(|n| *n <= 100)?;
    let (count, size, overhead) = (whole(1)?, whole(2)?, whole(4)?);
    let rate = decimal(line[3].text).filter(|_| line[3].text.contains('.'))?;
    let mut row = Row::of("files");
    row.values.put("count", count as f64, Unit::Count, line[1].spot);
    row.values.put("size", size as f64, Unit::Bytes, line[2].spot);
    row.values.put("files/s", rate, Unit::PerSecond, line[3].spot);
    row.values.put("overhead", overhead as f64 * 1e3, Unit::Nanoseconds, line[4].spot);
    row.values.put("full", f64::from(full) / 100.0, Unit::Share, line[0].spot);
    let more = words.get(5..5 + 3 * calls.len())?;
    for (call, times) in calls.iter().zip(more.chunks(3)) {
        for (what, word) in ["min", "mean", "max"].iter().zip(times) {
            let us: u64 = word.text.parse().ok()?;
            row.values.put(format!("{call}.{what}"), us as f64 * 1e3, Unit::Nanoseconds, word.spot);
        }
    }
    Some((row, 5 + more.len()))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

    #[test]
    fn calls_have_their_times() {
        let text = "FSUse%        Count         Size    Files/sec     App Overhead        CREAT (Min/Avg/Max)        FSYNC (Min/Avg/Max)\n\
            \x20    5         1000        51200        123.4            12345       12       34      567     5000     8000    12345\n";
        let row = &one(text, "fs_mark").rows[0];
        assert_eq!((row.value("creat.mean"), row.value("fsync.max")), (Some(34e3), Some(12_345e3)));
    }

    #[test]
    fn rounds_are_rows() {
        let text = "FSUse%        Count         Size    Files/sec     App Overhead\n     0      1600000            0     147123.4         12345678\n\
            0      3200000            0      98765.1         12345679  <- slower\n     1      4800000            0     150000.0         12345680\n";
        let reading = one(text, "fs_mark");
        assert_eq!(reading.rows.len(), 3);
        assert_eq!(reading.rows[1].value("files/s"), Some(98_765.1));
    }
}
