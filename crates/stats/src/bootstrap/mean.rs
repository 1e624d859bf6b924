//! How precisely a recording determines its own mean.
//!
//! The mean adds up: for a job that waits for each operation it is the inverse of its rate. A few slow operations can
//! dominate it, and then repeated draws of blocks do not show how many another stretch would have. So the effective
//! number of blocks is the number that the scatter comes from, `(sum d^2)^2 / sum d^4` of their deviations `d`: `K`
//! blocks with one stall each among many without any give `K`; normally distributed blocks give a third of them, which
//! makes the interval of the mean somewhat too wide rather than too narrow.

use super::{factor, memory, scatter, Estimate, NoRange, FEWEST_BLOCKS, MOST_DRAWN, SIGNIFICANT};
use crate::blocks::Blocks;
use std::borrow::Cow;

/// Smallest effective number of blocks of a mean. With fewer there is no interval.
const LEAST_WITNESSES: f64 = 5.0;

impl Estimate {
    /// The mean of some values. The same values and seed always give the same result.
    pub fn mean(blocks: &Blocks, seed: u64) -> Result<Estimate, NoRange> {
        let mut blocks = Cow::Borrowed(blocks);
        let (mut sums, mut correlation);
        loop {
            sums = sums_of(&blocks);
            let mean = mean_of(&sums, &vec![1; sums.len()]);
            let deviations: Vec<f64> = sums.iter().map(|(sum, n)| sum / n - mean).collect();
            correlation = memory(&deviations);
            let many = sums.len();
            let alone = correlation <= SIGNIFICANT / (many as f64).sqrt() && many <= MOST_DRAWN;
            if alone || many / 2 < FEWEST_BLOCKS {
                break;
            }
            blocks = Cow::Owned(blocks.doubled());
        }
        let many = sums.len();
        let value = mean_of(&sums, &vec![1; many]);
        let of_mean: Vec<f64> = sums.iter().map(|(sum, n)| sum - value * n).collect();
        let [second, fourth] = [2, 4].map(|power| of_mean.iter().map(|d| d.powi(power)).sum::<f64>());
        let witnesses = if fourth > 0.0 { second * second / fourth } else { many as f64 };
        if many < FEWEST_BLOCKS || witnesses < LEAST_WITNESSES || value <= 0.0 {
            return Err(NoRange::TooFew);
        }
        let wider = factor(correlation, many, witnesses);
        let deviations = scatter(many, seed, |drawn| (mean_of(&sums, drawn) / value).ln() * wider);
        Ok(Estimate { value, blocks: many, block_length: blocks.length(), correlation, deviations })
    }
}

/// Sum and number of values, for each block that has values.
fn sums_of(blocks: &Blocks) -> Vec<(f64, f64)> {
    let filled = blocks.each().iter().filter(|b| !b.is_empty());
    filled.map(|b| (b.sum() as f64, b.count() as f64)).collect()
}

/// The mean of the drawn blocks.
fn mean_of(sums: &[(f64, f64)], drawn: &[u32]) -> f64 {
    let each = sums.iter().zip(drawn);
    let (sum, n) =
        each.fold((0.0, 0.0), |(s, c), ((sum, n), times)| (s + sum * *times as f64, c + n * *times as f64));
    sum / n.max(1.0)
}
