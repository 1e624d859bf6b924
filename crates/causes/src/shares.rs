//! Parts of distributions, for causes that tell two kinds of requests apart.

use stats::Distribution;
use trace::Nanos;

/// How many are at least so large. A bucket counts by its lower end, which is at most 0.8 % below what is in it.
pub(crate) fn at_least(d: &Distribution, least: u64) -> u64 {
    d.buckets().filter(|b| b.upper >= least).map(|b| b.count).sum()
}

/// Of the requests of two kinds that took at least so long, the part of the first kind, 0 to 1.
pub(crate) fn part_of_slow(these: &Distribution, others: &Distribution, from: Nanos) -> f64 {
    let (these, others) = (at_least(these, from.0), at_least(others, from.0));
    these as f64 / (these + others).max(1) as f64
}
