//! I/O schedulers: who goes to the device next. One file each, named for the kernel's.

pub mod deadline;
pub mod kyber;
pub mod none;

use serde::Serialize;

/// Number of a request in flight; used again after it is over.
pub type Slot = u32;

/// What a scheduler sees of a request.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// Its number.
    pub slot: Slot,
    /// Where it starts, in sectors.
    pub sector: u64,
    /// Write or read.
    pub write: bool,
    /// Whether a task waits for it.
    pub sync: bool,
    /// 0 real-time, 1 best-effort, 2 idle.
    pub priority: u8,
}

/// A scheduler. Times are nanoseconds of the simulation.
pub trait Scheduler {
    /// A request enters.
    fn insert(&mut self, now: u64, request: Queued);
    /// The device takes one more: which?
    fn dispatch(&mut self, now: u64) -> Option<Slot>;
    /// A request that waits here has grown at its front, from sector `from`.
    fn moved(&mut self, _request: Queued, _from: u64) {}
    /// A request left the device, after so long since it entered, and so long in the device.
    fn completed(&mut self, _now: u64, _request: Queued, _total: u64, _device: u64) {}
}

/// mq-deadline's settings; times in nanoseconds. The defaults are the kernel's (top of block/mq-deadline.c).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tunables {
    /// After this a read is expired.
    pub read_expire: u64,
    /// After this a write is expired.
    pub write_expire: u64,
    /// How many batches of reads may starve waiting writes.
    pub writes_starved: u32,
    /// Requests in a batch.
    pub fifo_batch: u32,
    /// Whether a request may grow at its front.
    pub front_merges: bool,
    /// After this a lower priority goes before a higher one.
    pub prio_aging_expire: u64,
    /// Tags that writes and asynchronous reads may use; `None`: all.
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
