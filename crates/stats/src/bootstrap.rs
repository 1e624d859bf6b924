//! How precisely a recording determines its own percentiles: a block bootstrap.
//!
//! It draws as many blocks as there are, with replacement, and takes the percentile of what was drawn; it does that a
//! thousand times. The scatter of these percentiles is how much another stretch of the same load might differ. Single
//! values must not be drawn: latencies are correlated (a stall makes a hundred neighbours slow), and drawing them one
//! by one would count the hundred as independent.
//!
//! # Choosing the length of blocks
//!
//! Blocks must be longer than the time over which values are correlated, and numerous enough to draw from. The start is [`MOST_DRAWN`] or
//! nearly half of that. If the share of slow values in a block (those above the percentile) predicts that of its neighbour, neighbours are
//! merged, until it does not, or [`FEWEST_BLOCKS`] are left. A remaining correlation `r` widens the interval by `sqrt((1 + r) / (1 - r))`,
//! as for a series whose memory decays evenly (AR(1)).
//!
//! # Few blocks
//!
//! A percentile is determined by the blocks with values on both sides of it: slow values of a p99 may lie in ten
//! blocks only. With `K` such blocks the bootstrap's scatter is that of a mean of `K` with its deviation from the
//! drawn mean, too small by `sqrt((K - 1) / K)`, and its tails are normal instead of Student's. A factor corrects both
//! (Hesterberg, "What Teachers Should Know About the Bootstrap", 2015, "expanded percentile interval").
//!
//! # Speed
//!
//! No drawn distribution is built. Its percentile is found by bisection over buckets: the number of values below
//! bucket `x` is the sum of what the drawn blocks have there, a sum of `K` products.

mod mean;
pub mod rare;

use crate::blocks::Blocks;
use crate::distribution::Distribution;

/// Number of bootstrap samples. Each 2.5 % end then rests on 25 of them.
const SAMPLES: usize = 1000;
/// Largest number of blocks to begin with: a correlated stretch is then seldom longer than one block.
const MOST_DRAWN: usize = 64;
/// Smallest number of blocks that merging leaves.
const FEWEST_BLOCKS: usize = 16;
/// Smallest number of blocks with values beyond the percentile. With fewer there is no interval.
const LEAST_BLOCKS: usize = 8;
/// Smallest number of values on each side of a percentile. Fewer are a matter of a few accidents.
const LEAST_BEYOND: f64 = 10.0;
/// The correlation of independent values exceeds this, divided by the root of their number, in 5 % of cases (one-sided).
const SIGNIFICANT: f64 = 1.645;
/// Largest correlation that is used; more would be a trend, not a memory.
const MOST_CORRELATION: f64 = 0.9;
/// Share beyond each end of a 95 % range.
const TAIL: f64 = 0.025;
/// Share beyond each end of a 99 % range.
const TAIL_OF_99: f64 = 0.005;
/// 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_964;

/// A range that contains the true value with 95 % confidence, as far as chance within a recording goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lower end.
    pub from: f64,
    /// The upper end.
    pub to: f64,
}

impl Range {
    /// The range extended to contain `value`.
    pub fn with(self, value: f64) -> Range {
        Range { from: self.from.min(value), to: self.to.max(value) }
    }
}

/// A number of a recording, with its scatter.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// The number, computed from all values.
    pub value: f64,
    /// Number of blocks that were drawn from.
    pub blocks: usize,
    /// Number of values in each block.
    pub block_length: u64,
    /// Remaining correlation of neighbouring blocks: 0 is none.
    pub correlation: f64,
    /// Deviations of its logarithm in the bootstrap samples.
    deviations: Vec<f64>,
}

/// Why there is no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRange {
    /// Too few values beyond the percentile.
    TooFew,
}

impl Estimate {
    /// The percentile `q` (0.99 for p99) of some values. The same values and seed always give the same result.
    pub fn percentile(blocks: &Blocks, q: f64, seed: u64) -> Result<Estimate, NoRange> {
        Estimate::of(blocks, q, seed, |table, drawn| table.percentile(drawn, q))
    }

    /// The share of values that are at least `threshold`, in whole buckets: how frequent such slow values are.
    pub fn share_from(blocks: &Blocks, threshold: u64, seed: u64) -> Result<Estimate, NoRange> {
        let all = blocks.all();
        let below: u64 = all.buckets().filter(|b| b.upper < threshold).map(|b| b.count).sum();
        // Adding half a value keeps a draw without slow values from being infinitely far from the others.
        let half = 0.5 / all.count().max(1) as f64;
        let q = below as f64 / all.count().max(1) as f64;
        Estimate::of(blocks, q, seed, |table, drawn| {
            let sum = table.up_to(drawn, table.limits.len() - 1);
            let bucket = table.limits.partition_point(|(_, upper)| *upper < threshold);
            let below = if bucket == 0 { 0.0 } else { table.up_to(drawn, bucket - 1) };
            1.0 - below / sum.max(1.0) + half
        })
    }

    /// The number that `measure` computes from drawn blocks. `q` is the share of values on one side of it.
    fn of(
        blocks: &Blocks,
        q: f64,
        seed: u64,
        measure: impl Fn(&Table, &[u32]) -> f64,
    ) -> Result<Estimate, NoRange> {
        let all = blocks.all();
        if all.count() as f64 * q.min(1.0 - q) < LEAST_BEYOND {
            return Err(NoRange::TooFew);
        }
        let limits: Vec<(u64, u64)> = all.buckets().map(|b| (b.lower, b.upper)).collect();
        let mut blocks = std::borrow::Cow::Borrowed(blocks);
        let (mut table, mut correlation, mut at);
        loop {
            table = Table::of(blocks.each(), &limits);
            let many = table.rows.len();
            at = table.percentile(&vec![1; many], q);
            correlation = table.correlation(at);
            let alone = correlation <= SIGNIFICANT / (many as f64).sqrt() && many <= MOST_DRAWN;
            if alone || many / 2 < FEWEST_BLOCKS {
                break;
            }
            blocks = std::borrow::Cow::Owned(blocks.doubled());
        }
        let many = table.rows.len();
        let witnesses = table.beyond(at);
        if witnesses < LEAST_BLOCKS {
            return Err(NoRange::TooFew);
        }
        let value = measure(&table, &vec![1; many]);
        let wider = factor(correlation, many, witnesses as f64);
        let deviations = scatter(many, seed, |drawn| (measure(&table, drawn) / value).ln() * wider);
        Ok(Estimate { value, blocks: many, block_length: blocks.length(), correlation, deviations })
    }

    /// Its 95 % range.
    pub fn range(&self) -> Range {
        ends(self.value, self.deviations.clone(), TAIL)
    }

    /// 95 % and 99 % ranges of the ratio of this number to that of another, independent recording.
    pub fn ratio_to(&self, before: &Estimate) -> [Range; 2] {
        let both: Vec<f64> = self.deviations.iter().zip(&before.deviations).map(|(a, b)| a - b).collect();
        [TAIL, TAIL_OF_99].map(|tail| ends(self.value / before.value, both.clone(), tail))
    }
}

/// Factor by which an interval is wider than the scatter of draws, for the remaining correlation and for few informative blocks.
fn factor(correlation: f64, many: usize, witnesses: f64) -> f64 {
    // The chance correlation of independent blocks is negative as often as positive.
    let r = (correlation + 1.0 / many as f64).clamp(0.0, MOST_CORRELATION);
    ((1.0 + r) / (1.0 - r)).sqrt() * student(witnesses - 1.0) / Z * (witnesses / (witnesses - 1.0)).sqrt()
}

/// What `measure` gives for each sample. A sample is how often each of `many` blocks was drawn.
fn scatter(many: usize, seed: u64, measure: impl Fn(&[u32]) -> f64) -> Vec<f64> {
    let mut random = Random(seed);
    let mut drawn = vec![0u32; many];
    let one = |_| {
        drawn.fill(0);
        (0..many).for_each(|_| drawn[random.below(many)] += 1);
        measure(&drawn)
    };
    (0..SAMPLES).map(one).collect()
}

/// `value` times the exponentials of the deviations, as a range without the share `tail` at each end.
fn ends(value: f64, mut deviations: Vec<f64>, tail: f64) -> Range {
    deviations.sort_by(f64::total_cmp);
    let cut = (deviations.len() as f64 * tail) as usize;
    let at = |i: usize| deviations.get(i).map_or(value, |d| value * d.exp());
    Range { from: at(cut), to: at(deviations.len().saturating_sub(cut + 1)) }
}

/// 97.5 % quantile of Student's distribution, by its series in 1 / degrees (Abramowitz and Stegun 26.7.5); error 0.3 % from 4 on.
fn student(degrees: f64) -> f64 {
    let (z, n) = (Z, degrees);
    let third = 3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z;
    z + (z.powi(3) + z) / (4.0 * n)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
        + third / (384.0 * n.powi(3))
}

/// For each block, cumulative counts by bucket.
struct Table<'a> {
    limits: &'a [(u64, u64)],
    /// For each block: number of values up to each bucket, that bucket included.
    rows: Vec<Vec<u32>>,
}

impl<'a> Table<'a> {
    fn of(blocks: &[Distribution], limits: &'a [(u64, u64)]) -> Table<'a> {
        let row = |block: &Distribution| {
            let mut row = Vec::with_capacity(limits.len());
            let (mut sum, mut buckets) = (0u32, block.buckets().peekable());
            for (lower, _) in limits {
                while let Some(bucket) = buckets.next_if(|b| b.lower <= *lower) {
                    sum = sum.saturating_add(u32::try_from(bucket.count).unwrap_or(u32::MAX));
                }
                row.push(sum);
            }
            row
        };
        Table { limits, rows: blocks.iter().map(row).collect() }
    }

    /// Number of values of the drawn blocks in the buckets up to `bucket`.
    fn up_to(&self, drawn: &[u32], bucket: usize) -> f64 {
        let sum: u64 = self.rows.iter().zip(drawn).map(|(row, n)| row[bucket] as u64 * *n as u64).sum();
        sum as f64
    }

    /// The percentile of the drawn blocks, assuming that values are spread evenly within a bucket.
    fn percentile(&self, drawn: &[u32], q: f64) -> f64 {
        let last = self.limits.len() - 1;
        let wanted = q * self.up_to(drawn, last);
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = (low + high) / 2;
            match self.up_to(drawn, middle) >= wanted {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        let before = if low == 0 { 0.0 } else { self.up_to(drawn, low - 1) };
        let within = (self.up_to(drawn, low) - before).max(1.0);
        let (lower, upper) = self.limits[low];
        let part = ((wanted - before) / within).clamp(0.0, 1.0);
        (lower as f64 + (upper - lower) as f64 * part).max(0.5)
    }

    /// Index of the bucket that contains `value`.
    fn bucket(&self, value: f64) -> usize {
        self.limits.partition_point(|(_, upper)| (*upper as f64) < value).min(self.limits.len() - 1)
    }

    /// Number of blocks with values from `value`'s bucket on, or with values up to it, whichever is smaller.
    fn beyond(&self, value: f64) -> usize {
        let bucket = self.bucket(value);
        let below = |row: &[u32]| if bucket == 0 { 0 } else { row[bucket - 1] };
        let above = self.rows.iter().filter(|row| below(row) < row[row.len() - 1]).count();
        above.min(self.rows.iter().filter(|row| row[bucket] > 0).count())
    }

    /// Correlation of the shares of values above `threshold` in neighbouring blocks: -1 to 1.
    fn correlation(&self, threshold: f64) -> f64 {
        let bucket = self.bucket(threshold);
        let share = |row: &Vec<u32>| row[bucket] as f64 / (*row.last().unwrap_or(&1)).max(1) as f64;
        let shares: Vec<f64> = self.rows.iter().map(share).collect();
        memory(&shares)
    }
}

/// Correlation of neighbours in a row: -1 to 1.
fn memory(row: &[f64]) -> f64 {
    let mean = row.iter().sum::<f64>() / row.len() as f64;
    let own: f64 = row.iter().map(|s| (s - mean).powi(2)).sum();
    let next: f64 = row.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    if own > 0.0 {
        next / own
    } else {
        0.0
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014): small, and good enough for drawing blocks.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, uniform except for `n` parts in 2^64.
    fn below(&mut self, n: usize) -> usize {
        ((self.next() as u128 * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests;
