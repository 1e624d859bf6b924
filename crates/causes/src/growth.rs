//! How the device's time for a request grows with what is in it already: with the number of others, or with their bytes.
//!
//! A device that works on one request after the other takes twice as long with twice as many in it; one that moves so many bytes a
//! second and no more, with twice the bytes. Where requests are of one size both say the same. Where they are not, the number
//! misleads: many in it are many small ones, soon done.

use crate::proof::{proof, Proof};
use crate::slow::Slow;
use crate::thresholds::growth::{GROWS, MIN_SAMPLES_OF_A_ROW};

use stats::{BytesGrowth, DepthRow};
use trace::Nanos;

/// What grew, or did not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// With the number of others: the row with the fewest, and one with at least twice as many in the device.
    Requests(DepthRow, DepthRow),
    /// With their bytes.
    Bytes(BytesGrowth),
}

impl Growth {
    /// What is known of the requests that were slow there: what grows, if anything does.
    pub(crate) fn of(slow: &Slow) -> Option<Growth> {
        let requests = by_requests(slow).map(|(few, many)| Growth::Requests(few, many));
        let bytes = slow.contention().by_bytes.growth().map(Growth::Bytes);
        let growing = [requests, bytes].into_iter().flatten().find(Growth::grows);
        growing.or(requests).or(bytes)
    }

    /// The mean time in the device with few others there.
    pub fn few(&self) -> Nanos {
        match self {
            Growth::Requests(few, _) => few.mean,
            Growth::Bytes(g) => g.few,
        }
    }

    /// And with many.
    pub fn many(&self) -> Nanos {
        match self {
            Growth::Requests(_, many) => many.mean,
            Growth::Bytes(g) => g.many,
        }
    }

    /// Whether the device takes longer with more in it.
    pub fn grows(&self) -> bool {
        self.many().0 as f64 >= GROWS * self.few().0 as f64
    }

    /// Whether it does no more with more in it: requests take as many times as long as there are more of them at least.
    pub fn is_in_turn(&self) -> bool {
        match self {
            Growth::Requests(few, many) => {
                many.mean.0 as f64 * (few.to + 1) as f64 >= few.mean.0 as f64 * (many.from + 1) as f64
            }
            Growth::Bytes(_) => false,
        }
    }

    /// In words, of operations that are called so.
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

/// The row with the fewest others and the one with the most requests, if the latter has at least twice as many in the device; else the
/// one with the most others, if that has.
fn by_requests(slow: &Slow) -> Option<(DepthRow, DepthRow)> {
    let rows: Vec<DepthRow> =
        slow.contention().by_depth.rows().filter(|r| r.count >= MIN_SAMPLES_OF_A_ROW).collect();
    let few = *rows.first()?;
    let usual = *rows.iter().max_by_key(|r| r.count)?;
    let twice_as_many = |r: &DepthRow| r.from + 1 >= 2 * (few.to + 1);
    let many = if twice_as_many(&usual) { usual } else { *rows.last()? };
    twice_as_many(&many).then_some((few, many))
}

/// `none`, `1 other`, `4 to 7 others`.
fn others(row: &DepthRow) -> String {
    match (row.from, row.to) {
        (0, _) => "none".into(),
        (1, _) => "1 other".into(),
        (a, b) => format!("{a} to {b} others"),
    }
}
