//! Computes the difference of two readings of a counter, which may have increased, wrapped or restarted.
//!
//! Times in /proc/diskstats are printed as 32-bit milliseconds on every kernel (block/genhd.c,
//! `diskstats_show`), so the weighted time wraps after some days; other counters have the width of a `long`, 32 bits
//! on 32-bit machines. A device that is recreated (loop, dm) starts at 0: several of its counters fall at once.

/// The modulus of a 32-bit counter.
const WRAP: u64 = 1 << 32;
/// Largest plausible increase of a wrapped counter: half of its range; more looks like a decrease.
const MOST_WRAPPED: u64 = WRAP / 2;
/// Most counters that may wrap at once: if more fall, they restarted.
const MOST_AT_ONCE: usize = 2;

/// The increases of a device's counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// The increase of each counter.
    pub by: Vec<u64>,
    /// Number of counters that wrapped.
    pub wrapped: u64,
}

/// The increases of the counters from `before` to `after`; `None` if they restarted. Counters that only one side has are
/// left out; `gauge` is the index of a value that is no counter and counts as 0.
pub fn gone(before: &[u64], after: &[u64], gauge: usize) -> Option<Gone> {
    let mut by = Vec::with_capacity(after.len());
    let mut wrapped = 0;
    for (i, (&b, &a)) in before.iter().zip(after).enumerate() {
        by.push(match a.checked_sub(b) {
            _ if i == gauge => 0,
            Some(difference) => difference,
            None => {
                wrapped += 1;
                a.checked_add(WRAP)?.checked_sub(b).filter(|n| *n <= MOST_WRAPPED)?
            }
        });
    }
    (wrapped <= MOST_AT_ONCE).then_some(Gone { by, wrapped: wrapped as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_around_and_anew() {
        let by = |b: &[u64], a: &[u64]| gone(b, a, 2).map(|g| (g.by, g.wrapped));
        assert_eq!(by(&[5, 5, 5], &[7, 5, 4]), Some((vec![2, 0, 0], 0)), "a gauge may fall");
        assert_eq!(by(&[WRAP - 10], &[20]), Some((vec![30], 1)));
        assert_eq!(by(&[WRAP - 1, WRAP - 1, 0, 7], &[0, 0, 0, 8]), Some((vec![1, 1, 0, 1], 2)));
        assert_eq!(by(&[1000], &[3]), None, "it began anew");
        assert_eq!(by(&[WRAP + 1], &[0]), None, "a 64-bit counter does not wrap");
        assert_eq!(by(&[WRAP - 1, WRAP - 1, 0, WRAP - 1], &[0, 0, 0, 0]), None, "all at once: anew");
        assert_eq!(by(&[0, u64::MAX], &[u64::MAX, 0]), None);
        assert_eq!(by(&[1, 2, 3], &[1]), Some((vec![0], 0)));
    }
}
