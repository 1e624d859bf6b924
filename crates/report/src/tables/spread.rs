//! The columns of a distribution.

use super::table::Value;
use stats::Distribution;

/// Keys and headings of the columns that [`spread`] fills.
pub(super) const SPREAD: [(&str, &str); 8] = [
    ("count", "count"),
    ("min_ns", "min"),
    ("mean_ns", "mean"),
    ("p50_ns", "p50"),
    ("p90_ns", "p90"),
    ("p99_ns", "p99"),
    ("p999_ns", "p99.9"),
    ("max_ns", "max"),
];

/// The number of values, and their minimum, mean, percentiles and maximum.
pub(super) fn spread(d: &Distribution) -> Vec<Value> {
    let s = d.summary();
    let times = [s.min, s.mean, s.p50, s.p90, s.p99, s.p999, s.max];
    [Value::Count(d.count())].into_iter().chain(times.map(Value::Time)).collect()
}
