//! Chooses the cause that is reported for a victim, and decides whether it is worth acting on.

use super::victim::Sufferer;
use super::{precedence, worth};
use crate::explanation::Explanation;
use causes::{Answer, Verdict};

/// The cause of the victim `v`, one of `all`, and whether it is worth acting on. It is the cause with the largest part; if that one is not
/// worth acting on, a cause that slows every operation (`throughout`) and is.
///
/// Example: of 2.6 s in commits, 0.6 s went to other tasks on the processor, as on any busy machine, and 2 s to a disk (9 ms each).
pub(super) fn chosen<'a>(e: &'a Explanation, v: &Sufferer, all: &[Sufferer]) -> Option<(&'a Verdict, bool)> {
    let first = precedence::choose(e, v)?;
    let is_worth = |found: &&Verdict| worth::acting_on(e, v, all, found);
    if is_worth(&first) {
        return Some((first, true));
    }
    let is_its = |found: &&Verdict| found.throughout.iter().any(|(group, _)| *group == v.group);
    let found = e.verdicts.iter().filter(|found| found.verdict == Answer::Found);
    Some(found.filter(is_its).find(is_worth).map_or((first, false), |found| (found, true)))
}
