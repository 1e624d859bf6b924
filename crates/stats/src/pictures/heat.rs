//! Latency counts for one column of a heat map. The buckets are like those of [`Distribution`](crate::Distribution),
//! but with only 16 in each power of two, and empty ones are not stored.
//!
//! The error of a value is at most 1/32, half of what is visible in a picture of 20 powers of two.

use smallvec::SmallVec;
use trace::Nanos;

/// Bits that choose the bucket within its power of two.
const SUB_BITS: u32 = 4;
/// Buckets in each power of two.
pub const HEAT_BUCKETS: u64 = 1 << SUB_BITS;

/// Counts by bucket, in ascending order of latency.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heat {
    counts: SmallVec<[(u16, u32); 2]>,
}

/// The bucket of a latency. Example: 1000 ns without its last 5 bits is 31, so its bucket is 5 * 16 + 31 = 111.
#[inline]
pub fn heat_bucket(latency: Nanos) -> u16 {
    let v = latency.0;
    let forgotten = (u64::BITS - SUB_BITS - 1).saturating_sub((v | HEAT_BUCKETS).leading_zeros());
    (u64::from(forgotten) * HEAT_BUCKETS + (v >> forgotten)) as u16
}

/// The smallest latency of a bucket.
pub fn heat_lower(bucket: u16) -> Nanos {
    let bucket = u64::from(bucket);
    let forgotten = (bucket / HEAT_BUCKETS).saturating_sub(1);
    Nanos((bucket - forgotten * HEAT_BUCKETS) << forgotten)
}

impl Heat {
    /// Counts one latency.
    #[inline]
    pub fn record(&mut self, latency: Nanos) {
        self.add(heat_bucket(latency), 1);
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Heat) {
        other.counts.iter().for_each(|(bucket, n)| self.add(*bucket, *n));
    }

    /// Bucket and count of each bucket that is not empty, in order.
    pub fn counts(&self) -> &[(u16, u32)] {
        &self.counts
    }

    fn add(&mut self, bucket: u16, n: u32) {
        match self.counts.binary_search_by_key(&bucket, |c| c.0) {
            Ok(at) => self.counts[at].1 = self.counts[at].1.saturating_add(n),
            Err(at) => self.counts.insert(at, (bucket, n)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_one_another_and_hold_what_they_say() {
        assert_eq!(heat_bucket(Nanos(1000)), 111);
        let mut values: Vec<u64> =
            (0..64).flat_map(|s| [1u64 << s, (1u64 << s) + 1, (1u64 << s) - 1]).collect();
        values.extend([0, 1000, 123_456_789, u64::MAX]);
        values.sort_unstable();
        let mut before = 0;
        for v in values {
            let (bucket, lower) = (heat_bucket(Nanos(v)), heat_lower(heat_bucket(Nanos(v))).0);
            assert!(lower <= v && v - lower <= v / HEAT_BUCKETS, "{v}: {lower}");
            assert!(bucket >= before, "{v}");
            assert_eq!(heat_bucket(Nanos(lower)), bucket);
            before = bucket;
        }
    }

    #[test]
    fn merging_adds() {
        let of = |values: &[u64]| {
            let mut h = Heat::default();
            values.iter().for_each(|v| h.record(Nanos(*v)));
            h
        };
        let mut a = of(&[5, 900, 1000, 1000]);
        a.merge(&of(&[1000, 70_000]));
        assert_eq!(a, of(&[70_000, 5, 1000, 900, 1000, 1000]));
    }
}
