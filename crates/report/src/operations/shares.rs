//! Rounds durations to whole microseconds so that they visibly add up, by the method of the largest remainder.
//!
//! Each part is cut to whole microseconds; the microseconds that are missing to the whole go, one each, to the parts
//! that lost most by the cut. So every number shown is less than a microsecond off, and the lines of a level sum to
//! the line above them, digit by digit.
//!
//! ```text
//! 1.0006 + 1.0006 + 1.0003 ms = 3.0015, shown as 3.002: 1.001 + 1.001 + 1.000
//! ```

use trace::Nanos;

/// A duration in microseconds, rounded to the nearest.
pub fn whole(total: Nanos) -> u64 {
    total.0.saturating_add(500) / 1000
}

/// The parts in microseconds; they sum to `whole`, the sum of `parts` rounded up or down.
pub fn shares(whole: u64, parts: &[Nanos]) -> Vec<u64> {
    let mut shown: Vec<u64> = parts.iter().map(|t| t.0 / 1000).collect();
    let missing = whole.saturating_sub(shown.iter().sum());
    let mut by_cut: Vec<usize> = (0..parts.len()).collect();
    by_cut.sort_by_key(|at| std::cmp::Reverse(parts[*at].0 % 1000));
    for at in by_cut.into_iter().take(usize::try_from(missing).unwrap_or(usize::MAX)) {
        shown[at] += 1;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_sum_to_the_whole_and_none_is_a_microsecond_off(
            parts in proptest::collection::vec(0u64..5_000_000, 1..40),
            up: bool,
        ) {
            let sum: u64 = parts.iter().sum();
            let whole = if up { sum.div_ceil(1000) } else { sum / 1000 };
            let parts: Vec<Nanos> = parts.into_iter().map(Nanos).collect();
            let shown = shares(whole, &parts);
            prop_assert_eq!(shown.iter().sum::<u64>(), whole);
            for (shown, part) in shown.iter().zip(&parts) {
                prop_assert!((shown * 1000).abs_diff(part.0) < 1000);
            }
        }
    }
}
