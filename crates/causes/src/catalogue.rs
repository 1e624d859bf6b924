//! The catalogue: all causes, in the order in which they claim time.

use crate::cause::{Cause, Nature};
use crate::{block, counters, cpu, device, journal, memory, raid, scheduler};

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
        scheduler::scheduler_throttle::CAUSE,
        scheduler::scheduler_idling::CAUSE,
        device::background_task::CAUSE,
        block::writeback_throttle::CAUSE,
        block::cgroup_limit::CAUSE,
        journal::journal_cpu::CAUSE,
        device::flush_cost::CAUSE,
        device::misaligned::CAUSE,
        journal::log_force::CAUSE,
        device::device_busy::CAUSE,
        scheduler::scheduler_starvation::CAUSE,
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

/// Whether recordings are judged for this cause; else only texts are.
pub fn is_in_recordings(cause: &str) -> bool {
    pages().any(|(name, ..)| name == cause)
}

/// Name, title and page of every cause, including those that only texts show.
pub fn all_pages() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    pages().chain(counters::PAGES)
}

/// The title of a cause if counters are all there is; `None` if no cause has this name.
pub fn title_by_counters(cause: &str) -> Option<&'static str> {
    match cause {
        "log-force" => Some("the time goes into the log's own code, not into the log's device"),
        _ => all_pages().find(|(name, ..)| *name == cause).map(|(_, title, _)| title),
    }
}
