//! Splits the time of one request in the device.

use serde::Serialize;
use smallvec::SmallVec;
use std::borrow::Cow;
use trace::Nanos;

/// The owner of requests: a number assigned by the caller. 0: others, not distinguished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Holder(pub u16);

/// Maximal number of holders that are distinguished in one request's time; the rest is [`Holder`] 0.
pub const MOST_HOLDERS: usize = 3;

/// Time behind the requests of one holder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Behind {
    /// The holder of these requests.
    pub holder: Holder,
    /// The length of time.
    pub time: Nanos,
}

/// D2C in parts that sum to it exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Split {
    /// Its own service: at most the latency of such a request alone.
    pub own: Nanos,
    /// Whether the latency alone is known; if not, `own` is 0 and the rest is an upper bound.
    pub known: bool,
    /// Nothing was completed for longer than any service explains, although the device had requests.
    pub paused: Nanos,
    /// Alone in the device, and longer than half of such requests alone, but not longer than 99 of 100: noise.
    pub varied: Nanos,
    /// Alone in the device, and longer than such requests take alone.
    pub slow: Nanos,
    /// Behind others, the largest first. With time 0: a holder that was in the device at the same time.
    pub behind: [Behind; MOST_HOLDERS],
    /// Behind others that are not distinguished.
    pub others: Nanos,
}

impl Split {
    /// The sum of all parts: D2C.
    pub fn total(&self) -> Nanos {
        self.own + self.paused + self.varied + self.slow + self.others + self.behind()
    }

    /// Adds time behind a holder.
    pub(crate) fn add(&mut self, more: Behind) {
        let place = self.behind.iter_mut().find(|b| b.holder == more.holder || b.time.0 == 0);
        match place.filter(|_| more.holder != Holder(0)) {
            Some(place) => *place = Behind { holder: more.holder, time: place.time + more.time },
            None => self.others += more.time,
        }
        self.behind.sort_by_key(|b| std::cmp::Reverse(b.time));
    }

    /// Notes a holder that was in the device at the same time, if there is room.
    pub(crate) fn meet(&mut self, holder: Holder) {
        if self.behind.iter().any(|b| b.holder == holder) {
            return;
        }
        let room = self.behind.iter_mut().find(|b| b.time.0 == 0 && b.holder == Holder(0));
        room.into_iter().for_each(|b| b.holder = holder);
    }

    fn behind(&self) -> Nanos {
        self.behind.iter().map(|b| b.time).sum()
    }

    /// The split of the last `length` of it: own service comes last, the other parts shrink in proportion. A longer `length` adds to `slow`.
    pub fn last(&self, length: Nanos) -> Cow<'_, Split> {
        let total = self.total();
        if length == total {
            return Cow::Borrowed(self);
        }
        if length > total {
            return Cow::Owned(Split { slow: self.slow + length.since(total), ..*self });
        }
        let own = self.own.min(length);
        let mut weights: SmallVec<[u64; 8]> = SmallVec::new();
        weights.extend([self.paused.0, self.varied.0, self.slow.0, self.others.0]);
        weights.extend(self.behind.iter().map(|b| b.time.0));
        let parts = largest_remainder(length.since(own), &weights);
        let mut split = Split { own, ..*self };
        (split.paused, split.varied, split.slow, split.others) = (parts[0], parts[1], parts[2], parts[3]);
        for (b, part) in split.behind.iter_mut().zip(&parts[4..]) {
            b.time = *part;
        }
        Cow::Owned(split)
    }
}

/// Divides `whole` in proportion to weights, in whole nanoseconds that sum to it. The remainder of rounding goes to the largest
/// fractions, of equal ones to the first. If all weights are 0, everything goes to the first.
///
/// Example: 10 by [1, 1, 1] is [4, 3, 3].
pub fn largest_remainder(whole: Nanos, weights: &[u64]) -> SmallVec<[Nanos; 8]> {
    let sum: u128 = weights.iter().map(|w| u128::from(*w)).sum();
    let mut parts: SmallVec<[Nanos; 8]> = SmallVec::new();
    if sum == 0 {
        parts.extend(weights.iter().enumerate().map(|(i, _)| if i == 0 { whole } else { Nanos(0) }));
        return parts;
    }
    let mut remainders: SmallVec<[(u128, usize); 8]> = SmallVec::new();
    let mut left = whole.0;
    for (i, w) in weights.iter().enumerate() {
        let (part, remainder) = divide(whole.0, *w, sum);
        left -= part;
        parts.push(Nanos(part));
        remainders.push((remainder, i));
    }
    if left > 0 {
        remainders.sort_unstable_by_key(|(r, i)| (std::cmp::Reverse(*r), *i));
        remainders.iter().take(left as usize).for_each(|(_, i)| parts[*i] += Nanos(1));
    }
    parts
}

/// `a` x `b` / `by`, and the remainder. The numbers are rarely too large for the processor's own division.
#[inline]
fn divide(a: u64, b: u64, by: u128) -> (u64, u128) {
    match (a.checked_mul(b), u64::try_from(by)) {
        (Some(product), Ok(by)) => (product / by, u128::from(product % by)),
        _ => {
            let product = u128::from(a) * u128::from(b);
            ((product / by) as u64, product % by)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rounding_goes_to_the_largest_remainder() {
        let of = |whole, weights: &[u64]| -> Vec<u64> {
            largest_remainder(Nanos(whole), weights).iter().map(|n| n.0).collect()
        };
        assert_eq!(of(10, &[1, 1, 1]), [4, 3, 3]);
        assert_eq!(of(10, &[0, 3, 1]), [0, 8, 2]);
        assert_eq!(of(7, &[0, 0]), [7, 0]);
    }

    proptest! {
        #[test]
        fn parts_sum_to_the_whole(whole: u64, weights in proptest::collection::vec(any::<u64>(), 1..8)) {
            let parts = largest_remainder(Nanos(whole), &weights);
            prop_assert_eq!(parts.iter().map(|n| u128::from(n.0)).sum::<u128>(), u128::from(whole));
        }

        #[test]
        fn the_last_part_sums_to_its_length(parts in proptest::array::uniform6(0u64..1 << 40), length in 0u64..1 << 43) {
            let b = |time| Behind { holder: Holder(1), time: Nanos(time) };
            let split = Split {
                own: Nanos(parts[0]),
                paused: Nanos(parts[1]),
                varied: Nanos(0),
                slow: Nanos(parts[2]),
                behind: [b(parts[3]), b(parts[4]), Behind::default()],
                others: Nanos(parts[5]),
                known: true,
            };
            prop_assert_eq!(split.last(Nanos(length)).total(), Nanos(length));
        }
    }
}
