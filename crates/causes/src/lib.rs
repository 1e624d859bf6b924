//! Why I/O was slow: one file per cause, each with what proves it, what refutes it and what to do.
//!
//! [`judge`] asks all causes in order, the specific ones first. Each claims rows of the tail's time; claimed time is
//! not available to later causes, so shares never exceed the whole.

mod behind;
mod case;
mod claimable;
mod counters;
mod damage;
mod driver;
mod growth;
mod hardware;
mod interfering;
mod limit;
mod measure;
#[cfg(test)]
mod op_builder;
mod paths;
mod proof;
mod raid;
mod remedy;
mod risk;
mod shares;
mod slow;
mod target;
mod tested;
#[cfg(test)]
mod tests;
mod thresholds;
#[cfg(test)]
mod trace_builder;
mod verdict;
use units::words;

mod block {
    pub(crate) mod at_limit;
    pub mod cgroup_limit;
    pub mod crypt_queue;
    pub(crate) mod let_go;
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
    pub(crate) mod quota;
    pub mod worker_cpu;
}
mod device {
    pub mod alone;
    pub mod background_task;
    pub mod by_the_clock;
    pub mod device_busy;
    pub mod device_errors;
    pub mod device_saturated;
    pub mod device_stall;
    pub mod discard_stall;
    pub mod even;
    pub mod flush_cost;
    pub mod healthy;
    pub(crate) mod line;
    pub mod misaligned;
    pub(crate) mod moved;
    pub(crate) mod own_program;
    pub mod power_state;
    pub mod rate_limit;
}
mod journal {
    pub mod access_time;
    pub(crate) mod again;
    pub(crate) mod commit_setting;
    pub(crate) mod durable;
    pub mod frozen;
    pub(crate) mod growing;
    pub mod inode_lock;
    pub mod journal_commit;
    pub mod journal_cpu;
    pub mod journal_ordered;
    pub mod journal_space;
    pub mod log_force;
    pub mod log_space;
}
mod memory {
    pub(crate) mod dirty_limits;
    pub mod dirty_throttling;
    pub(crate) mod group_memory;
    pub mod loop_double_cache;
    pub(crate) mod own_writeback;
    pub mod page_fault_read;
    pub(crate) mod read_again;
    pub mod read_ahead_short;
    pub mod read_ahead_waste;
    pub(crate) mod read_around;
    pub mod reclaim;
    pub mod stable_page;
    pub mod swap;
    pub mod writeback_flood;
    pub(crate) mod writer;
}
mod scheduler {
    pub mod scheduler_idling;
    pub mod scheduler_starvation;
    pub mod scheduler_throttle;
}

pub use case::{Case, KEPT_WAITING, MIN_SAMPLES, MIN_SHARE, NOT_SLOW};
pub use counters::{judge_counters, title_by_counters};
pub use damage::{Damage, DAMAGED, TOO_DAMAGED};
pub use device::alone::flash_takes;
pub use driver::judge;
use driver::{Each, Judge, Otherwise, Said};
pub use proof::{Proof, Quantity};
pub use remedy::{Action, Acts, Remedy};
pub use risk::Risk;
pub use slow::Slow;
pub use tested::{tested, Tested};
pub use thresholds::{WBT_DISK, WBT_FLASH};
pub use trace::works_for_others;
pub use verdict::{Answer, Claim, Confidence, Verdict};

/// The cause that takes no time of any operation: waits for a processor between operations.
pub const OUTSIDE_IO: &str = cpu::outside_io::CAUSE.name;

/// A cause of slow I/O, known by name.
pub struct Cause {
    /// The stable name that scripts use: `writeback-flood`.
    pub name: &'static str,
    /// One line that says what happens.
    pub title: &'static str,
    /// How much of it is significant.
    nature: Nature,
    /// Its page of documentation, in Markdown.
    pub page: &'static str,
    judge: Judge,
}

/// How much of a cause is significant, and how it relates to other causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// It only says where the time passed.
    General,
    /// Another task's requests in the device: while the device is full of them, it may well complete nothing else for a while.
    Contention,
    /// Every busy machine has a little of it, or every machine with that setting or layout: the amount decides.
    Everyday,
    /// Somebody set a limit. It explains time that seems to be the device's own: a limit that lets requests through by the clock sets its pace.
    Limit,
    /// Rare: a stall, a lock, a page that must not change. Even a little of it is worth reporting.
    Rare,
}

/// The nature of the cause of this name; causes that only texts show are rare.
pub fn nature(cause: &str) -> Nature {
    all().iter().find(|c| c.name == cause).map_or(Nature::Rare, |c| c.nature)
}

/// All causes, in the order in which they claim time: the specific ones before the general ones.
pub fn all() -> &'static [Cause] {
    const ALL: &[Cause] = &[
        block::crypt_queue::CAUSE,
        raid::raid_stripe_cache::CAUSE,
        raid::raid_bitmap::CAUSE,
        raid::raid_read_modify_write::CAUSE,
        device::device_errors::CAUSE,
        memory::swap::CAUSE,
        device::rate_limit::CAUSE,
        block::queue_freeze::CAUSE,
        journal::frozen::CAUSE,
        memory::loop_double_cache::CAUSE,
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
        cpu::worker_cpu::CAUSE,
        block::lost_merging::CAUSE,
        memory::read_ahead_waste::CAUSE,
        memory::read_ahead_short::CAUSE,
        device::device_stall::CAUSE,
        device::device_saturated::CAUSE,
        memory::page_fault_read::CAUSE,
        device::alone::COLD_READS,
        journal::journal_commit::CAUSE,
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

/// Name, title and page of every cause, including those that only texts show.
pub fn all_pages() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    pages().chain(counters::PAGES)
}
