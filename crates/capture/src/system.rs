//! `system.json`: the machine's settings that affect its storage performance, before and after a recording.

use crate::disk::Disk;
use crate::json;
use crate::lenient;
use crate::limited::Limited;
use crate::mountinfo::Mount;
use crate::processes::Processes;
use crate::settings::Settings;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of the schema of this file. Fields may be added without a new version.
pub const SYSTEM_SCHEMA: &str = "iowhy.system/1";

/// The content of `system.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SystemFile {
    /// The schema, [`SYSTEM_SCHEMA`].
    #[serde(default, deserialize_with = "lenient::words")]
    pub schema: String,
    /// Settings at the start of recording.
    pub before: Option<Snapshot>,
    /// Settings after its end; missing in a truncated stream.
    pub after: Option<Snapshot>,
}

impl SystemFile {
    /// A document with the current schema.
    pub fn new(before: Option<Snapshot>, after: Option<Snapshot>) -> SystemFile {
        SystemFile { schema: SYSTEM_SCHEMA.into(), before, after }
    }

    /// The document as JSON text.
    pub fn json(&self) -> Vec<u8> {
        json::pretty(self)
    }
}

/// Settings at one moment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    /// Wall-clock time, RFC 3339.
    #[serde(deserialize_with = "lenient::words")]
    pub time: String,
    /// Release, version and architecture of the kernel.
    pub kernel: Kernel,
    /// Processors and their power management.
    pub cpus: Cpus,
    /// Size of memory in bytes; 0 if unknown.
    pub memory_bytes: u64,
    /// Block devices by name, partitions within their disk.
    pub disks: BTreeMap<String, Disk>,
    /// Mounted file systems.
    pub mounts: Vec<Mount>,
    /// Cgroups that limit or weigh I/O.
    pub cgroups: Cgroups,
    /// Cgroups that limit memory or processor time.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "lenient::or_default")]
    pub limited: Vec<Limited>,
    /// Files of /proc/sys/vm that affect I/O.
    pub vm: Settings,
    /// Swap areas, the lines of /proc/swaps.
    #[serde(deserialize_with = "lenient::or_default")]
    pub swaps: Vec<String>,
    /// Text of /proc/mdstat, which shows a running resync.
    #[serde(deserialize_with = "lenient::text")]
    pub mdstat: Option<String>,
    /// Processes, their threads and open files; `None` if only the block layer is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<Processes>,
}

/// Identifies the kernel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kernel {
    /// `uname -r`.
    #[serde(deserialize_with = "lenient::words")]
    pub release: String,
    /// `uname -v`.
    #[serde(deserialize_with = "lenient::words")]
    pub version: String,
    /// The architecture that the recorder was built for, as Rust names it.
    #[serde(deserialize_with = "lenient::words")]
    pub architecture: String,
}

/// Processors of the machine.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpus {
    /// List of the online processors, `0-3`.
    #[serde(deserialize_with = "lenient::text")]
    pub online: Option<String>,
    /// List of the possible processors.
    #[serde(deserialize_with = "lenient::text")]
    pub possible: Option<String>,
    /// Model name of the first processor.
    #[serde(deserialize_with = "lenient::text")]
    pub model: Option<String>,
    /// Frequency governor of the first processor.
    #[serde(deserialize_with = "lenient::text")]
    pub governor: Option<String>,
    /// Name of the driver for idle states.
    #[serde(deserialize_with = "lenient::text")]
    pub idle_driver: Option<String>,
}

/// A cgroup with settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cgroup {
    /// Its path below /sys/fs/cgroup.
    pub path: String,
    /// Its id in traces (the inode of its folder).
    pub id: u64,
    /// Its settings by file name.
    pub settings: Settings,
}

/// All cgroups of interest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cgroups {
    /// Cgroups with settings, ordered by path, parents first.
    pub list: Vec<Cgroup>,
    /// Paths of cgroup v2 groups by their id in traces: writeback events contain the id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub paths: BTreeMap<u64, String>,
    /// Whether there were too many to read or to keep.
    #[serde(deserialize_with = "lenient::or_default")]
    pub cut: bool,
}
