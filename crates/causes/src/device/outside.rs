//! Time in front of a device that accepts no more: in the scheduler, for a tag, or put back by its driver.

use crate::case::{Case, Claimable};
use crate::device::device_busy;
use crate::growth::{does_no_more, Growth};
use crate::slow::Slow;
use ledger::Reason;
use trace::Nanos;
use waits::Phase;

/// The queue in front of a device that accepts no more ([`device_busy`]) and would be no faster with more in flight.
pub(super) struct Outside {
    requeue: Nanos,
    scheduler: Nanos,
    /// Time of waits for a tag.
    tags: Nanos,
}

impl Outside {
    pub fn of(case: &Case, slow: &Slow, growth: Option<Growth>) -> Outside {
        let (requeue, scheduler) = match growth.is_some_and(|g| g.grows()) {
            true => device_busy::refused(case, slow),
            false => (Nanos(0), Nanos(0)),
        };
        let tags = match does_no_more(slow) {
            true => case.unclaimed_rows(slow.group_number, waits_for_a_tag),
            false => Nanos(0),
        };
        Outside { requeue, scheduler, tags }
    }

    pub fn all(&self) -> Nanos {
        self.requeue + self.scheduler + self.tags
    }

    pub fn claim_tags(&self, case: &mut Case, slow: &Slow) -> Nanos {
        case.claim_rows(slow.group_number, self.tags, waits_for_a_tag)
    }

    pub fn claim(&self, case: &mut Case, slow: &Slow) -> Nanos {
        case.claim(slow, Reason::Requeue, self.requeue) + case.claim(slow, Reason::Scheduler, self.scheduler)
    }
}

fn waits_for_a_tag(row: &Claimable) -> bool {
    row.phase == Phase::NoTag
}
