//! The difference of two readings of a counter: it goes up, wraps around, or restarted.
//!
//! Times in /proc/diskstats are printed as 32 bits of milliseconds on every kernel (block/genhd.c,
//! `diskstats_show`), so the weighted one wraps after some days; the other counters are as wide as a `long`, 32 bits
//! on 32-bit machines. A device that is recreated (loop, dm) begins at 0: several of its counters fall at once.

/// Where a 32-bit counter goes on from 0.
const WRAP: u64 = 1 << 32;
/// The most that a counter which wrapped may have gone up: half of its range, since more looks like going back.
const MOST_WRAPPED: u64 = WRAP / 2;
/// So many counters that fall at once did not all wrap in the same second.
const MOST_AT_ONCE: usize = 2;

/// How far counters went up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// Each of them.
    pub by: Vec<u64>,
    /// How many wrapped around.
    pub wrapped: u64,
}

/// How far the counters went up from `before` to `after`; `None` if they restarted. Those that only one side has are
/// left out; `gauge` is the place of one that is no counter and counts as 0.
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
