//! A device's numbers as `iostat -x` shows them (iostat(1), sysstat 12).
//!
//! All follow from differences of counters over a time:
//!
//! ```text
//! 812 reads of 6496 sectors that took 974 ms together, in 1 s, 0 merged:
//! r/s 812   rkB/s 3248   rrqm/s 0   %rrqm 0   r_await 1.2 ms   rareq-sz 4 kB
//! ```
//!
//! `await` is from the moment the kernel took the I/O to its completion, so it holds the time in the queue.

use crate::samples::{DiskUse, Io};
use serde::Serialize;

/// What `iostat -x` shows of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Iostat {
    /// `r/s`, `rkB/s`, ...
    pub read: Rates,
    /// `w/s`, `wkB/s`, ...
    pub write: Rates,
    /// `d/s`, `dkB/s`, ...; `None` before Linux 4.18.
    pub discard: Option<Rates>,
    /// `f/s`, `f_await`; the others are 0. `None` before Linux 5.5.
    pub flush: Option<Rates>,
    /// `aqu-sz`: how many I/Os were queued or in the device, on average.
    pub queue: f64,
    /// `%util`: part of the time in which it had something to do, in percent. At 100 a disk that does one thing at a
    /// time is busy; one that does many (SSD, RAID) need not be.
    pub util_percent: f64,
}

/// One kind of I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rates {
    /// `r/s`: requests completed each second.
    pub per_s: f64,
    /// `rkB/s`: KiB each second.
    pub kib_per_s: f64,
    /// `rrqm/s`: I/Os merged into requests each second.
    pub merged_per_s: f64,
    /// `%rrqm`: merged ones of all, in percent.
    pub merged_percent: f64,
    /// `r_await`: how long a request took, in milliseconds.
    pub await_ms: f64,
    /// `rareq-sz`: size of a request in KiB.
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
        // No interval is shorter than the clock's unit, so this is no division by zero.
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
