//! Distribution of a quantity (a latency in nanoseconds, a size in bytes) in log-linear integer buckets.
//!
//! Each power of two is divided into 64 buckets of equal width. Two distributions over the same buckets are merged by
//! adding counts, so the distribution of A merged with that of B **is** the distribution of A followed by B: there is
//! no order, no sampling, and no approximation that depends on the order of merging.
//!
//! # Error of a percentile
//!
//! Write a value of at least 64 in binary: `1xxxxxx yyy...`, a leading one, six bits that choose the bucket, and `s`
//! bits below them that the bucket forgets. Values of one bucket differ only in those `s` bits: the bucket is `2^s`
//! wide, and its smallest value is at least `64 * 2^s`. A percentile is reported as the bucket's middle,
//! `lower + 2^s / 2`, so it is off by at most half a width:
//!
//! ```text
//! |reported - true| / true  <=  (2^s / 2) / (64 * 2^s)  =  1 / 128  =  0.78 %
//! ```
//!
//! Values below 128 have `s = 0` and are exact. So are count, sum, minimum and maximum, and with them the mean.
//!
//! ```text
//! 1000 = 1 111101 000    six bits 111101 = 61, s = 3:  bucket 1000..=1007, reported as 1004 (0.4 % off)
//! ```
//!
//! An octave's 64 counts are allocated when a first value falls into it: an empty distribution takes under 600 bytes,
//! one that spans 64 us to 4 ms about 3 KB more, the widest possible 30 KB.

use serde::{de, Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Bits that choose the bucket within its power of two.
const SUB_BITS: u32 = 6;
/// Buckets in each power of two.
const SUBS: usize = 1 << SUB_BITS;
/// Rows of 64 buckets: one for 0..64, then one for each power of two from 2^6 to 2^63.
const OCTAVES: usize = 64 - SUB_BITS as usize + 1;

/// Counts of `u64` values in log-linear buckets; the module's documentation has the error bound.
///
/// The unit is whatever the caller recorded (nanoseconds, bytes, sectors). Counts and the sum saturate instead of
/// wrapping. All statistics of an empty distribution are 0.
#[derive(Clone, PartialEq, Eq)]
pub struct Distribution {
    count: u64,
    sum: u128,
    /// `u64::MAX` while empty, so that `min` needs no special case.
    least: u64,
    greatest: u64,
    /// Never `Some` with all counts 0, so that equality of contents is equality of fields.
    octaves: [Option<Box<[u64; SUBS]>>; OCTAVES],
}

/// A bucket that is not empty: `count` values were in `lower..=upper`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bucket {
    /// The smallest value of the bucket.
    pub lower: u64,
    /// The largest value of the bucket.
    pub upper: u64,
    /// Number of values in the bucket.
    pub count: u64,
}

/// The main numbers of a distribution, in the unit that was recorded. All 0 if nothing was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// The smallest value, exact.
    pub min: u64,
    /// The mean, exact to rounding.
    pub mean: u64,
    /// Half of the values are at most this.
    pub p50: u64,
    /// 90 % are at most this.
    pub p90: u64,
    /// 99 % are at most this.
    pub p99: u64,
    /// 99.9 % are at most this.
    pub p999: u64,
    /// The largest value, exact.
    pub max: u64,
}

impl Default for Distribution {
    fn default() -> Self {
        Distribution { count: 0, sum: 0, least: u64::MAX, greatest: 0, octaves: [const { None }; OCTAVES] }
    }
}

/// Row and column of `value`'s bucket. See the module's documentation for the arithmetic.
#[inline]
fn place(value: u64) -> (usize, usize) {
    // Setting the low bits puts all of 0..64 into row 0 without a branch.
    let row = (u64::BITS - SUB_BITS) - (value | (SUBS as u64 - 1)).leading_zeros();
    let forgotten = row.saturating_sub(1);
    (row as usize, (value >> forgotten) as usize & (SUBS - 1))
}

/// The smallest and the largest value of the bucket at (row, column): the inverse of [`place`].
fn bounds(row: usize, column: usize) -> (u64, u64) {
    if row == 0 {
        return (column as u64, column as u64);
    }
    let forgotten = row as u32 - 1;
    let lower = (SUBS as u64 + column as u64) << forgotten;
    (lower, lower | ((1 << forgotten) - 1))
}

impl Distribution {
    /// An empty distribution.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.record_n(value, 1);
    }

    /// Counts the same value `n` times; with `n` = 0 nothing happens.
    #[inline]
    pub fn record_n(&mut self, value: u64, n: u64) {
        if n == 0 {
            return;
        }
        self.count = self.count.saturating_add(n);
        self.sum = self.sum.saturating_add(value as u128 * n as u128);
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
        let (row, column) = place(value);
        let cell = &mut self.octaves[row].get_or_insert_with(|| Box::new([0; SUBS]))[column];
        *cell = cell.saturating_add(n);
    }

    /// Adds what `other` counted. Afterwards `self` is what it would be, had it recorded all of `other`'s values.
    pub fn merge(&mut self, other: &Distribution) {
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
        for (mine, theirs) in self.octaves.iter_mut().zip(&other.octaves) {
            match (mine, theirs) {
                (_, None) => {}
                (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
                (Some(mine), Some(theirs)) => {
                    mine.iter_mut().zip(theirs.iter()).for_each(|(a, b)| *a = a.saturating_add(*b));
                }
            }
        }
    }

    /// Number of values recorded.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The exact sum of all values.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The exact smallest value; 0 if there is none.
    pub fn min(&self) -> u64 {
        if self.is_empty() {
            0
        } else {
            self.least
        }
    }

    /// The exact largest value; 0 if there is none.
    pub fn max(&self) -> u64 {
        self.greatest
    }

    /// The mean of all values; 0 if there is none.
    pub fn mean(&self) -> f64 {
        if self.is_empty() {
            0.0
        } else {
            self.sum as f64 / self.count as f64
        }
    }

    /// The value at quantile `q` (0.99 for p99) by nearest rank: the smallest value that at least `q` of all values do
    /// not exceed. Off by at most 1/128, and never outside `min()..=max()`; `quantile(1.0)` is `max()`.
    /// A `q` outside 0..=1 is taken as the nearer of the two, NaN as 0.
    pub fn quantile(&self, q: f64) -> u64 {
        let rank = nearest_rank(q, self.count);
        if rank <= 1 {
            return self.min();
        }
        if rank == self.count {
            return self.max();
        }
        let mut seen = 0u64;
        for bucket in self.buckets() {
            seen = seen.saturating_add(bucket.count);
            if seen >= rank {
                let width_less_one = bucket.upper - bucket.lower;
                let middle = bucket.lower + width_less_one.div_ceil(2);
                return middle.clamp(self.min(), self.max());
            }
        }
        self.max()
    }

    /// The buckets that are not empty, from the smallest values to the largest.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        let rows = self.octaves.iter().enumerate().filter_map(|(row, cells)| Some((row, cells.as_ref()?)));
        rows.flat_map(|(row, cells)| {
            cells.iter().enumerate().filter(|(_, &count)| count > 0).map(move |(column, &count)| {
                let (lower, upper) = bounds(row, column);
                Bucket { lower, upper, count }
            })
        })
    }

    /// The main numbers.
    pub fn summary(&self) -> Summary {
        Summary {
            min: self.min(),
            // It fits: a mean is not above the maximum, unless the count saturated.
            mean: u64::try_from(self.sum.saturating_add(self.count as u128 / 2) / self.count.max(1) as u128)
                .unwrap_or(self.greatest),
            p50: self.quantile(0.5),
            p90: self.quantile(0.9),
            p99: self.quantile(0.99),
            p999: self.quantile(0.999),
            max: self.max(),
        }
    }
}

/// `ceil(q * count)`, the rank of quantile `q` among `count` values, counted from 1.
///
/// Binary fractions miss decimal ones by a hair (0.07 * 100 is 7.000000000000001), which must not cost a rank.
fn nearest_rank(q: f64, count: u64) -> u64 {
    let exact = q.clamp(0.0, 1.0) * count as f64;
    let whole = exact.round();
    let rank = if (exact - whole).abs() <= whole * f64::EPSILON * 4.0 { whole } else { exact.ceil() };
    (rank as u64).min(count)
}

impl fmt::Debug for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let buckets: Vec<_> = self.buckets().map(|b| (b.lower, b.count)).collect();
        f.debug_struct("Distribution")
            .field("count", &self.count)
            .field("sum", &self.sum)
            .field("min", &self.min())
            .field("max", &self.max())
            .field("buckets", &buckets)
            .finish()
    }
}

impl<V: Into<u64>> Extend<V> for Distribution {
    fn extend<I: IntoIterator<Item = V>>(&mut self, values: I) {
        values.into_iter().for_each(|v| self.record(v.into()));
    }
}

impl<V: Into<u64>> FromIterator<V> for Distribution {
    fn from_iter<I: IntoIterator<Item = V>>(values: I) -> Self {
        let mut d = Distribution::new();
        d.extend(values);
        d
    }
}

/// The written form: only buckets with something in them, as `[lower, count]`. The sum is a decimal string, since it
/// may exceed what readers of JSON hold.
#[derive(Serialize, Deserialize)]
struct Written {
    count: u64,
    sum: String,
    min: u64,
    max: u64,
    buckets: Vec<(u64, u64)>,
}

impl Serialize for Distribution {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Written {
            count: self.count,
            sum: self.sum.to_string(),
            min: self.min(),
            max: self.max(),
            buckets: self.buckets().map(|b| (b.lower, b.count)).collect(),
        }
        .serialize(to)
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let w = Written::deserialize(from)?;
        read(&w).map_err(|why| de::Error::custom(format!("not a distribution: {why}")))
    }
}

/// Rebuilds a distribution; an error if no sequence of values can have made it.
fn read(w: &Written) -> Result<Distribution, String> {
    let sum: u128 = w.sum.parse().map_err(|e| format!("sum {:?}: {e}", w.sum))?;
    let mut d = Distribution::new();
    let mut most = 0u128;
    let mut next = 0u64;
    for &(lower, count) in &w.buckets {
        let (row, column) = place(lower);
        let (start, upper) = bounds(row, column);
        if start != lower {
            return Err(format!("no bucket starts at {lower}; the one it lies in starts at {start}"));
        }
        if count == 0 || (lower < next) {
            return Err(format!("bucket {lower} is empty, repeated or out of order"));
        }
        next = upper.saturating_add(1);
        most = most.saturating_add(upper as u128 * count as u128);
        d.record_n(lower, count);
    }
    if d.count != w.count {
        return Err(format!("the buckets hold {} values, count says {}", d.count, w.count));
    }
    if d.is_empty() {
        return if (sum, w.min, w.max) == (0, 0, 0) {
            Ok(d)
        } else {
            Err("empty, yet sum, min or max is not 0".into())
        };
    }
    // `d` holds the smallest value of each bucket, so its sum is the least that is possible.
    if !(d.sum..=most).contains(&sum) {
        return Err(format!("sum {sum} does not fit the buckets ({} to {most})", d.sum));
    }
    if w.min > w.max || place(w.min) != place(d.least) || place(w.max) != place(d.greatest) {
        return Err(format!("min {} or max {} lies outside the first or last bucket", w.min, w.max));
    }
    Ok(Distribution { sum, least: w.min, greatest: w.max, ..d })
}

#[cfg(test)]
mod tests;
