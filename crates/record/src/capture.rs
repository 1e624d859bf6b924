//! `capture.json`: what ran, when, on what, and how far the recording can be trusted.

use crate::events::{Chosen, Detail};
use rustix::time::{clock_gettime, ClockId};
use serde::Serialize;

/// The name and version of this file's layout. Fields may be added.
pub const SCHEMA: &str = "iowhy.capture/1";

/// The whole file.
#[derive(Clone, Debug, Serialize)]
pub struct Capture {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Program and version that recorded.
    pub recorder: String,
    /// The host's name.
    pub host: String,
    /// `uname -r`.
    pub kernel: String,
    /// The command that was run, word by word.
    pub command: Option<Vec<String>>,
    /// How it ended: its exit code, or 128 and the signal's number as a shell says it.
    pub exit_status: Option<i32>,
    /// Why the recording ended.
    pub ended_by: EndedBy,
    /// How much was asked for.
    pub detail: Detail,
    /// Devices it was limited to, with all that lie below and above them; empty: all.
    pub devices: Vec<String>,
    /// When it began.
    pub start: Moment,
    /// When it ended.
    pub end: Moment,
    /// The clock of the trace (`trace_clock`). `mono` is CLOCK_MONOTONIC, which [`Moment`] also gives.
    pub clock: String,
    /// Where the trace lies.
    pub trace: TraceFiles,
    /// How many processors were recorded.
    pub cpus: u32,
    /// Size of the kernel's buffer for each of them.
    pub buffer_kib_per_cpu: u64,
    /// Events recorded.
    pub events: u64,
    /// Bytes of pages kept.
    pub bytes: u64,
    /// Events that the kernel could not keep, in all.
    pub lost: u64,
    /// The same, where and when.
    pub losses: Vec<Loss>,
    /// Processor time that the recorder took between start and end, all its threads, in nanoseconds.
    pub recorder_cpu_ns: u64,
    /// Events that were recorded, with filter and trigger.
    pub recorded: Vec<Chosen>,
    /// Events that the analysis stands on and this kernel lacks.
    pub missing: Vec<String>,
    /// Other events that this kernel lacks (other versions, modules that are not loaded).
    pub absent: Vec<String>,
    /// What else to know, in words.
    pub notes: Vec<String>,
}

/// A point in time, on both clocks.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Moment {
    /// The wall clock, RFC 3339.
    pub wall: String,
    /// CLOCK_MONOTONIC in nanoseconds.
    pub mono_ns: u64,
}

impl Moment {
    /// This moment.
    pub fn now() -> Moment {
        Moment { wall: wall(), mono_ns: mono().0 }
    }
}

/// The wall clock, RFC 3339 in UTC.
pub fn wall() -> String {
    humantime::format_rfc3339_nanos(std::time::SystemTime::now()).to_string()
}

/// CLOCK_MONOTONIC.
pub fn mono() -> trace::Nanos {
    clock(ClockId::Monotonic)
}

/// Processor time of this program so far, all threads.
pub fn busy() -> trace::Nanos {
    clock(ClockId::ProcessCPUTime)
}

fn clock(id: ClockId) -> trace::Nanos {
    let t = clock_gettime(id);
    trace::Nanos(t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64)
}

/// Losses of one processor in one second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// Seconds after the start.
    pub second: u64,
    /// The processor.
    pub cpu: u32,
    /// Events.
    pub lost: u64,
}

/// Why a recording ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    /// Its time was over.
    Time,
    /// The command ended.
    Command,
    /// Somebody sent a signal.
    Signal,
    /// It is kept in memory, and that is full.
    MemoryFull,
    /// The disk is full, or the pipe was closed.
    OutputFailed,
}

/// In which form the trace lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum TraceFiles {
    /// One file `trace.dat`.
    #[serde(rename = "trace.dat")]
    Dat,
    /// `trace.head` and one `trace.cpuN.raw` for each processor, in a stream in parts.
    #[serde(rename = "trace.head")]
    Raw,
}
