//! The result of a checkup, schema `iowhy.checkup/1`: fields that were shipped keep their names, new ones may be added.

use crate::other_users::OtherUsers;
use crate::place::Place;
use crate::processors::Processors;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The name and version of the schema.
pub const SCHEMA: &str = "iowhy.checkup/1";

/// The result of a checkup, which `--compare` can read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Checkup {
    /// The name of this schema.
    pub schema: String,
    /// The time at which it began, RFC 3339.
    pub when: String,
    /// The program's version.
    pub iowhy: String,
    /// The version of the kernel, from `uname -r`.
    pub kernel: String,
    /// fio's version.
    pub fio: String,
    /// The directory that was checked.
    pub place: Place,
    /// Settings of the disk and of writeback during the checkup: `queue/scheduler`, `vm/dirty_ratio`.
    pub settings: BTreeMap<String, String>,
    /// What the disk can do; the reference for the other scenarios.
    pub probe: Probe,
    /// Whether all steps that should be recorded were recorded.
    pub recorded: bool,
    /// What was not recorded or is missing, and why, one sentence each.
    pub not_seen: Vec<String>,
    /// The time that it took, in seconds.
    pub seconds: f64,
    /// Bytes that it was allowed to write.
    pub most_bytes: u64,
    /// Bytes that it wrote, as fio counts them.
    pub written_bytes: u64,
    /// The scenarios, in the order in which they were run.
    pub scenarios: Vec<Scenario>,
    /// What to do, largest gain first.
    pub remedies: Vec<Remedy>,
    /// The trial of a remedy, if there was one.
    pub trial: Option<Trial>,
}

/// The trial of a remedy and its result.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Trial {
    /// The remedy that was tried.
    pub remedy: Remedy,
    /// The path of the setting's file.
    pub setting: PathBuf,
    /// The value before the trial, which was restored afterwards.
    pub was: String,
    /// The value that was tried.
    pub tried: String,
    /// The name of the finding that the remedy treats.
    pub finding: String,
    /// The measurement of that finding before the trial, in nanoseconds.
    pub before_ns: u64,
    /// The result of the same scenario under the tried setting.
    pub scenario: Scenario,
    /// Whether the finding is gone under the tried setting.
    pub helped: bool,
}

/// What the disk can do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Probe {
    /// Latencies of random reads of 4 KiB, one at a time.
    pub floor: Latency,
    /// The smallest depth with at least 0.9 of the highest read rate.
    pub knee_depth: u32,
    /// The best read rate divided by the rate at depth 1.
    pub parallelism: f64,
    /// Bytes per second that it writes, with a sync after each 4 MiB.
    pub write_bytes_per_second: u64,
    /// The size of the data file, in bytes.
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
    /// Its number, from 1.
    pub number: u8,
    /// Its name, such as `writeback`.
    pub name: String,
    /// What it does, in one sentence.
    pub about: String,
    /// The verdict: `good`, `suffers` or `cannot-tell`.
    pub verdict: String,
    /// Its steps, each a run of fio.
    pub steps: Vec<Step>,
    /// What is worse than on a good disk.
    pub findings: Vec<Finding>,
    /// What was compared with a good disk and is within its limits, one sentence each.
    pub good: Vec<String>,
    /// Remarks, one sentence each.
    pub remarks: Vec<String>,
}

/// One run of fio.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Step {
    /// Its name, such as `beside buffered`.
    pub name: String,
    /// The name of the job file.
    pub job: String,
    /// The values of `${NAME}` in the job file.
    pub variables: BTreeMap<String, String>,
    /// Whether it was recorded.
    pub recorded: bool,
    /// The measurements of each job.
    pub measured: Vec<Measured>,
    /// Causes that were found in the recording, by the time that they explain.
    pub causes: Vec<Found>,
    /// The state of the processors during the step.
    pub processors: Option<Processors>,
    /// Other tasks' I/O on the disk, if it was much: then the measurements are not of the disk alone.
    #[serde(rename = "company")]
    pub other_users: Option<OtherUsers>,
    /// What went wrong; null if nothing did.
    pub trouble: Option<String>,
}

/// The measurements of one job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Measured {
    /// The name of the job in the job file.
    pub job: String,
    /// The kind of most of its operations: `read` or `write`.
    pub op: String,
    /// Operations per second.
    pub iops: f64,
    /// Bytes that its operations moved.
    pub bytes: u64,
    /// Bytes per second.
    pub bytes_per_second: u64,
    /// Latencies of its operations.
    pub latency: Latency,
    /// Latencies of its fsyncs; null if it has none.
    pub fsync: Option<Latency>,
    /// Latencies by slice of its time, of its fsyncs, or of its operations if it has none: they show the variation.
    pub slices: Vec<Latency>,
    /// Why the job ended early; null if it did not.
    pub error: Option<String>,
}

/// Key numbers of a distribution of latencies, in nanoseconds.
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
    /// The 80th percentile.
    pub p80_ns: u64,
    /// The 95th percentile.
    pub p95_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The 99.9th percentile.
    pub p999_ns: u64,
    /// The longest latency.
    pub max_ns: u64,
}

/// A measurement that is worse than on a good disk.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Finding {
    /// Its name, such as `slow-fsync`.
    pub name: String,
    /// The name of the step in which it was found.
    pub step: String,
    /// The finding in a sentence.
    pub says: String,
    /// The value that was measured, in nanoseconds.
    pub measured_ns: u64,
    /// The limit that a good disk of this kind stays below, in nanoseconds.
    pub expected_ns: u64,
    /// Names of causes in the step's recording that explain it, the one that explains most first.
    pub causes: Vec<String>,
}

/// A cause that was found in a step's recording.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Found {
    /// Its name, as in `iowhy causes`.
    pub cause: String,
    /// What it claims, in one line.
    pub title: String,
    /// The part of the slowest operations' time that it explains, 0 to 1.
    pub share: f64,
    /// The confidence: `high`, `medium` or `low`.
    pub confidence: String,
    /// Its proofs, one sentence each.
    pub evidence: Vec<String>,
    /// What to do about it, best first.
    pub remedies: Vec<Remedy>,
}

/// A remedy: a command and its effect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Remedy {
    /// What it does and what it costs.
    pub what: String,
    /// The command to run in a shell.
    pub command: String,
    /// The name of the cause that it treats.
    pub cause: String,
    /// The number of the scenario in which the cause was found.
    pub scenario: u8,
    /// The largest gain for a slow operation, in nanoseconds.
    pub gain_ns: u64,
    /// The command as data; only for a remedy that was just found, not one that was read from a file.
    #[serde(skip)]
    pub action: Option<causes::Action>,
}

/// The JSON Schema of the file, with its name.
#[cfg(feature = "schema")]
pub fn schema() -> (&'static str, serde_json::Value) {
    report::schema::of::<Checkup>(SCHEMA, "`iowhy checkup -o FILE`")
}

impl Remedy {
    /// A remedy that writes to a file below `/sys/block/DISK`.
    pub fn setting(disk: &str, file: &'static str, to: impl ToString) -> Remedy {
        let action = causes::Action::set(disk, file, to);
        Remedy { command: action.command(), action: Some(action), ..Remedy::default() }
    }
}

impl Checkup {
    /// The step with this name in a scenario.
    pub fn step(&self, scenario: u8, name: &str) -> Option<&Step> {
        self.scenarios.iter().find(|s| s.number == scenario)?.steps.iter().find(|s| s.name == name)
    }

    /// The findings of all scenarios.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.scenarios.iter().flat_map(|s| &s.findings)
    }
}

impl Finding {
    /// Whether its two numbers are times that a user can compare (bytes per second are in its sentence).
    pub fn is_time(&self) -> bool {
        self.name != "large-requests-slow"
    }
}

impl Step {
    /// The measurements of a job, unless it ended early.
    pub fn job(&self, name: &str) -> Option<&Measured> {
        self.measured.iter().find(|m| m.job == name && m.error.is_none())
    }
}
