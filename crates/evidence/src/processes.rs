//! Processes and their threads, the files that they had open at the start of the recording, and names of files.

use std::collections::{BTreeMap, BTreeSet};
use trace::{DevId, Tid};

/// An open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFile {
    /// The process that has it open.
    pub process: Tid,
    /// The descriptor in that process.
    pub fd: i32,
    /// Number of the file system's device; for a block device, its own number.
    pub dev: DevId,
    /// Inode number; 0 for a block device.
    pub inode: u64,
    /// Whether it is closed on exec; `None` if unknown.
    pub closed_on_exec: Option<bool>,
}

/// A thread that slept uninterruptibly throughout the start of the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asleep {
    /// Id of the thread.
    pub tid: Tid,
    /// Its name; empty if unknown.
    pub task: String,
    /// Kernel functions on its stack, innermost first.
    pub stack: Vec<String>,
    /// The first argument of the system call that it was in; `None` outside of one.
    pub argument: Option<u64>,
}

/// Known facts about processes and files.
#[derive(Clone, Debug, Default)]
pub struct Processes {
    /// From thread to its process.
    pub threads: BTreeMap<Tid, Tid>,
    /// From process to its parent.
    pub parents: BTreeMap<Tid, Tid>,
    /// Processes that start services, containers, scheduled jobs or logins.
    pub supervisors: BTreeSet<Tid>,
    /// From process to the path of its cgroup.
    pub groups: BTreeMap<Tid, String>,
    /// The hierarchy of these cgroups, by the number in `/proc/PID/cgroup`; 0 is cgroup v2.
    pub hierarchy: Option<u32>,
    /// Files open at the start of the recording.
    pub files: Vec<OpenFile>,
    /// Threads in uninterruptible sleep at the start of the recording.
    pub asleep: Vec<Asleep>,
    /// Paths by device and inode number, as seen by the process that had the file open. Not used if files of several
    /// subvolumes have the inode number.
    pub(crate) paths: BTreeMap<(DevId, u64), Path>,
}

impl Processes {
    /// The path of a file; `None` if unknown or ambiguous.
    pub fn path(&self, dev: DevId, inode: u64) -> Option<&str> {
        self.paths.get(&(dev, inode)).filter(|p| !p.several).map(|p| p.path.as_str())
    }
}

/// The path of a file.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub path: String,
    /// The file's subvolume, by the number in `stat`; empty on file systems without subvolumes.
    pub subvolume: String,
    /// Whether a file in another subvolume has the same inode number.
    pub several: bool,
}
