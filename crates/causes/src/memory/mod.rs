//! Causes in memory: writeback, throttling, reclaim, page faults, read-ahead, swap.

pub(crate) mod dirty_limits;
pub mod dirty_throttling;
pub(crate) mod group_memory;
pub(crate) mod in_turn;
pub(crate) mod larger_reads;
pub mod loop_double_cache;
pub(crate) mod own_writeback;
mod page_by_page;
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
