//! Which process a thread is of, which files processes had open when recording began, and what files are called.

use std::collections::{BTreeMap, BTreeSet};
use trace::{DevId, Tid};

/// An open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFile {
    /// In which process.
    pub process: Tid,
    /// Its descriptor there.
    pub fd: i32,
    /// The device of its file system; of a block device its own.
    pub dev: DevId,
    /// Its number there; 0 for a block device.
    pub inode: u64,
    /// Whether it is closed when its process runs another program.
    pub closed_on_exec: Option<bool>,
}

/// Where a thread slept when recording began, and had before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asleep {
    /// The thread.
    pub tid: Tid,
    /// What it was called; empty where not told.
    pub task: String,
    /// The kernel's functions, the innermost first.
    pub stack: Vec<String>,
    /// The first argument of the system call it was in.
    pub argument: Option<u64>,
}

/// What is known of processes and files.
#[derive(Clone, Debug, Default)]
pub struct Processes {
    /// The process of each thread.
    pub threads: BTreeMap<Tid, Tid>,
    /// Who started each process.
    pub parents: BTreeMap<Tid, Tid>,
    /// Those that start services, containers, scheduled jobs or logins.
    pub supervisors: BTreeSet<Tid>,
    /// The control group of each process, by its path.
    pub groups: BTreeMap<Tid, String>,
    /// In which hierarchy these are, by the number in `/proc/PID/cgroup`.
    pub hierarchy: Option<u32>,
    /// What was open.
    pub files: Vec<OpenFile>,
    /// Who slept uninterruptibly.
    pub asleep: Vec<Asleep>,
    /// Paths by device and number, as the process saw them that had the file open; none where files of several
    /// subvolumes have the number.
    pub(crate) paths: BTreeMap<(DevId, u64), Path>,
}

impl Processes {
    /// What a file is called.
    pub fn path(&self, dev: DevId, inode: u64) -> Option<&str> {
        self.paths.get(&(dev, inode)).filter(|p| !p.several).map(|p| p.path.as_str())
    }
}

/// The path of a file.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub path: String,
    /// In which subvolume, by the number that `stat` shows; empty where the file system has none.
    pub subvolume: String,
    /// Whether a file in another subvolume has the same number.
    pub several: bool,
}
