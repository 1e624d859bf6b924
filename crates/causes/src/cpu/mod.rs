//! Causes on processors: waits for one, late completions, workers that compute.

pub mod completion_cpu;
pub mod cpu_wait;
pub mod outside_io;
pub(crate) mod quota;
pub mod worker_cpu;
