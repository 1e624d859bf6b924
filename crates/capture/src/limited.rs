//! Control groups whose processes may use only so much memory or processor time.

use crate::lenient;
use serde::{Deserialize, Serialize};

/// A control group with a limit, and how often it was met since the group began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limited {
    /// Its folder below /sys/fs/cgroup.
    #[serde(deserialize_with = "lenient::words")]
    pub path: String,
    /// Processes in it and in the groups below it.
    pub members: Vec<u32>,
    /// The limit on memory.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::or_default")]
    pub memory: Option<MemoryLimit>,
    /// The limit on processor time.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::or_default")]
    pub cpu: Option<CpuLimit>,
}

/// So many bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryLimit {
    /// The file that sets it: `memory.max`, `memory.high`, `memory.limit_in_bytes`.
    pub file: String,
    /// The limit.
    pub bytes: u64,
    /// How often memory had to be freed for it (`memory.events`, `memory.failcnt`).
    pub met: u64,
    /// The group's other limit that this one may not pass, or where processes are killed: `memory.max` of `memory.high`,
    /// `memory.memsw.limit_in_bytes` of `memory.limit_in_bytes`.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::or_default")]
    pub above: Option<MemoryAbove>,
}

/// A limit that lies above another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryAbove {
    /// The file that sets it.
    #[serde(deserialize_with = "lenient::words")]
    pub file: String,
    /// The limit.
    pub bytes: u64,
}

/// So much of each period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuLimit {
    /// The file that sets it: `cpu.max`, `cpu.cfs_quota_us`.
    pub file: String,
    /// Microseconds of processor time in each period.
    pub quota_us: u64,
    /// Microseconds of a period.
    pub period_us: u64,
    /// Periods in which it was used up (`cpu.stat`, `nr_throttled`).
    pub throttled: u64,
    /// For how long its processes were stopped then, of all processors together (`throttled_usec`, `throttled_time`).
    pub throttled_ns: u64,
}
