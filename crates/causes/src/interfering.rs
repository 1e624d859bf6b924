//! Whose requests the slowest operations met in the device: what it completed while it had theirs.
//!
//! If all take turns, a task's part of the turns is its part of the time. Example: while a read of 40 ms was in the device, that
//! completed three requests of `tar`: of the 40 ms, tar's are 30.

use crate::block::request_size::LARGE_ENOUGH;
use crate::case::Case;
use crate::proof::{proof, Proof};
use crate::slow::Slow;
use ledger::Reason;
use operation::Part;
use stats::Interfering;
use trace::{Bytes, Nanos};

/// A time of a slow operation in the device.
pub(crate) struct Stay<'a> {
    pub time: Nanos,
    /// What the device completed meanwhile.
    pub met: &'a [Interfering],
}

impl Stay<'_> {
    /// The time that so many turns took. Its own turn is one more than those it met.
    pub fn of(&self, turns: u64) -> Nanos {
        let all = self.met.iter().map(self::turns).sum::<u64>() + 1;
        Nanos((u128::from(self.time.0) * u128::from(turns) / u128::from(all)) as u64)
    }
}

/// All times in the device of the slowest operations that were kept.
pub(crate) fn stays<'a>(case: &Case<'a>, slow: &Slow) -> Vec<Stay<'a>> {
    case.kept_of_tail(slow.group)
        .flat_map(|k| {
            let in_device =
                |(_, node): &(usize, &operation::Node)| matches!(node.part, Part::Leaf(Reason::Device));
            k.account.nodes.iter().enumerate().filter(in_device).map(|(at, node)| Stay {
                time: node.length(),
                met: k.met.get(&at).map_or(&[], Vec::as_slice),
            })
        })
        .collect()
}

/// How many turns requests take: one each, and one for each 256 KiB of a larger one, as volumes in clouds count.
pub(crate) fn turns(met: &Interfering) -> u64 {
    turns_of(met.requests, met.bytes)
}

/// The same of a number of requests that moved so much together.
pub(crate) fn turns_of(requests: u64, bytes: Bytes) -> u64 {
    requests.max(bytes.0.div_ceil(LARGE_ENOUGH.0))
}

/// The words for a device without queueing: it serves all in parallel.
pub(crate) fn unhindered(slow: &Slow, name: &str) -> Option<Proof> {
    let growth = slow.growth().filter(|g| !g.grows())?;
    Some(proof!(
        "{device} takes as long with few requests in flight as with many: {few} and {many}",
        device = name,
        few = growth.few(),
        many = growth.many()
    ))
}
