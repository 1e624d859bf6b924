//! Cgroups with a limit on memory or processor time.

use crate::lenient;
use serde::{Deserialize, Serialize};

/// A cgroup with a limit, and how often the limit was hit since the cgroup was created.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limited {
    /// Its path below /sys/fs/cgroup.
    #[serde(deserialize_with = "lenient::words")]
    pub path: String,
    /// Ids of the processes in it and in its descendants.
    pub members: Vec<u32>,
    /// The limit on memory; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::or_default")]
    pub memory: Option<MemoryLimit>,
    /// The limit on processor time; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::or_default")]
    pub cpu: Option<CpuLimit>,
}

/// A limit on memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryLimit {
    /// The file that sets the limit: `memory.max`, `memory.high`, `memory.limit_in_bytes`.
    pub file: String,
    /// The limit in bytes.
    pub bytes: u64,
    /// How often memory was reclaimed because of the limit (`memory.events`, `memory.failcnt`).
    pub met: u64,
    /// The cgroup's second limit, which caps this one or at which processes are killed: `memory.max` for `memory.high`,
    /// `memory.memsw.limit_in_bytes` for `memory.limit_in_bytes`.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::or_default")]
    pub above: Option<MemoryAbove>,
}

/// A limit above another limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryAbove {
    /// The file that sets the limit.
    #[serde(deserialize_with = "lenient::words")]
    pub file: String,
    /// The limit in bytes.
    pub bytes: u64,
}

/// A limit on processor time per period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuLimit {
    /// The file that sets the limit: `cpu.max`, `cpu.cfs_quota_us`.
    pub file: String,
    /// Processor time per period in microseconds.
    pub quota_us: u64,
    /// Length of a period in microseconds.
    pub period_us: u64,
    /// Periods in which the quota was exhausted (`cpu.stat`, `nr_throttled`).
    pub throttled: u64,
    /// Nanoseconds for which its processes were throttled, summed over processors (`throttled_usec`, `throttled_time`).
    pub throttled_ns: u64,
}
