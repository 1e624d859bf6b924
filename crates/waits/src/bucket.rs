//! Latency buckets: sixteen per power of two, so a bucket is at most 6.25 % wide. Each bucket also has its exact count and sum.

use serde::Serialize;
use std::fmt;
use std::ops::RangeFrom;
use trace::Nanos;

const PER_OCTAVE: u64 = 16;

/// Number of equal parts of a bucket in which operations are counted separately.
pub(crate) const QUARTERS: usize = 4;

/// The number of a latency bucket; numbers grow with latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Bucket(pub u16);

impl Bucket {
    /// Number of buckets.
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

    /// The smallest latency of the bucket, in nanoseconds.
    pub fn lower(self) -> Nanos {
        let (octave, place) = (u64::from(self.0) / PER_OCTAVE, u64::from(self.0) % PER_OCTAVE);
        Nanos(match octave {
            0 => place,
            _ => (PER_OCTAVE + place) << (octave - 1),
        })
    }

    /// The bucket of a latency and its quarter: quarters are the 64 parts per power of two by which all latencies are counted.
    #[inline]
    pub(crate) fn with_quarter(time: Nanos) -> (Bucket, usize) {
        let exponent = 63 - u64::from((time.0 | 1).leading_zeros());
        if exponent < 6 {
            // Buckets that are 1 or 2 wide.
            return (Bucket::of(time), (time.0 & (exponent / 5)) as usize);
        }
        // The 4 bits below the highest bit select the bucket, the next 2 bits the quarter.
        let fine = time.0 >> (exponent - 6);
        let bucket = (exponent - 3) * PER_OCTAVE + ((fine >> 2) & (PER_OCTAVE - 1));
        (Bucket(bucket as u16), fine as usize % QUARTERS)
    }

    /// The middle of a quarter; exact below 128 ns.
    pub(crate) fn middle(self, quarter: usize) -> Nanos {
        let octave = u64::from(self.0) / PER_OCTAVE;
        let wide = 1_u64 << octave.saturating_sub(3);
        Nanos(self.lower().0 + quarter as u64 * wide + (wide - 1).div_ceil(2))
    }

    /// Its index in arrays.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Values by bucket: direct access by bucket, iteration in order of latency.
#[derive(Clone)]
pub struct ByBucket<T> {
    /// Index of a bucket's value plus 1; 0 if there is none.
    places: Vec<u16>,
    values: Vec<(Bucket, T)>,
}

impl<T> Default for ByBucket<T> {
    fn default() -> ByBucket<T> {
        ByBucket { places: Vec::new(), values: Vec::new() }
    }
}

impl<T: PartialEq> PartialEq for ByBucket<T> {
    fn eq(&self, other: &ByBucket<T>) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for ByBucket<T> {}

impl<T: fmt::Debug> fmt::Debug for ByBucket<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<T: Default> ByBucket<T> {
    /// The value of a bucket; creates it if it is missing.
    #[inline]
    pub fn at(&mut self, bucket: Bucket) -> &mut T {
        let place = self.places.get(bucket.index()).copied().unwrap_or(0);
        let place = if place > 0 { place } else { self.add(bucket) };
        &mut self.values[place as usize - 1].1
    }

    #[cold]
    fn add(&mut self, bucket: Bucket) -> u16 {
        if self.places.len() <= bucket.index() {
            self.places.resize(bucket.index() + 1, 0);
        }
        self.values.push((bucket, T::default()));
        self.places[bucket.index()] = self.values.len() as u16;
        self.values.len() as u16
    }
}

impl<T> ByBucket<T> {
    /// The value of a bucket, if there is one.
    pub fn get(&self, bucket: &Bucket) -> Option<&T> {
        let place = self.places.get(bucket.index()).copied()?;
        Some(&self.values[(place as usize).checked_sub(1)?].1)
    }

    /// All values, in order of latency.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Bucket, &T)> {
        self.range(Bucket(0)..)
    }

    /// The values from a bucket on, in order of latency.
    pub fn range(&self, from: RangeFrom<Bucket>) -> impl DoubleEndedIterator<Item = (&Bucket, &T)> {
        let places = self.places.get(from.start.index()..).unwrap_or_default();
        places.iter().filter(|p| **p > 0).map(|p| {
            let (bucket, value) = &self.values[*p as usize - 1];
            (bucket, value)
        })
    }

    /// All values without their buckets, in order of latency.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.iter().map(|(_, value)| value)
    }

    /// All values, unsorted.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.values.iter_mut().map(|(_, value)| value)
    }

    /// Number of buckets with a value.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether no bucket has a value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl<'a, T> IntoIterator for &'a ByBucket<T> {
    type Item = (&'a Bucket, &'a T);
    type IntoIter = Box<dyn Iterator<Item = Self::Item> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_quarter_is_at_most_a_128th_off() {
        for v in (0..5000).chain([1 << 20, (1 << 40) + 7, u64::MAX]) {
            let (bucket, quarter) = Bucket::with_quarter(Nanos(v));
            let middle = bucket.middle(quarter).0;
            assert!(bucket == Bucket::of(Nanos(v)) && middle.abs_diff(v) <= v / 128, "{v}: {middle}");
        }
    }

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
