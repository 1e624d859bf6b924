//! `system.json`: the machine's settings that decide how fast its storage is, before and after a recording.

use crate::disk::Disk;
use crate::lenient;
use crate::limited::Limited;
use crate::mountinfo::Mount;
use crate::processes::Processes;
use crate::settings::Settings;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name and version of this file's layout. Fields may be added.
pub const SYSTEM_SCHEMA: &str = "iowhy.system/1";

/// The whole file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SystemFile {
    /// [`SYSTEM_SCHEMA`].
    #[serde(default, deserialize_with = "lenient::words")]
    pub schema: String,
    /// When recording began.
    pub before: Option<Snapshot>,
    /// When it had ended; missing in a stream that broke off.
    pub after: Option<Snapshot>,
}

impl SystemFile {
    /// The file.
    pub fn new(before: Option<Snapshot>, after: Option<Snapshot>) -> SystemFile {
        SystemFile { schema: SYSTEM_SCHEMA.into(), before, after }
    }

    /// As JSON text.
    pub fn json(&self) -> Vec<u8> {
        crate::pretty(self)
    }
}

/// Settings at one time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    /// RFC 3339.
    #[serde(deserialize_with = "lenient::words")]
    pub time: String,
    /// The kernel.
    pub kernel: Kernel,
    /// The processors.
    pub cpus: Cpus,
    /// Bytes of memory; 0: not told.
    pub memory_bytes: u64,
    /// Block devices by name, partitions within their disk.
    pub disks: BTreeMap<String, Disk>,
    /// What is mounted.
    pub mounts: Vec<Mount>,
    /// Control groups that limit or weigh I/O.
    pub cgroups: Cgroups,
    /// Control groups that limit memory or processor time.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "lenient::or_default")]
    pub limited: Vec<Limited>,
    /// Those of /proc/sys/vm that matter to I/O.
    pub vm: Settings,
    /// Swap areas, /proc/swaps.
    #[serde(deserialize_with = "lenient::or_default")]
    pub swaps: Vec<String>,
    /// /proc/mdstat, which shows a running resync.
    #[serde(deserialize_with = "lenient::text")]
    pub mdstat: Option<String>,
    /// Processes, their threads and open files; not where only the block layer is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<Processes>,
}

/// Which kernel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kernel {
    /// `uname -r`.
    #[serde(deserialize_with = "lenient::words")]
    pub release: String,
    /// `uname -v`.
    #[serde(deserialize_with = "lenient::words")]
    pub version: String,
    /// What it was built for, as Rust names it.
    #[serde(deserialize_with = "lenient::words")]
    pub architecture: String,
}

/// Which processors.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpus {
    /// Those at work, `0-3`.
    #[serde(deserialize_with = "lenient::text")]
    pub online: Option<String>,
    /// Those there could be.
    #[serde(deserialize_with = "lenient::text")]
    pub possible: Option<String>,
    /// What the first one calls itself.
    #[serde(deserialize_with = "lenient::text")]
    pub model: Option<String>,
    /// How the first one's speed is chosen.
    #[serde(deserialize_with = "lenient::text")]
    pub governor: Option<String>,
    /// What sends them to sleep.
    #[serde(deserialize_with = "lenient::text")]
    pub idle_driver: Option<String>,
}

/// A control group that sets something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cgroup {
    /// Its folder below /sys/fs/cgroup.
    pub path: String,
    /// Its number in traces (the folder's inode).
    pub id: u64,
    /// What it sets.
    pub settings: Settings,
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cgroups {
    /// In the order of their paths, parents first.
    pub list: Vec<Cgroup>,
    /// Paths of groups of version 2 by their numbers in traces: write-back says for which group it is.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub paths: BTreeMap<u64, String>,
    /// Whether there were too many to look at or to keep.
    #[serde(deserialize_with = "lenient::or_default")]
    pub cut: bool,
}
