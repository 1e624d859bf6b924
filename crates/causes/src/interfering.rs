//! The interfering requests of the slowest operations: what the device completed while their own were in flight.
//!
//! If the device serves all requests in turn, a task's part of the turns is its part of the time. Example: while a read
//! was in the device for 40 ms, the device completed three requests of `tar`: 30 of the 40 ms are due to tar.

use crate::block::request_size::LARGE_ENOUGH;
use crate::case::Case;
use crate::growth::Growth;
use crate::proof::{proof, Proof};
use crate::slow::Slow;
use ledger::Reason;
use life::Io;
use operation::Part;
use stats::Interfering;
use std::collections::BTreeMap;
use trace::{Bytes, Nanos};
use waits::Phase;

/// The time of one slow operation's request in the device.
pub(crate) struct Stay<'a> {
    pub time: Nanos,
    /// What the device completed meanwhile, by task and class.
    pub met: &'a [Interfering],
}

impl Stay<'_> {
    /// The time of this many turns. The total is the turns of the interfering requests and one of its own.
    pub fn of(&self, turns: u64) -> Nanos {
        let all = self.met.iter().map(self::turns).sum::<u64>() + 1;
        Nanos((u128::from(self.time.0) * u128::from(turns) / u128::from(all)) as u64)
    }
}

/// The device times of the sampled operations in the group's tail, each with its interfering requests.
pub(crate) fn stays<'a>(case: &Case<'a>, slow: &Slow) -> Vec<Stay<'a>> {
    case.sampled_of_tail(slow.group)
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

/// The other task behind whose I/O of some kinds a group mostly waits for a reason, if there is one.
pub(crate) fn mostly_behind(
    case: &Case,
    group: usize,
    reason: Reason,
    is: impl Fn(Io) -> bool,
) -> Option<String> {
    let mut each = BTreeMap::<&str, Nanos>::new();
    let mut all = Nanos(0);
    for row in case.rows(group).iter().filter(|row| row.reason == reason) {
        let by = case.facts.waits.culprit_of(row.culprit);
        let counts = by.is_another_than(&case.focus.groups[group].task) && by.io.is_some_and(&is);
        if let Some(name) = by.name.as_deref().filter(|_| counts) {
            *each.entry(name).or_default() += row.time;
        }
        all += row.time;
    }
    let (name, most) = each.into_iter().max_by_key(|(_, time)| *time)?;
    (2 * most.0 > all.0).then(|| name.to_string())
}

/// The turns of interfering requests: one each, and one for each 256 KiB of a larger one, as cloud volumes count.
pub(crate) fn turns(met: &Interfering) -> u64 {
    turns_of(met.requests, met.bytes)
}

/// The turns of this many requests that moved this many bytes together.
pub(crate) fn turns_of(requests: u64, bytes: Bytes) -> u64 {
    requests.max(bytes.0.div_ceil(LARGE_ENOUGH.0))
}

/// Evidence of a device without queueing, which serves all requests in parallel; `None` if its time grows or is unknown.
pub(crate) fn unhindered(slow: &Slow, name: &str) -> Option<Proof> {
    let growth = Growth::of(slow).filter(|g| !g.grows())?;
    Some(proof!(
        "{device} takes as long with few requests in flight as with many: {few} and {many}",
        device = name,
        few = growth.few(),
        many = growth.many()
    ))
}

/// Whether a phase is time in which another task may have had the device, or time in front of it.
pub(crate) fn leads_to_the_device(phase: Phase) -> bool {
    match phase {
        Phase::Behind | Phase::NoTag => true,
        Phase::Reason(reason) => {
            matches!(reason, Reason::GetRequest | Reason::Scheduler | Reason::WritebackThrottle)
        }
        _ => false,
    }
}
