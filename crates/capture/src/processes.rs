//! Processes, their threads and the files that they have open on recorded devices.

use crate::lenient;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All processes at one time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Processes {
    /// By their number.
    pub list: BTreeMap<u32, Process>,
    /// In which hierarchy their control groups are, by the number in `/proc/PID/cgroup`: 0 is version 2.
    #[serde(deserialize_with = "lenient::or_default")]
    pub hierarchy: Option<u32>,
    /// Whether there were more threads or files than are kept.
    #[serde(deserialize_with = "lenient::or_default")]
    pub cut: bool,
    /// Threads that slept uninterruptibly from before recording began until after, by their number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "lenient::or_default")]
    pub asleep: BTreeMap<u32, Asleep>,
}

/// Where a thread sleeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Asleep {
    /// What it is called.
    #[serde(deserialize_with = "lenient::words")]
    pub task: String,
    /// The kernel's functions, the innermost first.
    pub stack: Vec<String>,
    /// The first argument of the system call it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argument: Option<u64>,
}

/// A process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Process {
    /// Its threads except for the first, which has the process's number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<u32>,
    /// Who started it, or took it over; 0 where that is not known.
    #[serde(skip_serializing_if = "is_none")]
    pub parent: u32,
    /// Whether it starts services, containers, scheduled jobs or logins.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub supervises: bool,
    /// Its control group, by the folder's path below the hierarchy's root: `/system.slice/db.service`; empty where not told.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "lenient::words")]
    pub cgroup: String,
    /// Its open files by descriptor.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<i32, OpenFile>,
}

/// An open file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenFile {
    /// The device of its file system, `8:1`; of a block device its own.
    pub dev: String,
    /// Its number there; 0 for a block device.
    pub inode: u64,
    /// Of btrfs the number of the subvolume, as `stat` has it: each numbers its files anew.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subvolume: String,
    /// Whether it is closed when the process runs another program.
    pub closed_on_exec: Option<bool>,
    /// Where it lies, as the process sees it.
    pub path: String,
}

fn is_none(number: &u32) -> bool {
    *number == 0
}
