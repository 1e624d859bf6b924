//! dd's last lines (coreutils' dd.c, `print_xfer_stats`), in any locale and in all versions.
//!
//! ```text
//! 2048+0 records in
//! 2048+0 records out
//! 2147483648 bytes (2.1 GB, 2.0 GiB) copied, 1.0991 s, 2.0 GB/s
//! 2147483648 Bytes (2,1 GB, 2,0 GiB) kopiert, 1,0991 s, 2,0 GB/s
//! ```

use super::{texts, Found, Tool};
use crate::mail::number::{decimal, size_unit, time_unit, Unit};
use crate::mail::reading::{Reading, Row};
use crate::mail::words::Word;

pub struct Dd;

/// Words from the number of bytes to the rate.
const LONGEST: usize = 16;

impl Tool for Dd {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let spot = words.first()?.spot;
        let mut used = 0;
        // Records, in words that depend on the locale: `2048+0 records in`, `2048+0 Datensätze ein`.
        while let Some(records) = words.get(used).filter(|w| used < 9 && is_records(w.text)) {
            let after = words[used + 1..].iter().take(6);
            let next = after.clone().position(|w| is_records(w.text) || w.text.parse::<u64>().is_ok());
            let _ = records;
            used += 1 + next?;
        }
        let bytes = words.get(used)?;
        let size: u64 = bytes.text.parse().ok()?;
        let line = &words[used..words.len().min(used + LONGEST)];
        if !["bytes", "byte", "Bytes", "octets", "bytes,"].contains(&line.get(1)?.text) {
            // Other languages: only with the records before it.
            (used > 0).then_some(())?;
        }
        let mut row = Row::of("copy");
        row.values.put("bytes", size as f64, Unit::Bytes, bytes.spot);
        // `5.06064 s, 424 MB/s`: seconds, then a rate.
        let end = (2..line.len()).find_map(|i| {
            let [seconds, "s,", rate, unit] = texts(&line[i..])? else { return None };
            let unit = unit.trim_end_matches(['.', ',']);
            let per_second = size_unit(unit.strip_suffix("/s")?)?;
            let (seconds, rate) = (decimal(seconds)?, decimal(rate)?);
            row.values.put("runtime", seconds * time_unit("s")?, Unit::Nanoseconds, line[i].spot);
            row.values.put("bw", rate * per_second, Unit::BytesPerSecond, line[i + 2].spot);
            Some(i + 4)
        })?;
        Found::all(Reading { tool: "dd", rows: vec![row], at: spot, ..Reading::default() }, used + end)
    }
}

/// `2048+0`
fn is_records(text: &str) -> bool {
    text.split_once('+').is_some_and(|(a, b)| a.parse::<u64>().is_ok() && b.parse::<u64>().is_ok())
}
