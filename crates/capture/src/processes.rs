//! Processes, their threads, and the files that they have open on recorded devices.

use crate::lenient;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All processes at one moment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Processes {
    /// Processes by process id.
    pub list: BTreeMap<u32, Process>,
    /// The hierarchy of their cgroups, by the number in `/proc/PID/cgroup`: 0 is cgroup v2.
    #[serde(deserialize_with = "lenient::or_default")]
    pub hierarchy: Option<u32>,
    /// Whether there were more threads or files than the limits allow.
    #[serde(deserialize_with = "lenient::or_default")]
    pub cut: bool,
    /// Threads that slept uninterruptibly from before the recording until after it, by thread id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "lenient::or_default")]
    pub asleep: BTreeMap<u32, Asleep>,
}

/// A sleeping thread and where in the kernel it sleeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Asleep {
    /// Name of the thread.
    #[serde(deserialize_with = "lenient::words")]
    pub task: String,
    /// Kernel functions on its stack, innermost first.
    pub stack: Vec<String>,
    /// First argument of the system call that it is in; `None` outside of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argument: Option<u64>,
}

/// A process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Process {
    /// Thread ids, without the first thread, whose id is the process id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<u32>,
    /// Process id of the parent (also after reparenting); 0 if unknown.
    #[serde(skip_serializing_if = "is_none")]
    pub parent: u32,
    /// Whether it starts services, containers, scheduled jobs or logins.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub supervises: bool,
    /// Path of its cgroup below the root of the hierarchy: `/system.slice/db.service`; empty if unknown.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "lenient::words")]
    pub cgroup: String,
    /// Open files by descriptor.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<i32, OpenFile>,
}

/// An open file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenFile {
    /// Device of its file system, `8:1`; for a block device, the device itself.
    pub dev: String,
    /// Inode number; 0 for a block device.
    pub inode: u64,
    /// On btrfs the number of the subvolume, as in `stat`: each subvolume has its own inode numbers.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subvolume: String,
    /// Whether it is closed on exec; `None` if unknown.
    pub closed_on_exec: Option<bool>,
    /// Its path as the process sees it.
    pub path: String,
}

fn is_none(number: &u32) -> bool {
    *number == 0
}
