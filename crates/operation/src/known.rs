//! What a recording's events do not say, and its reader knows from elsewhere.

use trace::{Bytes, DevId, Fs, Sector, Tid};

/// What a recording's reader knows; whatever is empty is not known.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Where devices lie on others, where events do not tell (loop devices).
    pub below: Vec<Below>,
    /// (thread, its process), from `/proc`.
    pub processes: Vec<(Tid, Tid)>,
    /// Of these the threads of processes that are told apart from others of their name.
    pub apart: Vec<(Tid, Tid)>,
    /// Threads that are told apart from others of their process.
    pub threads_apart: Vec<Tid>,
    /// (process, its parent).
    pub parents: Vec<(Tid, Tid)>,
    /// Processes that start services, containers, scheduled jobs or logins.
    pub supervisors: Vec<Tid>,
    /// In which control groups processes were.
    pub cgroups: KnownCgroups,
    /// Threads that slept uninterruptibly when recording began, and had before.
    pub asleep: Vec<KnownSleep>,
    /// Files that were open when recording began.
    pub files: Vec<KnownFile>,
    /// (partition, its disk).
    pub partitions: Vec<(DevId, DevId)>,
    /// Devices that file systems are mounted from.
    pub mounted: Vec<DevId>,
    /// Of which kind their file systems are.
    pub kinds: Vec<(DevId, Fs)>,
}

/// In which control groups processes were when recording began.
#[derive(Clone, Debug, Default)]
pub struct KnownCgroups {
    /// The number of their hierarchy in `/proc/PID/cgroup`; 0 is version 2.
    pub hierarchy: u32,
    /// (process, path below the hierarchy's root).
    pub of: Vec<(Tid, String)>,
}

/// Where a thread slept when recording began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownSleep {
    /// The thread.
    pub tid: Tid,
    /// What it was called; empty where not known.
    pub task: String,
    /// The kernel's functions, the innermost first, `\n` between.
    pub stack: String,
    /// The first argument of the system call it was in: of most a descriptor.
    pub argument: Option<u64>,
}

/// A file that was open when recording began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownFile {
    /// The process (thread group), not the thread.
    pub process: Tid,
    /// The descriptor's number.
    pub fd: i32,
    /// `Unknown` where it was not looked up.
    pub fs: Fs,
    /// The device of its file system; of a device file the device itself.
    pub dev: DevId,
    /// 0 for a device itself.
    pub inode: u64,
    /// Whether it is closed when its process runs another program, where that was looked up.
    pub closed_on_exec: Option<bool>,
}

/// A stretch of a device that lies on another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Below {
    /// The device whose data lies elsewhere (a loop device).
    pub upper: DevId,
    /// First sector of the stretch on `upper`.
    pub at: Sector,
    /// The same on both devices.
    pub len: Bytes,
    /// The disk that holds the data.
    pub lower: DevId,
    /// First sector of the stretch on `lower`.
    pub lies: Sector,
}
