//! The last link of a chain: the activity in a stretch of time. A [`Reason`], but with the device's time split further.

use crate::culprit::CulpritKind;
use device::Split;
use ledger::Reason;
use serde::Serialize;
use trace::Nanos;

/// The activity in a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum Phase {
    /// In the device, being served: for as long as such a request takes alone.
    Service,
    /// In the device, behind other requests.
    Behind,
    /// In the device, while it completed nothing for longer than any service time explains.
    Paused,
    /// Alone in the device and a little slower than usual, within the normal variation of such requests.
    Varies,
    /// Alone in the device and slower than such requests alone; also if their usual time is unknown.
    Slow,
    /// The device was done, but no processor completed the request yet.
    Late,
    /// The device flushes its cache.
    Flush,
    /// All tags of the device were taken.
    NoTag,
    /// In the scheduler, while the driver accepted nothing.
    Refused,
    /// Any other reason.
    Reason(Reason),
}

impl Phase {
    /// The phases of a request's time alone in the device or in its pauses. For a flush, all of it is the flush.
    pub(crate) fn alone(split: &Split, is_flush: bool) -> [(Phase, Nanos); 3] {
        let of = |phase, unless: bool| if unless { Phase::Flush } else { phase };
        [
            (of(Phase::Varies, is_flush), split.varied),
            (of(Phase::Slow, is_flush), split.slow),
            (of(Phase::Paused, is_flush && !split.known), split.paused),
        ]
    }

    /// Number of phases.
    pub const COUNT: usize = 9 + Reason::COUNT;

    /// Its index in arrays.
    #[inline(always)]
    pub fn index(self) -> usize {
        match self {
            Phase::Service => 0,
            Phase::Behind => 1,
            Phase::Paused => 2,
            Phase::Varies => 3,
            Phase::Slow => 4,
            Phase::Late => 5,
            Phase::Flush => 6,
            Phase::NoTag => 7,
            Phase::Refused => 8,
            Phase::Reason(reason) => 9 + reason.index(),
        }
    }

    /// Whether the time is the operation's own and not lost: service or computing by the operation's own job or the processor, not by others.
    #[inline(always)]
    pub fn is_own(self, because: CulpritKind) -> bool {
        let own = matches!(
            self,
            Phase::Service | Phase::Reason(Reason::OnCpu | Reason::Prepare | Reason::Completion)
        );
        own && matches!(because, CulpritKind::Own | CulpritKind::Cpu)
    }

    /// The reason that a ledger has for it.
    pub fn reason(self) -> Reason {
        match self {
            Phase::Reason(reason) => reason,
            Phase::Flush => Reason::Preflush,
            Phase::NoTag => Reason::GetRequest,
            Phase::Refused => Reason::Scheduler,
            _ => Reason::Device,
        }
    }

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Service => "device: serving it",
            Phase::Behind => "device: behind others",
            Phase::Paused => "device: paused",
            Phase::Varies => "device: varies",
            Phase::Slow => "device: slower than alone",
            Phase::Late => "device: completed late",
            Phase::Flush => "device: flush",
            Phase::NoTag => "no tag",
            Phase::Refused => "scheduler: driver busy",
            Phase::Reason(reason) => reason.name(),
        }
    }

    /// Its name in plain words.
    pub fn words(self) -> &'static str {
        match self {
            Phase::Service => "served by the device",
            Phase::Behind => "in the device behind others",
            Phase::Paused => "the device completed nothing",
            Phase::Varies => "alone in the device, a little slower than usual",
            Phase::Slow => "alone in the device, slower than usual",
            Phase::Late => "done, waiting for a processor to complete it",
            Phase::Flush => "flush of the device's cache",
            Phase::NoTag => "no free tag (Q2G)",
            Phase::Refused => "in the scheduler, the driver accepts nothing",
            Phase::Reason(reason) => reason.words(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Phases in the device have the ledger's reason for the device; waits in front of it and flushes do not.
    #[test]
    fn what_a_ledger_has_in_the_device_are_parts_of_that() {
        use Phase::{Behind, Late, NoTag, Paused, Refused, Service, Slow, Varies};
        for phase in [Service, Behind, Paused, Varies, Slow, Late] {
            assert_eq!(phase.reason(), Reason::Device, "{phase:?}");
        }
        let outside =
            [Reason::Scheduler, Reason::GetRequest, Reason::OnCpu, Reason::WaitCpu].map(Phase::Reason);
        for phase in [NoTag, Refused].into_iter().chain(outside) {
            assert_ne!(phase.reason(), Reason::Device, "{phase:?}");
        }
    }
}
