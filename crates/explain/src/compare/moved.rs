//! How the time of a kind of operation moved: how much of it was gained and how much was lost.
//!
//! If the median is slower and the slowest are gone, both are true, and one may be a hundred times the other. Sort the operations of each side by
//! latency and compare those at the same quantile `q`: the areas between the two curves, above and below, are nanoseconds per mean
//! operation.

use super::outcome::Outcome;
use causes::MIN_SHARE;
use stats::Distribution;

/// Areas between the two curves, in nanoseconds per mean operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moved {
    /// Time gained by operations that became faster.
    pub faster: f64,
    /// Time lost by operations that became slower.
    pub slower: f64,
}

impl Moved {
    /// Compares two distributions that are not empty, with the resolution of their buckets.
    pub(super) fn of(before: &Distribution, after: &Distribution) -> Moved {
        let steps = |of: &Distribution| {
            let (all, max) = (of.count().max(1) as f64, of.max() as f64);
            let mut sum = 0;
            let buckets = of.buckets().map(move |b| {
                sum += b.count;
                (sum as f64 / all, ((b.lower as f64 + b.upper as f64) / 2.0).min(max))
            });
            buckets.collect::<Vec<_>>()
        };
        let (before, after) = (steps(before), steps(after));
        let (mut moved, mut at, mut b, mut a) = (Moved::default(), 0.0, 0, 0);
        while let (Some((to_b, one)), Some((to_a, other))) = (before.get(b), after.get(a)) {
            let to = to_b.min(*to_a);
            let area = (to - at) * (other - one);
            if area > 0.0 {
                moved.slower += area
            } else {
                moved.faster -= area
            }
            (at, b, a) = (to, b + usize::from(*to_b <= to), a + usize::from(*to_a <= to));
        }
        moved
    }

    /// Whether the time moved in this direction is less than [`MIN_SHARE`] of all that moved: then it says nothing about the whole.
    pub(super) fn is_slight(&self, outcome: Outcome) -> bool {
        let part = match outcome {
            Outcome::Better => self.faster,
            Outcome::Worse => self.slower,
            _ => return false,
        };
        part < MIN_SHARE * (self.faster + self.slower)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[(u64, u64)]) -> Distribution {
        let mut all = Distribution::new();
        values.iter().for_each(|(value, n)| all.record_n(*value, *n));
        all
    }

    #[test]
    fn areas_are_those_between_the_two_curves() {
        // Half of the operations go from 2000 to 1000, 1 in 100 from 4000 to 9000; the sides have different counts.
        let before = of(&[(2000, 198), (4000, 2)]);
        let after = of(&[(1000, 50), (2000, 49), (9000, 1)]);
        let moved = Moved::of(&before, &after);
        assert!((moved.faster - 500.0).abs() < 20.0 && (moved.slower - 50.0).abs() < 2.0, "{moved:?}");
        assert!(moved.is_slight(Outcome::Worse) && !moved.is_slight(Outcome::Better));
        assert_eq!(Moved::of(&before, &before), Moved::default());
    }

    /// Time gained minus time lost is the difference of the means.
    #[test]
    fn the_difference_of_the_areas_is_that_of_the_means() {
        let (before, after) = (of(&[(10, 7), (900, 3), (70_000, 1)]), of(&[(25, 90), (5000, 13)]));
        let moved = Moved::of(&before, &after);
        let means = before.mean() - after.mean();
        assert!((moved.faster - moved.slower - means).abs() < 0.02 * means, "{moved:?} {means}");
    }
}
