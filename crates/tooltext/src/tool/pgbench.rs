//! pgbench(1): transactions a second and their latency, all versions.
//!
//! ```text
//! number of transactions actually processed: 123456
//! latency average = 12.345 ms
//! latency stddev = 1.234 ms
//! initial connection time = 20.1 ms
//! tps = 810.123456 (without initial connection time)
//! ```

use super::phrases::{self, Phrase};
use super::{texts, Found, Tool};
use crate::mail::number::Unit;
use crate::mail::reading::Reading;
use crate::mail::words::Word;

pub struct Pgbench;

const MS: f64 = 1e6;
const PHRASES: [Phrase; 8] = [
    (&["number", "of", "transactions", "actually", "processed:"], "count", 1.0, Unit::Count),
    (&["latency", "average", "="], "lat.mean", MS, Unit::Nanoseconds),
    (&["latency", "average:"], "lat.mean", MS, Unit::Nanoseconds),
    (&["latency", "stddev", "="], "lat.stdev", MS, Unit::Nanoseconds),
    (&["latency", "stddev:"], "lat.stdev", MS, Unit::Nanoseconds),
    (&["initial", "connection", "time", "="], "connecting", MS, Unit::Nanoseconds),
    (&["tps", "="], "tps", 1.0, Unit::PerSecond),
    (&["scaling", "factor:"], "scale", 1.0, Unit::Count),
];

impl Tool for Pgbench {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let (row, used, unknown) = phrases::row(words, &PHRASES, "transactions")?;
        // The rate once more, without connecting, is no other run.
        let again = words.get(used..).and_then(texts).is_some_and(|next: [&str; 7]| {
            [next[0], next[3], next[6]] == ["(including", "tps", "(excluding"]
        });
        // "latency average" alone may be anybody's words.
        let said =
            words.get(used).is_some_and(|w| ["(including", "(excluding", "(without"].contains(&w.text));
        (row.get("tps").is_some() && (said || row.values.iter().count() > 1)).then_some(())?;
        let reading = Reading { tool: "pgbench", rows: vec![row], at: words[0].spot, ..Reading::default() };
        Some(Found {
            reading: Some(reading),
            used: used + if again { 9.min(words.len() - used) } else { 0 },
            unknown,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

    #[test]
    fn old_and_new_versions_say_the_same() {
        let new = "scaling factor: 100\nquery mode: simple\nnumber of clients: 8\nnumber of transactions actually processed: 123456\n\
            number of failed transactions: 0 (0.000%)\nlatency average = 12.345 ms\nlatency stddev = 1.5 ms\ntps = 810.5 (without initial connection time)\n";
        let old = "number of transactions actually processed: 123456\nlatency average: 12.345 ms\ntps = 810.5 (including connections establishing)\n\
            tps = 811.5 (excluding connections establishing)\n";
        for text in [new, old] {
            let row = &one(text, "pgbench").rows[0];
            assert_eq!(
                (row.value("lat.mean"), row.value("tps"), row.value("count")),
                (Some(12.345e6), Some(810.5), Some(123_456.0))
            );
        }
    }
}
