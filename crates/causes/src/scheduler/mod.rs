//! Causes in the I/O scheduler: starvation, throttling, idling.

pub mod scheduler_idling;
pub mod scheduler_starvation;
pub mod scheduler_throttle;
