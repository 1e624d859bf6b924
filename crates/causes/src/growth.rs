//! How the device time of a request grows with what is in flight: with the number of other requests, or with their bytes.
//!
//! A device that serves one request at a time takes twice as long with twice as many in flight; a device of limited
//! bandwidth, with twice the bytes. For requests of one size both measures say the same. For mixed sizes the number
//! misleads: when many are in flight, most are small and soon done.

use crate::proof::{proof, Proof};
use crate::slow::Slow;
use crate::thresholds::growth::{GROWS, MIN_SAMPLES_OF_A_ROW};

use stats::{BytesGrowth, DepthRow};
use trace::Nanos;

/// What was in flight, little and much, and the device times that belong to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// The number of requests: the row with the fewest others in flight, and one with at least twice as many requests in the device.
    Requests(DepthRow, DepthRow),
    /// The bytes of the other requests in flight.
    Bytes(BytesGrowth),
}

impl Growth {
    /// Of requests and bytes, the measure with which the device time of the slow class grows; if neither grows, the one that is known.
    pub(crate) fn of(slow: &Slow) -> Option<Growth> {
        let requests = by_requests(slow).map(|(few, many)| Growth::Requests(few, many));
        let bytes = slow.contention().by_bytes.growth().map(Growth::Bytes);
        let growing = [requests, bytes].into_iter().flatten().find(Growth::grows);
        growing.or(requests).or(bytes)
    }

    /// The mean device time with little in flight.
    pub fn few(&self) -> Nanos {
        match self {
            Growth::Requests(few, _) => few.mean,
            Growth::Bytes(g) => g.few,
        }
    }

    /// The mean device time with much in flight.
    pub fn many(&self) -> Nanos {
        match self {
            Growth::Requests(_, many) => many.mean,
            Growth::Bytes(g) => g.many,
        }
    }

    /// Whether the device time grows: with much in flight it is at least [`GROWS`] times that with little.
    pub fn grows(&self) -> bool {
        self.many().0 as f64 >= GROWS * self.few().0 as f64
    }

    /// Whether more requests in flight bring no throughput: the device time grows at least as much as their number.
    pub fn is_in_turn(&self) -> bool {
        match self {
            Growth::Requests(few, many) => {
                many.mean.0 as f64 * (few.to + 1) as f64 >= few.mean.0 as f64 * (many.from + 1) as f64
            }
            Growth::Bytes(_) => false,
        }
    }

    /// As a sentence; `words` names the operations.
    pub(crate) fn told(&self, words: &str) -> Proof {
        let (few_mean, many_mean) = (self.few(), self.many());
        match self {
            Growth::Requests(few, many) => proof!(
                "with {many} in flight {what} took {many_mean} in the device (mean), with {few} {few_mean}",
                many = others(many),
                what = words,
                many_mean,
                few = others(few),
                few_mean
            ),
            Growth::Bytes(_) => proof!(
                "with many bytes in flight {what} took {many_mean} in the device (mean), with at most half \
                 as many, at the same size, {few_mean}",
                what = words,
                many_mean,
                few_mean
            ),
        }
    }
}

/// Whether the device does no more with more in it: requests that wait in front of it would wait inside it instead. By the
/// growth of the slow class; where that is not known, by the device's model.
pub(crate) fn does_no_more(slow: &Slow) -> bool {
    Growth::of(slow).map_or(slow.on.model.in_turn, |growth| growth.is_in_turn())
}

/// The row with the fewest others in flight, and the row with the most samples if it has at least twice as many
/// requests in the device; else the row with the most others, if that has.
fn by_requests(slow: &Slow) -> Option<(DepthRow, DepthRow)> {
    let rows: Vec<DepthRow> =
        slow.contention().by_depth.rows().filter(|r| r.count >= MIN_SAMPLES_OF_A_ROW).collect();
    let few = *rows.first()?;
    let usual = *rows.iter().max_by_key(|r| r.count)?;
    let twice_as_many = |r: &DepthRow| r.from + 1 >= 2 * (few.to + 1);
    let many = if twice_as_many(&usual) { usual } else { *rows.last()? };
    twice_as_many(&many).then_some((few, many))
}

/// A row's other requests in flight: `none`, `1 other`, `4 to 7 others`.
fn others(row: &DepthRow) -> String {
    match (row.from, row.to) {
        (0, _) => "none".into(),
        (1, _) => "1 other".into(),
        (a, b) => format!("{a} to {b} others"),
    }
}
