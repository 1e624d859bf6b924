//! Parts and percentiles that several questions of the answer share.

/// The smallest part of a time that is visible at a glance (1/5): a cause that would save less does not explain why all of it is slow.
pub const WORTH_SEEING: f64 = 0.2;

/// A victim that waited for less than this part of the recording hardly noticed it.
pub(super) const NOTICED: f64 = 0.1;

/// At least half of a time counts as most of it.
pub(super) const MOSTLY: f64 = 0.5;

/// Quantiles of latencies that are reported: median and p99.
pub(super) const PERCENTILES: [f64; 2] = [0.5, 0.99];
