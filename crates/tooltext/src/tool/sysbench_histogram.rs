//! Reads sysbench's `--histogram`: the distribution of event times, printed before its other results.
//!
//! ```text
//! Latency histogram (values are in milliseconds)
//!        value  ------------- distribution ------------- count
//!        0.619 |**************************************** 60564
//!        0.630 |*                                        2156
//! ```
//!
//! A value is the middle of its bucket; there are 1024 buckets from 1 us to 100 s with a constant ratio
//! (`sb_histogram_update`, sb_histogram.c). Empty buckets are left out; small values are so close that several are printed alike.
//!
//! **Versions**: sysbench 1.0.20 run; those of 1.0 and 1.1 have one form (`sb_histogram.c`).

use super::histogram::rising;
use super::reader::{texts, Found};
use crate::output::number::{decimal, Number, Unit};
use crate::output::reading::{Bucket, Reading, Row};
use crate::output::words::Word;

/// Number and bounds of sysbench's buckets (`OPER_LOG_GRANULARITY` and the constants beside it, sb_logger.c).
const BUCKETS: usize = 1024;
const BOUNDS_MS: [f64; 2] = [0.001, 100_000.0];
const MS: f64 = 1e6;

/// Reads a histogram at the start of `words`.
pub(super) fn read(words: &[Word]) -> Option<Found> {
    let ["Latency", "histogram", "(values", "are", "in", "milliseconds)", "value", left, "distribution", right, "count"] =
        texts(words)?
    else {
        return None;
    };
    [left, right].iter().all(|ruler| ruler.bytes().all(|b| b == b'-')).then_some(())?;
    let heading = 11;
    let (middles, used, unknown) = rising(&words[heading..], BUCKETS, middle);
    (!middles.is_empty()).then_some(())?;
    let mut row = Row::of("events");
    row.histogram = buckets(middles);
    let reading = Reading { tool: "sysbench", rows: vec![row], at: words[0].spot, ..Reading::default() };
    Some(Found { reading: Some(reading), used: heading + used, unknown })
}

/// Parses `0.619 |**** 60564`: both bounds are the printed value.
fn middle(words: &[Word]) -> Option<(Bucket, usize)> {
    let [value, bar, count] = texts(words)?;
    bar.strip_prefix('|')?.bytes().all(|b| b == b'*').then_some(())?;
    let (value, count) = (decimal(value)? * MS, count.parse::<u64>().ok()?);
    let count = Number::new(count as f64, Unit::Count, words[2].spot);
    Some((Bucket { from: value, below: value, count }, 3))
}

/// Buckets around these middles; buckets with equal printed values are merged.
fn buckets(middles: Vec<Bucket>) -> Vec<Bucket> {
    let half_a_step = (BOUNDS_MS[1] / BOUNDS_MS[0]).powf(0.5 / (BUCKETS - 1) as f64);
    let (mut all, mut last): (Vec<Bucket>, f64) = (vec![], 0.0);
    for Bucket { from: value, count, .. } in middles {
        match all.last_mut().filter(|_| value == last) {
            Some(same) => same.count.value += count.value,
            None => {
                let above = all.last().map_or(0.0, |bucket| bucket.below);
                let from = (value / half_a_step).max(above);
                all.push(Bucket { from, below: value * half_a_step, count });
            }
        }
        last = value;
    }
    all
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    const HEAD: &str = "Latency histogram (values are in milliseconds)\n       value  ------------- distribution ------------- count\n";

    #[test]
    fn a_value_is_the_middle_of_its_bucket() {
        let text = format!("{HEAD}       0.001 |*                                        3\n       0.001 |                                         4\n\
            \x20      0.619 |**************************************** 60564\n       0.630 |*                                        2156\n\
            \x20      8.900 |                                         1\n \nFile operations:\n");
        let row = &one(&text, "sysbench").rows[0];
        let of = |i: usize| (row.histogram[i].from, row.histogram[i].below, row.histogram[i].count.value);
        let counts: Vec<f64> = row.histogram.iter().map(|b| b.count.value).collect();
        assert_eq!(counts, [7.0, 60564.0, 2156.0, 1.0]);
        let (from, below, _) = of(1);
        assert!(
            (613_000.0..614_000.0).contains(&from) && (624_000.0..625_000.0).contains(&below),
            "{from} {below}"
        );
        assert!(of(2).0 >= below && of(2).0 < 630_000.0);
        assert_eq!(row.slower_than(8e6), (62_728.0, 1.0));
    }

    #[test]
    fn without_its_unit_or_its_rows_it_is_none() {
        for text in [
            "       value  ------------- distribution ------------- count\n       0.619 |**** 60564\n"
                .to_owned(),
            format!("{HEAD}nothing was measured\n"),
        ] {
            assert!(all(&text, "sysbench").is_empty(), "{text}");
        }
    }
}
