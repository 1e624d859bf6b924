//! `capture.json`: what ran, when, on what, and how far the recording can be trusted.

use crate::lenient;
use crate::role::Role;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name and version of this file's layout. Fields may be added.
pub const CAPTURE_SCHEMA: &str = "iowhy.capture/1";

/// The whole file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Capture {
    /// [`CAPTURE_SCHEMA`].
    #[serde(deserialize_with = "lenient::or_default")]
    pub schema: String,
    /// Program and version that recorded.
    #[serde(deserialize_with = "lenient::or_default")]
    pub recorder: String,
    /// The host's name.
    #[serde(deserialize_with = "lenient::or_default")]
    pub host: String,
    /// `uname -r`.
    #[serde(deserialize_with = "lenient::or_default")]
    pub kernel: String,
    /// The command that was run, word by word.
    #[serde(deserialize_with = "lenient::or_default")]
    pub command: Option<Vec<String>>,
    /// How it ended: its exit code, or 128 and the signal's number as a shell says it.
    #[serde(deserialize_with = "lenient::or_default")]
    pub exit_status: Option<i32>,
    /// Why the recording ended.
    #[serde(deserialize_with = "lenient::or_default")]
    pub ended_by: EndedBy,
    /// How much was asked for.
    #[serde(deserialize_with = "lenient::or_default")]
    pub detail: Detail,
    /// Devices it was limited to, with all that lie below and above them; empty: all.
    #[serde(deserialize_with = "lenient::or_default")]
    pub devices: Vec<String>,
    /// When it began.
    pub start: Moment,
    /// When it ended.
    #[serde(deserialize_with = "lenient::or_default")]
    pub end: Moment,
    /// The clock of the trace (`trace_clock`). `mono` is CLOCK_MONOTONIC, which [`Moment`] also gives.
    #[serde(deserialize_with = "lenient::or_default")]
    pub clock: String,
    /// Where the trace lies.
    #[serde(deserialize_with = "lenient::or_default")]
    pub trace: TraceFiles,
    /// How many processors were recorded.
    #[serde(deserialize_with = "lenient::or_default")]
    pub cpus: u32,
    /// Size of the kernel's buffer for each of them.
    #[serde(deserialize_with = "lenient::or_default")]
    pub buffer_kib_per_cpu: u64,
    /// Events recorded.
    #[serde(deserialize_with = "lenient::or_default")]
    pub events: u64,
    /// Bytes of pages kept.
    #[serde(deserialize_with = "lenient::or_default")]
    pub bytes: u64,
    /// Events that the kernel could not keep, in all.
    pub lost: u64,
    /// The same, where and when.
    pub losses: Vec<Loss>,
    /// Processor time that the recorder took between start and end, all its threads, in nanoseconds.
    #[serde(deserialize_with = "lenient::or_default")]
    pub recorder_cpu_ns: u64,
    /// Events that were recorded, with filter and trigger.
    #[serde(deserialize_with = "lenient::or_default")]
    pub recorded: Vec<Chosen>,
    /// Events that the analysis stands on and this kernel lacks.
    pub missing: Vec<String>,
    /// Other events that this kernel lacks (other versions, modules that are not loaded).
    #[serde(deserialize_with = "lenient::or_default")]
    pub absent: Vec<String>,
    /// What else to know, in words.
    #[serde(deserialize_with = "lenient::or_default")]
    pub notes: Vec<String>,
    /// In a redacted copy: what tasks are to their users, by their stand-ins. None where names are names.
    #[serde(deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub roles: Option<BTreeMap<String, Role>>,
}

impl Capture {
    /// As JSON text.
    pub fn json(&self) -> Vec<u8> {
        crate::pretty(self)
    }
}

/// A point in time, on both clocks.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Moment {
    /// The wall clock, RFC 3339.
    pub wall: String,
    /// CLOCK_MONOTONIC in nanoseconds.
    pub mono_ns: u64,
}

/// Losses of one processor in one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Loss {
    /// Seconds after the start.
    pub second: u64,
    /// The processor.
    pub cpu: u32,
    /// Events.
    pub lost: u64,
}

/// Why a recording ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    /// Not said, or in words of another version.
    #[default]
    Unknown,
    /// Its time was over.
    Time,
    /// The command ended.
    Command,
    /// A signal was received.
    Signal,
    /// It is kept in memory, and that is full.
    MemoryFull,
    /// The disk is full, or the pipe was closed.
    OutputFailed,
}

/// In which form the trace lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TraceFiles {
    /// One file `trace.dat`.
    #[default]
    #[serde(rename = "trace.dat")]
    Dat,
    /// `trace.head` and one `trace.cpuN.raw` for each processor, in a stream in parts.
    #[serde(rename = "trace.head")]
    Raw,
}

/// How much is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// What blktrace records: the life of every bio and request. About 5 events per I/O.
    Block,
    /// The whole path: system calls, sleeps with their kernel stacks, wake-ups, work queues, writeback, file
    /// systems and journals too. About 20 events per I/O.
    #[default]
    Path,
}

/// An event to record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Chosen {
    /// Its folder, for instance `block`.
    pub system: String,
    /// Its name, for instance `block_rq_issue`.
    pub name: String,
    /// What the kernel is to leave out, in its own filter language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// What the kernel is to do as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
}

impl Chosen {
    /// Its folder below `events/`.
    pub fn folder(&self) -> String {
        format!("events/{}/{}", self.system, self.name)
    }
}
