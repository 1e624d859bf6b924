//! Causes in the device, or in what shares it: flushes, stalls, queues, other tasks, limits in front of it.

pub mod alone;
pub(crate) mod background_remedies;
pub mod background_task;
pub mod by_the_clock;
pub mod device_busy;
pub mod device_errors;
pub mod device_saturated;
pub mod device_stall;
pub mod discard_stall;
pub mod even;
pub(crate) mod expected;
pub mod flush_cost;
pub mod healthy;
pub(crate) mod line;
pub(crate) mod lower_class;
pub mod misaligned;
pub(crate) mod moved;
pub(crate) mod outside;
pub(crate) mod own_program;
pub mod power_state;
pub mod rate_limit;
pub(crate) mod same_pace;
