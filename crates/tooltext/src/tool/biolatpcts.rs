//! Reads bcc's biolatpcts: percentiles of the latency in the device, a table per interval.
//!
//! ```text
//! nvme0n1    p1    p5   p10   p16   p25   p50   p75   p84   p90   p95   p99  p100
//! read     95us 175us 305us 515us 895us 985us 995us 1.5ms 2.5ms 3.5ms 4.5ms  10ms
//! write     5us   5us   5us  15us  25us 135us 765us 855us 885us 895us 965us 1.5ms
//! ```
//!
//! Times are the middles of buckets, thus approximate.
//!
//! **Versions**: bcc 0.14, its first, to 0.37 (`tools/biolatpcts.py`).

use super::reader::{Found, Tool};
use super::table;
use crate::output::number::{time_unit, with_suffix, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Biolatpcts;

const OPERATIONS: [&str; 4] = ["read", "write", "discard", "flush"];
/// Limit on percentiles (`--pct`).
const MOST: usize = 64;

impl Tool for Biolatpcts {
    fn read(&self, words: &[Word]) -> Option<Found> {
        // The heading: a device's name and at least two percentiles in rising order.
        let percentile = |w: &Word| w.text.strip_prefix('p').and_then(|p| p.parse::<f64>().ok());
        percentile(words.get(1)?)?;
        let heads: Vec<f64> = words[1..].iter().take(MOST).map_while(percentile).collect();
        (heads.len() > 1 && heads.windows(2).all(|pair| pair[0] < pair[1])).then_some(())?;
        let device = words[0].text;
        let reading = Reading { tool: "biolatpcts", at: words[0].spot, ..Reading::default() };
        let names: Vec<&str> = words[1..=heads.len()].iter().map(|w| w.text).collect();
        let ends = |w: &Word| percentile(w).is_some();
        let row = |rest: &[Word]| row(rest, device, &names);
        table::gather(reading, words, 1 + heads.len(), OPERATIONS.len(), ends, row)
    }
}

fn row(words: &[Word], device: &str, names: &[&str]) -> Option<(Row, usize)> {
    let line = words.get(..=names.len())?;
    OPERATIONS.contains(&line[0].text).then_some(())?;
    let mut row = Row::of(format!("{device} {}", line[0].text));
    for (name, word) in names.iter().zip(&line[1..]) {
        // A dash means that there was no such operation.
        if !word.text.starts_with('-') {
            let (value, unit) = with_suffix(word.text)?;
            let name = if *name == "p100" { "lat.max".to_owned() } else { format!("lat.{name}") };
            row.values.put(name, value * time_unit(unit)?, Unit::Nanoseconds, word.spot);
        }
    }
    Some((row, line.len()))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

    #[test]
    fn operations_have_percentiles() {
        let text = "nvme0n1    p1   p50   p99  p100\nread     95us 985us 4.5ms  10ms\nwrite     5us 135us 965us 1.5ms\nflush       -     -     -     -\n";
        let reading = one(text, "biolatpcts");
        let value = |of: &str, name: &str| reading.row(of).and_then(|r| r.value(name));
        assert_eq!(
            (value("nvme0n1 read", "lat.p99"), value("nvme0n1 write", "lat.max")),
            (Some(4.5e6), Some(1.5e6))
        );
        assert_eq!(reading.rows.len(), 3);
    }
}
