//! Parts of distributions, for causes that compare two kinds of requests.

use stats::Distribution;
use trace::Nanos;

/// How many values are at least `least`. A bucket counts if it reaches `least`: its values may be up to 0.8 % below.
pub(crate) fn at_least(d: &Distribution, least: u64) -> u64 {
    d.buckets().filter(|b| b.upper >= least).map(|b| b.count).sum()
}

/// The part of the first kind among the requests of two kinds that took at least `from`, 0 to 1.
pub(crate) fn part_of_slow(these: &Distribution, others: &Distribution, from: Nanos) -> f64 {
    let (these, others) = (at_least(these, from.0), at_least(others, from.0));
    these as f64 / (these + others).max(1) as f64
}
