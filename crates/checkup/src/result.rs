//! What came of a checkup: the file to keep (schema `iowhy.checkup/1`). Names once shipped do not change, fields may be added.

use crate::other_users::OtherUsers;
use crate::place::Place;
use crate::processors::Processors;
use crate::trial::Trial;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name and version of the file's layout.
pub const SCHEMA: &str = "iowhy.checkup/1";

/// The result of a checkup, which `--compare` reads too.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Checkup {
    /// The name of this schema.
    pub schema: String,
    /// When it began, RFC 3339.
    pub when: String,
    /// The program's version.
    pub iowhy: String,
    /// `uname -r`.
    pub kernel: String,
    /// fio's version.
    pub fio: String,
    /// Where the checkup takes place.
    pub place: Place,
    /// Settings of the disk and of writeback, as they were: `queue/scheduler`, `vm/dirty_ratio`.
    pub settings: BTreeMap<String, String>,
    /// What the disk can do, the reference for the other scenarios.
    pub probe: Probe,
    /// Whether all steps to be recorded were recorded.
    pub recorded: bool,
    /// What was not seen, and why.
    pub not_seen: Vec<String>,
    /// Seconds that it took.
    pub seconds: f64,
    /// Bytes that it was allowed to write.
    pub most_bytes: u64,
    /// Bytes that it wrote, as fio counts them.
    pub written_bytes: u64,
    /// Each scenario.
    pub scenarios: Vec<Scenario>,
    /// What to do, the greatest gain first.
    pub remedies: Vec<Remedy>,
    /// A remedy that was tried.
    pub trial: Option<Trial>,
}

/// What the disk can do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Probe {
    /// Of random reads of 4 KiB, one at a time.
    pub floor: Latency,
    /// The depth from which on it is no faster (nine tenths of the most).
    pub knee_depth: u32,
    /// The best read rate divided by the rate at depth 1.
    pub parallelism: f64,
    /// Bytes a second that it writes, each 4 MiB made safe.
    pub write_bytes_per_second: u64,
    /// Size of the data file.
    pub size: u64,
    /// Other tasks' I/O on the disk during the reference read, if it was much: then limits that are multiples of it are
    /// too mild.
    #[serde(rename = "company")]
    pub other_users: Option<OtherUsers>,
}

/// One scenario.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Scenario {
    /// Its number.
    pub number: u8,
    /// Its name.
    pub name: String,
    /// What was tried.
    pub about: String,
    /// `good`, `suffers`, `cannot-tell`.
    pub verdict: String,
    /// Its runs of fio.
    pub steps: Vec<Step>,
    /// What is worse than on a good disk.
    pub findings: Vec<Finding>,
    /// What was compared with a good disk and is within its limits, a sentence each.
    pub good: Vec<String>,
    /// Remarks, a sentence each.
    pub remarks: Vec<String>,
}

/// One run of fio.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// The job file.
    pub job: String,
    /// What was set in it.
    pub variables: BTreeMap<String, String>,
    /// Whether it was recorded.
    pub recorded: bool,
    /// What fio measured.
    pub measured: Vec<Measured>,
    /// Causes that were found in the recording, by the time they explain.
    pub causes: Vec<Found>,
    /// What the processors did meanwhile.
    pub processors: Option<Processors>,
    /// Other tasks' I/O on the disk, if it was much: then the measurements are not of the disk alone.
    #[serde(rename = "company")]
    pub other_users: Option<OtherUsers>,
    /// What went wrong.
    pub trouble: Option<String>,
}

/// One job of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Measured {
    /// The job's name.
    pub job: String,
    /// `read` or `write`.
    pub op: String,
    /// Operations a second.
    pub iops: f64,
    /// Bytes in all.
    pub bytes: u64,
    /// Bytes a second.
    pub bytes_per_second: u64,
    /// Of the operations.
    pub latency: Latency,
    /// Of their fsyncs.
    pub fsync: Option<Latency>,
    /// Latencies of its fsyncs, or of its operations where it has none, by slice of its time: how much they vary.
    pub slices: Vec<Latency>,
    /// Why the job ended early.
    pub error: Option<String>,
}

/// A distribution's main numbers, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Latency {
    /// The number of values.
    pub count: u64,
    /// The mean.
    pub mean_ns: u64,
    /// The median.
    pub p50_ns: u64,
    /// One in five is slower.
    pub p80_ns: u64,
    /// One in twenty is slower.
    pub p95_ns: u64,
    /// One in a hundred is slower.
    pub p99_ns: u64,
    /// One in a thousand is slower.
    pub p999_ns: u64,
    /// The slowest.
    pub max_ns: u64,
}

/// What is worse than on a good disk.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Finding {
    /// Its name.
    pub name: String,
    /// The name of the step.
    pub step: String,
    /// The finding in a sentence.
    pub says: String,
    /// What was measured, in nanoseconds.
    pub measured_ns: u64,
    /// The limit that a good disk of this kind stays below.
    pub expected_ns: u64,
    /// Causes of the step's recording that explain it, the greatest first.
    pub causes: Vec<String>,
}

/// A cause that a recording shows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Found {
    /// Its name, as `iowhy causes` knows it.
    pub cause: String,
    /// The cause in one line.
    pub title: String,
    /// The part of the slowest operations' time that it explains.
    pub share: f64,
    /// The confidence of the cause.
    pub confidence: String,
    /// What proves it.
    pub evidence: Vec<String>,
    /// What to do.
    pub remedies: Vec<Remedy>,
}

/// A remedy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Remedy {
    /// What it does, and costs.
    pub what: String,
    /// The command.
    pub command: String,
    /// The cause it treats.
    pub cause: String,
    /// The scenario's number.
    pub scenario: u8,
    /// The most that a slow operation could gain, in nanoseconds.
    pub gain_ns: u64,
    /// What the command does, as data: of a remedy that was just found.
    #[serde(skip)]
    pub action: Option<causes::Action>,
}

/// The schema of the file, with its name.
#[cfg(feature = "schema")]
pub fn schema() -> (&'static str, serde_json::Value) {
    report::schema::of::<Checkup>(SCHEMA, "`iowhy checkup -o FILE`")
}

impl Remedy {
    /// One that sets a file below `/sys/block/DISK`.
    pub fn setting(disk: &str, file: &'static str, to: impl ToString) -> Remedy {
        let action = causes::Action::set(disk, file, to);
        Remedy { command: action.command(), action: Some(action), ..Remedy::default() }
    }
}

impl Checkup {
    /// The step by scenario and name.
    pub fn step(&self, scenario: u8, name: &str) -> Option<&Step> {
        self.scenarios.iter().find(|s| s.number == scenario)?.steps.iter().find(|s| s.name == name)
    }

    /// Everything that is worse than on a good disk.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.scenarios.iter().flat_map(|s| &s.findings)
    }
}

impl Finding {
    /// Whether its two numbers are times that a person can compare (bytes a second are in its sentence).
    pub fn is_time(&self) -> bool {
        self.name != "large-requests-slow"
    }
}

impl Step {
    /// What a job measured.
    pub fn job(&self, name: &str) -> Option<&Measured> {
        self.measured.iter().find(|m| m.job == name && m.error.is_none())
    }
}
