//! I/O schedulers: they choose the next request for the device. One file each, named like the kernel's.

pub mod deadline;
pub mod kyber;
pub mod none;

use serde::Serialize;

/// The number of a request in flight; reused after its completion.
pub type Slot = u32;

/// The scheduler's view of a request.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// The request's number.
    pub slot: Slot,
    /// Its first sector.
    pub sector: u64,
    /// Whether it is a write.
    pub write: bool,
    /// Whether a task waits for it.
    pub sync: bool,
    /// 0 real-time, 1 best-effort, 2 idle.
    pub priority: u8,
}

/// A scheduler. Times are in nanoseconds of the simulation.
pub trait Scheduler {
    /// A request enters the scheduler.
    fn insert(&mut self, now: u64, request: Queued);
    /// Chooses the next request for the device, if there is one.
    fn dispatch(&mut self, now: u64) -> Option<Slot>;
    /// A waiting request has grown at its front; it began at sector `from` before.
    fn moved(&mut self, _request: Queued, _from: u64) {}
    /// A request was completed, `total` nanoseconds after it entered the scheduler and `device` nanoseconds after its issue.
    fn completed(&mut self, _now: u64, _request: Queued, _total: u64, _device: u64) {}
}

/// mq-deadline's settings; times in nanoseconds. The defaults are the kernel's (top of block/mq-deadline.c).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tunables {
    /// Nanoseconds after which a read expires.
    pub read_expire: u64,
    /// Nanoseconds after which a write expires.
    pub write_expire: u64,
    /// Number of batches of reads before waiting writes get a turn.
    pub writes_starved: u32,
    /// Number of requests in a batch.
    pub fifo_batch: u32,
    /// Whether a request may grow at its front.
    pub front_merges: bool,
    /// Nanoseconds after which a lower priority goes before a higher one.
    pub prio_aging_expire: u64,
    /// Number of tags for writes and asynchronous reads; `None`: all.
    pub async_depth: Option<u32>,
}

impl Default for Tunables {
    fn default() -> Tunables {
        const MS: u64 = 1_000_000;
        Tunables {
            read_expire: 500 * MS,
            write_expire: 5000 * MS,
            writes_starved: 2,
            fifo_batch: 16,
            front_merges: true,
            prio_aging_expire: 10_000 * MS,
            async_depth: None,
        }
    }
}
