//! Which of the causes found is the answer for a victim: specific before general, somebody else before its own queue.

use super::victim::Sufferer;
use crate::explanation::Explanation;
use causes::{Answer, Verdict};

/// A cause that explains less than this part of what a victim lost is not worth acting on first.
const WORTH_ACTING_ON: f64 = 0.2;

/// Causes that say no more than where the time passed. They are the answer only where no other cause is worth acting on.
const GENERAL: [&str; 7] = [
    "device-saturated",
    "device-stall",
    "cpu-wait",
    "outside-io",
    "slow-device",
    "cold-reads",
    "page-fault-read",
];

/// Causes that put somebody else's requests into the device.
const CROWD: [&str; 4] = ["background-task", "writeback-flood", "discard-stall", "raid-resync"];

/// The verdict with the largest part of what the victim lost, in all its operations or in the slowest, that is worth acting on.
pub(crate) fn choose<'a>(e: &'a Explanation, victim: &Sufferer) -> Option<&'a Verdict> {
    let found = || e.verdicts.iter().filter(|v| v.verdict == Answer::Found && v.cause != "healthy");
    let share = |v: &Verdict| victim.share_of(v.cause).max(share_of_tail(e, victim, v));
    let largest = |general: bool, least: f64| {
        let of = found().filter(|v| GENERAL.contains(&v.cause) == general && share(v) >= least);
        of.max_by(|a, b| share(a).total_cmp(&share(b)))
    };
    let specific = largest(false, WORTH_ACTING_ON);
    // A device that completes nothing and is not full of others' work has nothing to blame but itself.
    let crowded = specific.is_some_and(|v| CROWD.contains(&v.cause));
    let stalls = found()
        .max_by(|a, b| share(a).total_cmp(&share(b)))
        .filter(|v| v.cause == "device-stall" && !crowded);
    stalls
        .or(specific)
        .or_else(|| largest(true, WORTH_ACTING_ON))
        .or_else(|| largest(false, f64::MIN_POSITIVE))
        .or_else(|| largest(true, f64::MIN_POSITIVE))
}

/// The part of the victim's slowest operations' time that a verdict claims.
fn share_of_tail(e: &Explanation, victim: &Sufferer, v: &Verdict) -> f64 {
    let Some(group) = e.focus.groups.get(victim.group) else { return 0.0 };
    let claimed: u64 = v.claims.iter().filter(|c| c.group == victim.group).map(|c| c.time.0).sum();
    claimed as f64 / group.tail.sum.time.total.0.max(1) as f64
}
