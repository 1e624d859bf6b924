//! Latency buckets: sixteen per power of two, so a bucket is at most 6.25 % wide. A bucket's exact count and sum stand beside it.

use serde::Serialize;
use trace::Nanos;

const PER_OCTAVE: u64 = 16;

/// A bucket of latencies, by number; numbers grow with latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Bucket(pub u16);

impl Bucket {
    /// How many there are.
    pub const COUNT: usize = 16 * 61;

    /// The bucket of a latency. Example: 1000 ns is 1.953 x 2^9: the sixteenth of the octave that begins at 512.
    #[inline]
    pub fn of(time: Nanos) -> Bucket {
        let v = time.0;
        if v < PER_OCTAVE {
            return Bucket(v as u16);
        }
        let exponent = 63 - u64::from(v.leading_zeros());
        Bucket(((exponent - 3) * PER_OCTAVE + ((v >> (exponent - 4)) & (PER_OCTAVE - 1))) as u16)
    }

    /// Its smallest latency.
    pub fn lower(self) -> Nanos {
        let (octave, place) = (u64::from(self.0) / PER_OCTAVE, u64::from(self.0) % PER_OCTAVE);
        Nanos(match octave {
            0 => place,
            _ => (PER_OCTAVE + place) << (octave - 1),
        })
    }

    /// Its place in arrays.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_begins_at_most_a_sixteenth_below() {
        for v in (0..5000).chain([1 << 20, (1 << 40) + 7, u64::MAX]) {
            let b = Bucket::of(Nanos(v));
            let low = b.lower().0;
            assert!(b.index() < Bucket::COUNT && low <= v && v - low <= v / 16, "{v}: {low}");
            assert_eq!(Bucket::of(Nanos(low)), b);
        }
    }
}
