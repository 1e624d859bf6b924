//! A device's statistics as shown by `iostat -x` (iostat(1), sysstat 12).
//!
//! All are computed from differences of counters over an interval:
//!
//! ```text
//! 812 reads of 6496 sectors that took 974 ms together, in 1 s, 0 merged:
//! r/s 812   rkB/s 3248   rrqm/s 0   %rrqm 0   r_await 1.2 ms   rareq-sz 4 kB
//! ```
//!
//! `await` is the time from the kernel's acceptance of the I/O to its completion, including time in the queue.

use crate::samples::{DiskUse, Io};
use serde::Serialize;

/// The statistics that `iostat -x` shows for a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Iostat {
    /// Reads: `r/s`, `rkB/s`, ...
    pub read: Rates,
    /// Writes: `w/s`, `wkB/s`, ...
    pub write: Rates,
    /// Discards: `d/s`, `dkB/s`, ...; `None` before Linux 4.18.
    pub discard: Option<Rates>,
    /// Flushes: `f/s`, `f_await`; the other fields are 0. `None` before Linux 5.5.
    pub flush: Option<Rates>,
    /// `aqu-sz`: average number of I/Os queued or in the device.
    pub queue: f64,
    /// `%util`: part of the time with at least one I/O queued or in the device, in percent. A disk that serves one I/O at a
    /// time is saturated at 100; one that serves many (SSD, RAID) may not be.
    pub util_percent: f64,
}

/// Statistics of one kind of I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rates {
    /// `r/s`: requests completed per second.
    pub per_s: f64,
    /// `rkB/s`: KiB per second.
    pub kib_per_s: f64,
    /// `rrqm/s`: I/Os merged into requests per second.
    pub merged_per_s: f64,
    /// `%rrqm`: merged I/Os, in percent of all.
    pub merged_percent: f64,
    /// `r_await`: average time of a request in milliseconds; 0 without requests.
    pub await_ms: f64,
    /// `rareq-sz`: average size of a request in KiB; 0 without requests.
    pub request_kib: f64,
}

impl Rates {
    fn of(io: &Io, seconds: f64) -> Rates {
        let each = |n: f64| if io.count == 0 { 0.0 } else { n / io.count as f64 };
        let kib = io.sectors as f64 / 2.0;
        Rates {
            per_s: io.count as f64 / seconds,
            kib_per_s: kib / seconds,
            merged_per_s: io.merged as f64 / seconds,
            merged_percent: 100.0 * io.merged as f64 / (io.merged as f64 + io.count as f64).max(1.0),
            await_ms: each(io.ms as f64),
            request_kib: each(kib),
        }
    }
}

impl From<&DiskUse> for Iostat {
    fn from(disk: &DiskUse) -> Iostat {
        // An interval is at least one unit of the clock, so there is no division by zero.
        let seconds = disk.time.0.max(1) as f64 / 1e9;
        Iostat {
            read: Rates::of(&disk.reads, seconds),
            write: Rates::of(&disk.writes, seconds),
            discard: disk.discards.map(|io| Rates::of(&io, seconds)),
            flush: disk.flushes.map(|io| Rates::of(&io, seconds)),
            queue: disk.weighted_ms as f64 / 1e3 / seconds,
            util_percent: disk.busy_ms as f64 / 10.0 / seconds,
        }
    }
}
