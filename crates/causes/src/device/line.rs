//! The queue of a device, where it is in the device's scheduler.

use crate::case::{Case, Claimable, MIN_SHARE};
use crate::scheduler::{scheduler_idling, scheduler_starvation, scheduler_throttle};
use crate::slow::Slow;
use ledger::Reason;
use trace::Nanos;
use waits::Phase;

/// Causes that hold requests in a scheduler by themselves: the time that others are served meanwhile is theirs.
const SCHEDULERS: [&str; 3] =
    [scheduler_idling::CAUSE.name, scheduler_starvation::CAUSE.name, scheduler_throttle::CAUSE.name];

/// The queue of a device whose scheduler admits little at a time: requests wait there while the device works on others.
pub(crate) struct Line(Nanos);

impl Line {
    /// The time in the scheduler while the device was at work that no cause has claimed.
    pub fn of(case: &Case, slow: &Slow) -> Line {
        if slow.is_below() || SCHEDULERS.iter().any(|cause| case.was_found_on(cause, slow.group.dev)) {
            return Line(Nanos(0));
        }
        let class = slow.class.index();
        let (idle, all) = (slow.on.pace.held[class].time, slow.on.pace.scheduled[class]);
        let at_work = 1.0 - idle.0 as f64 / all.0.max(1) as f64;
        let left = case.unclaimed_rows(slow.group_number, is_in_line);
        Line(Nanos((left.0 as f64 * at_work.max(0.0)) as u64))
    }

    /// Whether it is a visible part of the slowest operations' time.
    pub fn is_worth_a_word(&self, slow: &Slow) -> bool {
        slow.share(self.0) >= MIN_SHARE
    }

    /// Claims it if it is worth reporting, and returns how much was claimed.
    pub fn claim(&self, case: &mut Case, slow: &Slow) -> Nanos {
        if !self.is_worth_a_word(slow) {
            return Nanos(0);
        }
        case.claim_rows(slow.group_number, self.0, is_in_line)
    }
}

fn is_in_line(row: &Claimable) -> bool {
    row.phase == Phase::Reason(Reason::Scheduler)
}
