//! `capture.json`: what ran, when, on which machine, and how complete the recording is.

use crate::json;
use crate::lenient;
use crate::role::Role;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of the schema of this file. Fields may be added without a new version.
pub const CAPTURE_SCHEMA: &str = "iowhy.capture/1";

/// The content of `capture.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Capture {
    /// The schema, [`CAPTURE_SCHEMA`].
    #[serde(deserialize_with = "lenient::or_default")]
    pub schema: String,
    /// Name and version of the recording program.
    #[serde(deserialize_with = "lenient::or_default")]
    pub recorder: String,
    /// Host name of the machine.
    #[serde(deserialize_with = "lenient::or_default")]
    pub host: String,
    /// Kernel release (`uname -r`).
    #[serde(deserialize_with = "lenient::or_default")]
    pub kernel: String,
    /// The command that was run, as words; `None` if there was none.
    #[serde(deserialize_with = "lenient::or_default")]
    pub command: Option<Vec<String>>,
    /// Its exit code, or 128 plus the signal's number as in a shell; `None` without a command.
    #[serde(deserialize_with = "lenient::or_default")]
    pub exit_status: Option<i32>,
    /// Why the recording ended.
    #[serde(deserialize_with = "lenient::or_default")]
    pub ended_by: EndedBy,
    /// The requested level of detail.
    #[serde(deserialize_with = "lenient::or_default")]
    pub detail: Detail,
    /// Names of the devices that it was limited to, including all devices below and above them; empty: all devices.
    #[serde(deserialize_with = "lenient::or_default")]
    pub devices: Vec<String>,
    /// Start of the recording.
    pub start: Moment,
    /// End of the recording.
    #[serde(deserialize_with = "lenient::or_default")]
    pub end: Moment,
    /// The trace clock (`trace_clock`). `mono` is CLOCK_MONOTONIC, which [`Moment`] also has.
    #[serde(deserialize_with = "lenient::or_default")]
    pub clock: String,
    /// The form of the trace files.
    #[serde(deserialize_with = "lenient::or_default")]
    pub trace: TraceFiles,
    /// Number of recorded processors.
    #[serde(deserialize_with = "lenient::or_default")]
    pub cpus: u32,
    /// Size of the kernel's buffer per processor in KiB.
    #[serde(deserialize_with = "lenient::or_default")]
    pub buffer_kib_per_cpu: u64,
    /// Number of recorded events.
    #[serde(deserialize_with = "lenient::or_default")]
    pub events: u64,
    /// Total size of the recorded pages in bytes.
    #[serde(deserialize_with = "lenient::or_default")]
    pub bytes: u64,
    /// Total number of lost events, for which the kernel had no room.
    pub lost: u64,
    /// Lost events by processor and second.
    pub losses: Vec<Loss>,
    /// Processor time used by all threads of the recorder between start and end, in nanoseconds.
    #[serde(deserialize_with = "lenient::or_default")]
    pub recorder_cpu_ns: u64,
    /// Recorded events, with filter and trigger.
    #[serde(deserialize_with = "lenient::or_default")]
    pub recorded: Vec<Chosen>,
    /// Required events that this kernel lacks.
    pub missing: Vec<String>,
    /// Optional events that this kernel lacks (other versions, modules that are not loaded).
    #[serde(deserialize_with = "lenient::or_default")]
    pub absent: Vec<String>,
    /// Further remarks, in words.
    #[serde(deserialize_with = "lenient::or_default")]
    pub notes: Vec<String>,
    /// In a redacted copy: the roles of tasks, by their replacement names. `None` if names are original.
    #[serde(deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub roles: Option<BTreeMap<String, Role>>,
}

impl Capture {
    /// The document as JSON text.
    pub fn json(&self) -> Vec<u8> {
        json::pretty(self)
    }
}

/// A moment on both clocks.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Moment {
    /// Wall-clock time, RFC 3339.
    pub wall: String,
    /// CLOCK_MONOTONIC in nanoseconds.
    pub mono_ns: u64,
}

/// Lost events of one processor in one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Loss {
    /// Whole seconds since the start.
    pub second: u64,
    /// Number of the processor.
    pub cpu: u32,
    /// Number of lost events.
    pub lost: u64,
}

/// Why a recording ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    /// Not given, or a reason from another version.
    #[default]
    Unknown,
    /// The requested time was over.
    Time,
    /// The command exited.
    Command,
    /// The recorder received a signal.
    Signal,
    /// The recording was kept in memory, and its limit was reached.
    MemoryFull,
    /// The disk was full, or the pipe was closed.
    OutputFailed,
}

/// The form of the trace files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TraceFiles {
    /// A single file `trace.dat`.
    #[default]
    #[serde(rename = "trace.dat")]
    Dat,
    /// `trace.head` and one `trace.cpuN.raw` for each processor; in a stream, the latter are in parts.
    #[serde(rename = "trace.head")]
    Raw,
}

/// The level of detail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// The events of blktrace: the life of every bio and request. About 5 events per I/O.
    Block,
    /// The whole path: also system calls, sleeps with kernel stacks, wakeups, work queues, writeback, file
    /// systems and journals. About 20 events per I/O.
    #[default]
    Path,
}

/// An event to record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Chosen {
    /// Its group, for example `block`.
    pub system: String,
    /// Its name, for example `block_rq_issue`.
    pub name: String,
    /// The kernel's filter expression that selects the records to keep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// A trigger command that the kernel executes at the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
}

impl Chosen {
    /// Its path in tracefs, `events/GROUP/NAME`.
    pub fn folder(&self) -> String {
        format!("events/{}/{}", self.system, self.name)
    }
}
