//! Why it was slow: one file per cause, each with what proves it, what refutes it and what to do.
//!
//! [`judge`] asks all causes in order, the specific ones first. Each claims segments of the tail's time; what is
//! claimed is gone for those after it, so shares never exceed the whole.

mod behind;
mod case;
mod counters;
mod damage;
mod growth;
mod met;
mod paths;
mod proof;
mod raid;
mod remedy;
mod shares;
mod slow;
#[cfg(test)]
mod story;
#[cfg(test)]
mod tests;
mod thresholds;
#[cfg(test)]
mod told;
mod verdict;
use units::words;

mod block {
    pub mod cgroup_limit;
    pub mod crypt_queue;
    pub mod lost_merging;
    pub mod queue_freeze;
    pub mod request_size;
    pub mod tag_exhaustion;
    pub mod writeback_throttle;
}
mod cpu {
    pub mod completion_cpu;
    pub mod cpu_wait;
    pub mod outside_io;
}
mod device {
    pub mod alone;
    pub mod background_task;
    pub mod device_busy;
    pub mod device_errors;
    pub mod device_saturated;
    pub mod device_stall;
    pub mod discard_stall;
    pub mod flush_cost;
    pub mod healthy;
    pub mod misaligned;
    pub mod power_state;
    pub mod rate_limit;
}
mod journal {
    pub mod access_time;
    pub mod inode_lock;
    pub mod journal_cpu;
    pub mod journal_ordered;
    pub mod journal_space;
    pub mod log_force;
    pub mod log_space;
}
mod memory {
    pub mod dirty_throttling;
    pub mod loop_double_cache;
    pub mod page_fault_read;
    pub mod read_ahead_short;
    pub mod read_ahead_waste;
    pub mod reclaim;
    pub mod stable_page;
    pub mod swap;
    pub mod writeback_flood;
}
mod scheduler {
    pub mod scheduler_idling;
    pub mod scheduler_starvation;
    pub mod scheduler_throttle;
}

pub use case::{Case, MIN_SAMPLES, MIN_SHARE, NOT_SLOW};
pub use counters::{judge_counters, title_by_counters};
pub use damage::{Damage, DAMAGED, TOO_DAMAGED};
pub use device::background_task::works_for_others;
pub use proof::{Proof, Quantity};
pub use remedy::{Action, Acts, Remedy};
pub use slow::Slow;
pub use thresholds::alone::FLASH_ALONE;
use thresholds::judge::TRIFLE;
pub use thresholds::{WBT_DISK, WBT_FLASH};
pub use verdict::{Answer, Claim, Confidence, Verdict};

/// A cause of slow I/O.
pub struct Cause {
    /// Its name, as contracts and scripts know it.
    pub name: &'static str,
    /// What it says, in one line.
    pub title: &'static str,
    /// Its page of documentation.
    pub page: &'static str,
    /// The verdict on a recording.
    pub judge: fn(&mut Case) -> Verdict,
}

/// All causes, in the order in which they claim time: the specific ones before the general ones.
pub fn all() -> &'static [Cause] {
    const ALL: &[Cause] = &[
        block::crypt_queue::CAUSE,
        raid::raid_stripe_cache::CAUSE,
        raid::raid_bitmap::CAUSE,
        raid::raid_read_modify_write::CAUSE,
        device::device_errors::CAUSE,
        device::rate_limit::CAUSE,
        block::queue_freeze::CAUSE,
        memory::loop_double_cache::CAUSE,
        memory::swap::CAUSE,
        memory::reclaim::CAUSE,
        memory::stable_page::CAUSE,
        journal::inode_lock::CAUSE,
        journal::access_time::CAUSE,
        journal::journal_space::CAUSE,
        journal::log_space::CAUSE,
        journal::journal_ordered::CAUSE,
        memory::dirty_throttling::CAUSE,
        device::background_task::CAUSE,
        block::writeback_throttle::CAUSE,
        block::cgroup_limit::CAUSE,
        journal::journal_cpu::CAUSE,
        device::flush_cost::CAUSE,
        device::misaligned::CAUSE,
        journal::log_force::CAUSE,
        device::device_busy::CAUSE,
        scheduler::scheduler_starvation::CAUSE,
        scheduler::scheduler_throttle::CAUSE,
        scheduler::scheduler_idling::CAUSE,
        block::request_size::CAUSE,
        block::tag_exhaustion::CAUSE,
        raid::raid_resync::CAUSE,
        memory::writeback_flood::CAUSE,
        device::discard_stall::CAUSE,
        device::power_state::CAUSE,
        cpu::completion_cpu::CAUSE,
        block::lost_merging::CAUSE,
        memory::read_ahead_waste::CAUSE,
        memory::read_ahead_short::CAUSE,
        device::device_stall::CAUSE,
        device::device_saturated::CAUSE,
        memory::page_fault_read::CAUSE,
        device::alone::COLD_READS,
        device::alone::SLOW_DEVICE,
        cpu::cpu_wait::CAUSE,
        cpu::outside_io::CAUSE,
        device::healthy::CAUSE,
    ];
    ALL
}

/// Name, title and page of every cause.
pub fn pages() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    all().iter().map(|c| (c.name, c.title, c.page))
}

/// The same, and those of causes that only texts show.
pub fn all_pages() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    pages().chain(counters::PAGES)
}

/// The verdict of one cause, with what it claimed.
fn claimed(case: &mut Case, damage: &Damage, name: &'static str, judge: fn(&mut Case) -> Verdict) -> Verdict {
    let all_of_it = case.total();
    let before = case.unclaimed_now();
    let mut v = if case.focus.groups.is_empty() {
        Verdict::cannot_tell(name, "no I/O was completed in this recording")
    } else if let Damage::TooMuch(why) = damage {
        Verdict::cannot_tell(name, why.clone())
    } else {
        judge(case)
    };
    if let (Damage::Some(why), Answer::Found) = (damage, v.verdict) {
        v.confidence = v.confidence.map(Confidence::less);
        v = v.without(why.clone());
    }
    let is_trifle = v.explains.0 > 0 && (v.explains.0 as f64) < TRIFLE * all_of_it.0 as f64;
    if v.verdict == Answer::Found && is_trifle {
        case.give_back(before.clone());
        v = v.trifle(all_of_it);
    }
    v.claims = case.claims_since(&before);
    case.note(&v);
    v
}

/// The verdicts of all causes: those found first, by the time they explain; then those that cannot tell; then
/// those rejected.
///
/// [`Damage`] comes before any cause: of a recording in which too much is missing nothing is claimed, and with some
/// missing each finding is a step less sure.
pub fn judge(case: &mut Case) -> Vec<Verdict> {
    let damage = case.damage();
    let all_of_it = case.total();
    let mut verdicts: Vec<Verdict> = Vec::new();
    for cause in all() {
        verdicts.push(claimed(case, &damage, cause.name, cause.judge));
    }
    if device::healthy::nothing_slow(case) {
        // Where nothing was slow, nothing is a cause of it.
        // What passes outside of operations is in none of their times.
        let others = |v: &&mut Verdict| {
            let outside = [device::healthy::CAUSE.name, cpu::outside_io::CAUSE.name].contains(&v.cause);
            v.verdict == Answer::Found && !outside && v.throughout.is_empty()
        };
        verdicts.iter_mut().filter(others).for_each(Verdict::nothing_slow);
    }
    behind::name_roots(case, &mut verdicts);
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
