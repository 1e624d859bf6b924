//! Percentiles of quiet samples: durations in buckets 1/8 of an octave wide, so percentiles are at most 9 % off.

use trace::Nanos;

/// Minimal number of quiet samples: the median of ten lies between the second and the ninth in 98 of 100 cases
/// (binomial, n = 10, p = 1/2).
pub const MIN_QUIET: u32 = 10;

/// The quantile that is never an outlier: 1 in 10 requests takes at least that long.
const OFTEN: f64 = 0.9;

const PER_OCTAVE: u64 = 8;
const BUCKETS: usize = 320;

/// The latency of requests of one shape alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quiet {
    /// The median.
    pub p50: Nanos,
    /// The maximum of usual latencies: the p99 without outliers.
    pub most: Nanos,
    /// Number of samples of this very shape; 0 if another shape stands in.
    pub samples: u32,
}

/// Number of durations by bucket.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    counts: Vec<u32>,
    pub count: u32,
    /// The value of `count` at which the percentiles are computed next.
    next: u32,
    pub quiet: Option<Quiet>,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: vec![0; BUCKETS], count: 0, next: MIN_QUIET, quiet: None }
    }
}

fn bucket(v: u64) -> usize {
    if v < PER_OCTAVE {
        return v as usize;
    }
    let octave = 63 - v.leading_zeros() as u64;
    let place = (octave - 2) * PER_OCTAVE + ((v >> (octave - 3)) & (PER_OCTAVE - 1));
    (place as usize).min(BUCKETS - 1)
}

/// The end of a bucket.
fn upper(bucket: usize) -> u64 {
    let (octave, place) = (bucket as u64 / PER_OCTAVE, bucket as u64 % PER_OCTAVE);
    match octave {
        0 => place,
        _ => (PER_OCTAVE + place + 1) << (octave - 1),
    }
}

/// The middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let (octave, place) = (bucket as u64 / PER_OCTAVE, bucket as u64 % PER_OCTAVE);
    match octave {
        0 => place,
        _ => ((2 * (PER_OCTAVE + place) + 1) << (octave - 1)) / 2,
    }
}

impl Histogram {
    /// Adds a duration; returns whether the percentiles changed.
    pub fn add(&mut self, time: Nanos) -> bool {
        let count = &mut self.counts[bucket(time.0)];
        *count = count.saturating_add(1);
        self.count = self.count.saturating_add(1);
        if self.count < self.next {
            return false;
        }
        self.next = self.count.saturating_add(self.count / 8).saturating_add(1);
        self.quiet = Some(Quiet { p50: self.at(0.5), most: self.most(), samples: self.count });
        true
    }

    /// The lower one of the p99 and Tukey's outer fence (the upper quartile plus three times the distance of the quartiles): a device
    /// that stalls on 1 request in 50 does not normally vary by that. A time that 1 in 10 requests takes is no stall, whatever the others
    /// take: a disk either continues at the head position or has to turn.
    fn most(&self) -> Nanos {
        let [p25, p50, p75] = [0.25, 0.5, 0.75].map(|part| self.at(part).0);
        let fence = p75 + 3 * (p75 - p25);
        let often = upper(self.bucket_at(OFTEN));
        Nanos(upper(self.bucket_at(0.99)).min(fence.max(2 * p50).max(often)))
    }

    pub fn at(&self, part: f64) -> Nanos {
        Nanos(middle(self.bucket_at(part)))
    }

    fn bucket_at(&self, part: f64) -> usize {
        let wanted = (f64::from(self.count) * part).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, n) in self.counts.iter().enumerate() {
            seen += u64::from(*n);
            if seen >= wanted {
                return bucket;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_its_middle() {
        for v in (0..4000).chain([1 << 20, (1 << 30) + 12345]) {
            let m = middle(bucket(v));
            assert!(m.abs_diff(v) * 14 <= v.max(14), "{v}: {m}");
        }
    }

    #[test]
    fn a_bucket_ends_where_the_next_begins() {
        for v in (PER_OCTAVE..4000).chain([1 << 20, (1 << 30) + 12345]) {
            let end = upper(bucket(v));
            assert!(end > v, "{v}: {end}");
            assert_eq!((bucket(end - 1), bucket(end)), (bucket(v), bucket(v) + 1), "{v}");
        }
    }

    /// The maximum of usual latencies in 1/10 ms. `samples`: pairs of ms and number of requests.
    fn most(samples: &[(u64, u32)]) -> u64 {
        let mut all = Histogram::default();
        for (ms, count) in samples {
            (0..*count).for_each(|_| {
                all.add(Nanos(ms * 1_000_000));
            });
        }
        all.most().0 / 100_000
    }

    #[test]
    fn outliers_are_not_usual() {
        // All the same but for 2 of 100: twice the median.
        assert!((18..=22).contains(&most(&[(1, 98), (50, 2)])), "{}", most(&[(1, 98), (50, 2)]));
        // Quartiles at 1 and 3 ms: 3 ms plus three times 2 ms.
        let scattered = most(&[(1, 30), (2, 30), (3, 35), (50, 5)]);
        assert!((80..=100).contains(&scattered), "{scattered}");
        // If 1 in 7 takes 15 ms, that is usual; if 1 in 20 does, it is not.
        assert!((150..=165).contains(&most(&[(2, 85), (15, 15)])), "{}", most(&[(2, 85), (15, 15)]));
        assert!((36..=44).contains(&most(&[(2, 95), (15, 5)])), "{}", most(&[(2, 95), (15, 5)]));
        // 99 of 100 take less than that.
        let even = most(&[(1, 25), (2, 25), (3, 25), (4, 25)]);
        assert!((40..=47).contains(&even), "{even}");
    }
}
