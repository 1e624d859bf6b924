//! What kind of cause it is, by its name: how much it counts beside others, and what disappears without it.

use causes::{nature, Nature};
use waits::CulpritKind;

/// Requests wait in front of the device until fewer are in flight.
pub(super) const HELD_BACK: &str = "writeback-throttle";

/// Weight of a general cause beside one that says why: the remedies of a general cause are a faster device or less work.
pub(super) const GENERAL_COUNTS: f64 = 0.5;

/// The weight of a cause.
pub(super) fn counts(cause: &str) -> f64 {
    if nature(cause) == Nature::General {
        GENERAL_COUNTS
    } else {
        1.0
    }
}

/// The part of a wait behind a culprit that disappears without its cause. Requests that are held back behind requests of their own task
/// wait for these in the device instead, unless the device serves them together. Measured without writeback throttling: 0.57, 0.68 and 0.76
/// of a latency remained where 0.95, 0.67 and 0.46 of it had been held back.
pub(super) fn gone_without(cause: &str, kind: CulpritKind) -> f64 {
    if cause == HELD_BACK && kind == CulpritKind::Own {
        GENERAL_COUNTS
    } else {
        1.0
    }
}

/// Causes that are found by comparing the slowest operations with the usual ones: the faster half contains none of their time, even if it
/// shares other waits with the slowest (a device that is slower than alone, service shares).
const COMPARED: [&str; 4] = ["device-errors", "device-stall", "misaligned", "power-state"];

/// Whether only operations slower than the median contain time of this cause.
pub(super) fn compares(cause: &str) -> bool {
    COMPARED.contains(&cause)
}

/// Causes without which the same operations are less work, or the device idles less between requests. So the operations' own time is no
/// lower bound, and everything that waits behind them continues sooner. The gain is not known exactly.
const LESS_WORK: [&str; 7] = [
    "lost-merging",
    "misaligned",
    "read-ahead-short",
    "read-ahead-waste",
    "reclaim",
    "request-size",
    "scheduler-idling",
];

/// Whether the same operations are less work without this cause.
pub(super) fn changes_the_work(cause: &str) -> bool {
    LESS_WORK.contains(&cause)
}

/// Whether waits become rarer and longer without a cause, because each transfers more: how long the longest are then is not known.
pub(super) fn makes_rarer(cause: &str) -> bool {
    cause == "read-ahead-short"
}

/// Whether every busy machine has a little of this cause.
pub(crate) fn is_everyday(cause: &str) -> bool {
    matches!(nature(cause), Nature::Everyday | Nature::General | Nature::Contention)
}

/// Whether a cause is a limit that an administrator set.
pub fn is_limit(cause: &str) -> bool {
    nature(cause) == Nature::Limit
}

#[cfg(test)]
#[test]
fn causes_that_are_told_apart_are_known() {
    let known: Vec<&str> = causes::pages().map(|(name, ..)| name).collect();
    for cause in COMPARED.iter().chain(&LESS_WORK) {
        assert!(known.contains(cause), "{cause}");
    }
    assert!(LESS_WORK.iter().any(|cause| makes_rarer(cause)), "whose waits are larger");
}
