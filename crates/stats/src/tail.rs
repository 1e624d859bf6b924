//! The tail: the slowest operations, and where their time went.
//!
//! Who is slow is known only when all is read; to learn then why would take a second reading, which a pipe does not
//! allow. So the ledgers of all operations are added up as they end, in one roll-up per latency bucket. The tail is
//! the sum of the buckets from the threshold on: exact, since whole buckets are taken, in one pass and in memory
//! that depends on the number of buckets only. The threshold is a bucket's lower end, at most 0.8 % below the
//! percentile that was asked for.

use ledger::{Ledger, RollUp};
use serde::Serialize;
use trace::{Bytes, Nanos};

/// Buckets per power of two, as in [`Distribution`](crate::Distribution).
const PER_OCTAVE: usize = 64;
const OCTAVES: usize = 59;

/// The time of some operations, by reason and by what else went on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TailTime {
    /// By reason.
    pub time: RollUp,
    /// The part of `device` in which the device was flooded with background writes.
    pub flooded: Nanos,
    /// The part of `scheduler` of operations that background writes overtook there.
    pub overtaken: Nanos,
    /// The part of `scheduler` in which the driver took nothing.
    pub refused: Nanos,
    /// How many background writes overtook them in the scheduler.
    pub overtakers: u64,
    /// The part of `get request` of operations that found the device full: no tag was free.
    pub tagless: Nanos,
    /// The part of that in which it was full.
    pub full: Nanos,
    /// How many operations found it so.
    pub no_tag: u64,
    /// Other requests that the device completed while it had theirs.
    pub served: u64,
    /// The part of `device` in which the device served those that were there before.
    pub behind: Nanos,
    /// The part of `device` of operations that were cut into several requests.
    pub split_device: Nanos,
    /// The part of `device` of writes that are not whole blocks ([`unaligned`](crate::unaligned)).
    pub unaligned: Nanos,
    /// The part of `device` in which the device was done, and no processor had come to complete it yet.
    pub late: Nanos,
    /// How many operations were cut.
    pub split: u64,
    /// Pieces of these.
    pub pieces: u64,
    /// Bytes of these.
    pub split_bytes: Bytes,
}

impl TailTime {
    /// Adds others.
    pub fn merge(&mut self, o: &TailTime) {
        self.time.merge(&o.time);
        self.flooded += o.flooded;
        self.overtaken += o.overtaken;
        self.refused += o.refused;
        self.overtakers += o.overtakers;
        self.tagless += o.tagless;
        self.full += o.full;
        self.no_tag += o.no_tag;
        self.served += o.served;
        self.behind += o.behind;
        self.split_device += o.split_device;
        self.unaligned += o.unaligned;
        self.late += o.late;
        self.split += o.split;
        self.pieces += o.pieces;
        self.split_bytes += o.split_bytes;
    }
}

/// All operations of a group by latency.
#[derive(Clone, Debug)]
pub struct Tail {
    octaves: Vec<Option<Box<[TailTime; PER_OCTAVE]>>>,
    count: u64,
}

impl Default for Tail {
    fn default() -> Tail {
        Tail { octaves: vec![None; OCTAVES], count: 0 }
    }
}

/// The slowest operations of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Slowest {
    /// Operations at least this slow are in it.
    pub threshold: Nanos,
    /// Their time.
    pub sum: TailTime,
}

impl Tail {
    /// The place of the operation's time; the caller adds to it what it knows besides.
    #[inline]
    pub fn record(&mut self, ledger: &Ledger) -> &mut TailTime {
        self.count += 1;
        let (octave, bucket) = place(ledger.total().0);
        let row = self.octaves[octave].get_or_insert_with(|| Box::new([TailTime::default(); PER_OCTAVE]));
        row[bucket].time.add(ledger);
        &mut row[bucket]
    }

    /// The place of an operation's time where it has no [`Ledger`]: the caller adds its parts too. Also the
    /// number of its bucket, which grows with latency.
    pub fn place(&mut self, total: Nanos) -> (u32, &mut TailTime) {
        self.count += 1;
        let (octave, bucket) = place(total.0);
        let row = self.octaves[octave].get_or_insert_with(|| Box::new([TailTime::default(); PER_OCTAVE]));
        row[bucket].time.count(total);
        (number(octave, bucket), &mut row[bucket])
    }

    /// Operations in all.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The slowest `share` (0.01: the slowest 1 %) of the operations: at least so many, whole buckets.
    pub fn slowest(&self, share: f64) -> Slowest {
        let wanted = ((self.count as f64 * share).ceil() as u64).max(1);
        let mut found = Slowest::default();
        for (octave, row) in self.octaves.iter().enumerate().rev() {
            let Some(row) = row else { continue };
            for (bucket, cell) in row.iter().enumerate().rev() {
                if cell.time.operations == 0 {
                    continue;
                }
                if found.sum.time.operations >= wanted {
                    return found;
                }
                found.sum.merge(cell);
                found.threshold = Nanos(lower(octave, bucket));
            }
        }
        found
    }

    /// All operations.
    pub fn all(&self) -> TailTime {
        let mut sum = TailTime::default();
        self.octaves.iter().flatten().flat_map(|row| row.iter()).for_each(|cell| sum.merge(cell));
        sum
    }

    /// Adds another group.
    pub fn merge(&mut self, other: &Tail) {
        self.count += other.count;
        for (mine, theirs) in self.octaves.iter_mut().zip(&other.octaves) {
            let Some(theirs) = theirs else { continue };
            let mine = mine.get_or_insert_with(|| Box::new([TailTime::default(); PER_OCTAVE]));
            mine.iter_mut().zip(theirs.iter()).for_each(|(m, t)| m.merge(t));
        }
    }
}

/// Octave and bucket of a value. Example: 1000 is 1.953 x 2^9; octave 4 holds 512 to 1023 in steps of 8, and 1000 is
/// in its bucket 61.
#[inline]
fn place(value: u64) -> (usize, usize) {
    if value < PER_OCTAVE as u64 {
        return (0, value as usize);
    }
    let exponent = 63 - value.leading_zeros() as usize;
    (exponent - 5, ((value >> (exponent - 6)) & 63) as usize)
}

/// The number of the bucket in which a latency is.
pub fn bucket_of(latency: Nanos) -> u32 {
    let (octave, bucket) = place(latency.0);
    number(octave, bucket)
}

fn number(octave: usize, bucket: usize) -> u32 {
    (octave * PER_OCTAVE + bucket) as u32
}

/// The smallest value of a bucket.
fn lower(octave: usize, bucket: usize) -> u64 {
    if octave == 0 {
        bucket as u64
    } else {
        (64 + bucket as u64) << (octave - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_at_least_its_buckets_lower_end() {
        for v in [0, 1, 63, 64, 65, 127, 128, 1000, 1 << 20, (1 << 20) + 1, u64::MAX / 2, u64::MAX] {
            let (o, b) = place(v);
            assert!(o < OCTAVES && b < PER_OCTAVE, "{v}");
            let low = lower(o, b);
            assert!(low <= v && v - low <= v / 64, "{v}: {low}");
        }
    }
}
