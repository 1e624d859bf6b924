//! Causes in the block layer above the device: limits, tags, splitting, merging, throttling.

pub(crate) mod at_limit;
pub mod cgroup_limit;
pub mod crypt_queue;
pub(crate) mod let_go;
pub mod lost_merging;
pub mod queue_freeze;
pub mod request_size;
pub mod tag_exhaustion;
pub mod writeback_throttle;
