//! Why it was slow: one file per cause, each with what proves it, what refutes it and what to do.
//!
//! [`judge`] asks all causes in order, the specific ones first. Each claims segments of the tail's time; what is
//! claimed is gone for those after it, so shares never exceed the whole.

mod access_time;
mod background_task;
mod case;
mod cgroup_limit;
mod completion_cpu;
mod counters;
mod cpu_wait;
mod crypt_queue;
mod damage;
mod device_busy;
mod device_errors;
mod device_saturated;
mod device_stall;
mod dirty_throttling;
mod discard_stall;
mod flush_cost;
mod growth;
mod healthy;
mod inode_lock;
mod journal_cpu;
mod journal_ordered;
mod journal_space;
mod log_force;
mod log_space;
mod loop_double_cache;
mod lost_merging;
mod met;
mod misaligned;
mod outside_io;
mod page_fault_read;
mod paths;
mod power_state;
mod queue_freeze;
mod raid;
mod raid_bitmap;
mod raid_read_modify_write;
mod raid_resync;
mod raid_stripe_cache;
mod rate_limit;
mod read_ahead_short;
mod read_ahead_waste;
mod reclaim;
mod request_size;
mod scheduler_idling;
mod scheduler_starvation;
mod scheduler_throttle;
mod shares;
mod slow;
mod stable_page;
#[cfg(test)]
mod story;
mod swap;
mod tag_exhaustion;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod told;
mod verdict;
mod writeback_flood;
mod writeback_throttle;

pub use background_task::works_for_others;
pub use case::{Case, MIN_SAMPLES, MIN_SHARE, NOT_SLOW};
pub use counters::{judge_counters, title_by_counters};
pub use damage::{Damage, DAMAGED, TOO_DAMAGED};
pub use slow::Slow;
pub use verdict::{Answer, Claim, Confidence, Remedy, Verdict};

use units::words;

/// A cause of slow I/O.
pub trait Cause: Sync {
    /// Its name, as contracts and scripts know it.
    fn name(&self) -> &'static str;
    /// What it says, in one line.
    fn title(&self) -> &'static str;
    /// Its page of documentation.
    fn page(&self) -> &'static str;
    /// The verdict on a recording.
    fn judge(&self, case: &mut Case) -> Verdict;
}

/// All causes, in the order in which they claim time: the specific ones before the general ones.
pub fn all() -> &'static [&'static dyn Cause] {
    &[
        &crypt_queue::CryptQueue,
        &raid_stripe_cache::RaidStripeCache,
        &raid_bitmap::RaidBitmap,
        &raid_read_modify_write::RaidReadModifyWrite,
        &device_errors::DeviceErrors,
        &queue_freeze::QueueFreeze,
        &loop_double_cache::LoopDoubleCache,
        &swap::Swap,
        &reclaim::Reclaim,
        &stable_page::StablePage,
        &inode_lock::InodeLock,
        &access_time::AccessTime,
        &journal_space::JournalSpace,
        &log_space::LogSpace,
        &journal_ordered::JournalOrdered,
        &dirty_throttling::DirtyThrottling,
        &writeback_throttle::WritebackThrottle,
        &cgroup_limit::CgroupLimit,
        &journal_cpu::JournalCpu,
        &flush_cost::FlushCost,
        &misaligned::Misaligned,
        &log_force::LogForce,
        &device_busy::DeviceBusy,
        &scheduler_starvation::SchedulerStarvation,
        &scheduler_throttle::SchedulerThrottle,
        &scheduler_idling::SchedulerIdling,
        &tag_exhaustion::TagExhaustion,
        &raid_resync::RaidResync,
        &background_task::BackgroundTask,
        &writeback_flood::WritebackFlood,
        &discard_stall::DiscardStall,
        &power_state::PowerState,
        &rate_limit::RateLimit,
        &completion_cpu::CompletionCpu,
        &request_size::RequestSize,
        &lost_merging::LostMerging,
        &read_ahead_waste::ReadAheadWaste,
        &read_ahead_short::ReadAheadShort,
        &page_fault_read::PageFaultRead,
        &device_saturated::DeviceSaturated,
        &device_stall::DeviceStall,
        &cpu_wait::CpuWait,
        &outside_io::OutsideIo,
        &healthy::Healthy,
    ]
}

/// Name, title and page of every cause.
pub fn pages() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    all().iter().map(|c| (c.name(), c.title(), c.page()))
}

/// What explains less than this part of all that was slow is not why it was: one wait of 50 us beside fsyncs of milliseconds.
const TRIFLE: f64 = 0.01;

/// The verdicts of all causes: those found first, by the time they explain; then those that cannot tell; then
/// those rejected.
///
/// [`Damage`] comes before any cause: of a recording in which too much is missing nothing is claimed, and with some
/// missing each finding is a step less sure.
pub fn judge(case: &mut Case) -> Vec<Verdict> {
    let damage = case.damage();
    let nothing = case.focus.groups.is_empty();
    let all_of_it = case.total();
    let mut verdicts = Vec::new();
    for cause in all() {
        let before = case.unclaimed_now();
        let mut v = if nothing {
            Verdict::cannot_tell(cause.name(), "no I/O was completed in this recording")
        } else if let Damage::TooMuch(why) = &damage {
            Verdict::cannot_tell(cause.name(), why.clone())
        } else {
            cause.judge(case)
        };
        if let (Damage::Some(why), Answer::Found) = (&damage, v.verdict) {
            v.confidence = v.confidence.map(Confidence::less);
            v = v.without(why.clone());
        }
        if v.verdict == Answer::Found
            && v.explains.0 > 0
            && (v.explains.0 as f64) < TRIFLE * all_of_it.0 as f64
        {
            case.give_back(before.clone());
            v = v.trifle(all_of_it);
        }
        v.claims = case.claims_since(&before);
        case.note(&v);
        verdicts.push(v);
    }
    for v in &mut verdicts {
        v.share = v.explains.0 as f64 / all_of_it.0.max(1) as f64;
    }
    let rank = |v: &Verdict| match v.verdict {
        Answer::Found => 0,
        Answer::CannotTell => 1,
        Answer::Rejected => 2,
    };
    verdicts.sort_by(|a, b| rank(a).cmp(&rank(b)).then(b.explains.cmp(&a.explains)));
    verdicts
}
