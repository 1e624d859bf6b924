//! Reads the clocks of a recording.

use capture::Moment;
use rustix::time::{clock_gettime, ClockId};
use trace::Nanos;

/// The current time on both clocks.
pub fn now() -> Moment {
    Moment { wall: wall(), mono_ns: mono().0 }
}

/// The wall-clock time, RFC 3339 in UTC.
pub fn wall() -> String {
    humantime::format_rfc3339_nanos(std::time::SystemTime::now()).to_string()
}

/// The current time of CLOCK_MONOTONIC.
pub fn mono() -> Nanos {
    clock(ClockId::Monotonic)
}

/// Processor time used by this program so far, all threads.
pub fn busy() -> Nanos {
    clock(ClockId::ProcessCPUTime)
}

fn clock(id: ClockId) -> Nanos {
    let t = clock_gettime(id);
    Nanos(t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64)
}
