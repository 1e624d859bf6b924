//! btt's `.avg`: how long each step took on the whole (`btt/doc/btt.tex` of blktrace).
//!
//! ```text
//!             ALL           MIN           AVG           MAX           N
//! --------------- ------------- ------------- ------------- -----------
//! Q2C               0.000162944   0.051680212  34.306738827         901
//! ```

use super::{Found, Tool};
use crate::mail::number::{decimal, Unit};
use crate::mail::reading::{Reading, Row};
use crate::mail::words::Word;

pub struct BttAvg;

/// Bars and rules between two cells.
const MOST_BARS: usize = 24;
/// The steps btt knows.
const STEPS: [&str; 14] =
    ["Q2Q", "Q2A", "Q2G", "S2G", "G2I", "Q2M", "I2D", "M2D", "D2C", "Q2C", "Q2D", "C2C", "I2C", "G2D"];

impl Tool for BttAvg {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let spot = words.first()?.spot;
        if !["ALL", "|"].contains(&words[0].text) {
            return None;
        }
        // Slides have bars and rules about it.
        let mut used = 0;
        let mut next = || {
            let bar = |w: &&Word| w.text.bytes().all(|b| b == b'|' || b == b'-');
            used += words.get(used..).unwrap_or(&[]).iter().take(MOST_BARS).take_while(bar).count();
            used += 1;
            words.get(used - 1)
        };
        for heading in ["ALL", "MIN", "AVG", "MAX", "N"] {
            (next()?.text == heading).then_some(())?;
        }
        let mut reading = Reading { tool: "btt", at: spot, ..Reading::default() };
        let mut end = 0;
        let rows = std::iter::from_fn(|| {
            let step = next().filter(|w| STEPS.contains(&w.text))?;
            let mut row = Row::of(step.text);
            for name in ["min", "mean", "max"] {
                let seconds = next()?;
                row.values.put(name, decimal(seconds.text)? * 1e9, Unit::Nanoseconds, seconds.spot);
            }
            let count = next()?;
            row.values.put("count", count.text.parse::<u64>().ok()? as f64, Unit::Count, count.spot);
            Some((row, count.text.as_ptr()))
        });
        for (row, last) in rows.take(STEPS.len()) {
            reading.rows.push(row);
            end += words[end..].iter().position(|w| w.text.as_ptr() == last)? + 1;
        }
        if reading.rows.is_empty() {
            return None;
        }
        Found::all(reading, end)
    }
}
