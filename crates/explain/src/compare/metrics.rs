//! The numbers of one kind of operation on both sides, with ranges if the order of the latencies is known.

use super::comparison::{Metric, Ranges};
use stats::{rare, Blocks, Distribution, Estimate, Rare};
use tooltext::Unit;
use trace::Nanos;

/// The percentiles that are compared.
pub(super) const PERCENTILES: [(&str, f64); 4] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];
/// The percentile of the better side from which on an operation is `slow`.
pub(super) const SLOW: f64 = 0.99;
/// An operation is an outlier from this many times the better side's p99 on: of another kind than the slowest usual ones, however uniform
/// that side is.
const OUTLIER: f64 = 2.0;
/// The name of the share of outliers.
pub(super) const OUTLIERS: &str = "outliers";
/// Why a mean has no range.
const FEW_DECIDE: &str = "a few slow operations decide it";
/// Why outliers have no range.
const NONE_THERE: &str = "neither side has any";
/// Why other numbers have no range.
const TOO_FEW: &str = "too few, or too clustered";
/// Seeds of the resampling: fixed, so that the same recordings give the same ranges; different, so that the two sides are independent.
const SEEDS: [u64; 2] = [0x6265_666f_7265, 0x0061_6674_6572];

/// The lost time of all operations.
pub(super) fn lost(of: [Nanos; 2]) -> Metric {
    time_of("lost".into(), of.map(|t| t.0 as f64), "a sum")
}

/// A time without a range, for the reason given.
pub(super) fn time_of(name: String, values: [f64; 2], no_range: &'static str) -> Metric {
    Metric { name, threshold: None, unit: Unit::Nanoseconds, values, ranges: None, no_range }
}

/// The percentiles of both sides, with ranges if the order of the latencies is known.
pub(super) fn latencies(
    named: impl Fn(&str) -> String,
    [before, after]: [&Distribution; 2],
    orders: Option<(&Blocks, &Blocks)>,
) -> Vec<Metric> {
    let one = |(metric, q): (&str, f64)| {
        let values = [before.quantile(q) as f64, after.quantile(q) as f64];
        let of = |order: &Blocks, side: usize| Estimate::percentile(order, q, SEEDS[side]).ok();
        let ranges = orders.and_then(|(b, a)| of(b, 0).zip(of(a, 1))).map(|both| ranges(both, values));
        Metric { ranges, ..time_of(named(metric), values, TOO_FEW) }
    };
    PERCENTILES.into_iter().map(one).collect()
}

/// The ranges of both sides and their ratio. The displayed value is a bucket's, while resampled values lie anywhere in the bucket; so a range
/// is widened to include the displayed value.
fn ranges((before, after): (Estimate, Estimate), shown: [f64; 2]) -> Ranges {
    let ratio = shown[1] / shown[0];
    let [of_95, of_99] = after.ratio_to(&before).map(|r| if ratio.is_finite() { r.with(ratio) } else { r });
    Ranges {
        before: before.range().with(shown[0]),
        after: after.range().with(shown[1]),
        ratio: of_95,
        ratio_99: of_99,
        blocks: [(before.blocks, before.block_length), (after.blocks, after.block_length)],
    }
}

/// The share of operations as slow as the slowest 1 % of the better side. If these occur in a few stalls, a percentile scatters over the
/// whole distance between stall and none; this share scatters much less.
pub(super) fn slow(orders: Option<(&Blocks, &Blocks)>, threshold: u64) -> Option<Metric> {
    let (before, after) = orders?;
    let of = |order: &Blocks, side: usize| Estimate::share_from(order, threshold, SEEDS[side]).ok();
    let (b, a) = of(before, 0).zip(of(after, 1))?;
    let values = [b.value, a.value];
    Some(Metric {
        name: "slow".into(),
        threshold: Some(threshold),
        unit: Unit::Share,
        values,
        ranges: Some(ranges((b, a), values)),
        no_range: TOO_FEW,
    })
}

/// The share of operations far slower than the slowest 1 % of the better side. If a side has too few to resample, their counts decide.
pub(super) fn outliers(orders: Option<(&Blocks, &Blocks)>, p99: u64) -> Option<Metric> {
    let (before, after) = orders?;
    let threshold = (p99 as f64 * OUTLIER) as u64;
    let of = |order: &Blocks, side: usize| Estimate::share_from(order, threshold, SEEDS[side]).ok();
    let drawn = of(before, 0).zip(of(after, 1)).map(|(b, a)| {
        let values = [b.value, a.value];
        (values, ranges((b, a), values))
    });
    let counted = || {
        rare([before, after], threshold).map(
            |Rare { shares, each: [before, after], ratio, ratio_99, blocks }| {
                (shares, Ranges { before, after, ratio, ratio_99, blocks })
            },
        )
    };
    let (values, ranges) = drawn.or_else(counted).map_or(([0.0; 2], None), |(values, r)| (values, Some(r)));
    let (name, threshold, unit) = (OUTLIERS.into(), Some(threshold), Unit::Share);
    Some(Metric { name, threshold, unit, values, ranges, no_range: NONE_THERE })
}

/// The mean of both sides.
pub(super) fn mean(name: String, [b, a]: [&Distribution; 2], orders: Option<(&Blocks, &Blocks)>) -> Metric {
    let of = |order: &Blocks, side: usize| Estimate::mean(order, SEEDS[side]).ok();
    let values = [b.mean(), a.mean()];
    let ranges = orders.and_then(|(b, a)| of(b, 0).zip(of(a, 1))).map(|both| ranges(both, values));
    Metric { ranges, ..time_of(name, values, FEW_DECIDE) }
}

/// All numbers of a log, as for a recording.
pub(super) fn of_order([before, after]: [&Blocks; 2]) -> Vec<Metric> {
    let (b, a, orders) = (before.all(), after.all(), Some((before, after)));
    let least = b.quantile(SLOW).min(a.quantile(SLOW));
    let mut metrics = latencies(str::to_owned, [&b, &a], orders);
    metrics.extend(slow(orders, least));
    metrics.extend(outliers(orders, least));
    metrics.push(time_of("max".into(), [b.max() as f64, a.max() as f64], "one operation"));
    metrics.push(mean("mean".into(), [&b, &a], orders));
    metrics
}
