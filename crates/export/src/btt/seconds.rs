//! Times as btt writes them.

use trace::Nanos;

/// The time in seconds as btt computes it, so that the last digit is the same.
pub(super) fn seconds(t: Nanos) -> f64 {
    (t.0 / Nanos::SECOND.0) as f64 + (t.0 % Nanos::SECOND.0) as f64 / 1e9
}
