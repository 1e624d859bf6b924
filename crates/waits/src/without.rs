//! A victim's latencies if one culprit's time were taken out of each of its operations.

use crate::bucket::{Bucket, ByBucket};
use trace::Nanos;

/// What changes of a victim's latencies: operations that leave a bucket, and what they become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Without {
    /// Operations by bucket as they were.
    pub removed: ByBucket<u64>,
    /// The same operations as they would be: how many, and their time.
    pub added: ByBucket<(u64, u64)>,
    /// The culprit's time in them.
    pub time: u64,
}

impl Without {
    /// An operation of which `lost` is the culprit's.
    pub(crate) fn add(&mut self, total: Nanos, lost: Nanos) {
        *self.removed.at(Bucket::of(total)) += 1;
        let left = total.since(lost);
        let added = self.added.at(Bucket::of(left));
        *added = (added.0 + 1, added.1.saturating_add(left.0));
        self.time = self.time.saturating_add(lost.0);
    }

    pub(crate) fn merge(&mut self, other: &Without) {
        other.removed.iter().for_each(|(b, n)| *self.removed.at(*b) += n);
        for (b, (ops, ns)) in &other.added {
            let added = self.added.at(*b);
            *added = (added.0 + ops, added.1.saturating_add(*ns));
        }
        self.time = self.time.saturating_add(other.time);
    }
}
