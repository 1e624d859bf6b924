//! Causes in file systems: journals and logs, their space and their commits, locks, what makes writes synchronous.

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
