//! Facts that a recording's events do not contain, and that its reader has from other sources.

use trace::{Bytes, DevId, Fs, Sector, Tid};

/// Facts from outside the events. Empty fields are not known.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Where devices are on other devices, if events do not show it (loop devices).
    pub below: Vec<Below>,
    /// Pairs of (thread, its process), from `/proc`.
    pub processes: Vec<(Tid, Tid)>,
    /// Threads of processes that get names of their own, with their process.
    pub apart: Vec<(Tid, Tid)>,
    /// Threads that get names of their own, separate from the rest of their process.
    pub threads_apart: Vec<Tid>,
    /// Pairs of (process, its parent).
    pub parents: Vec<(Tid, Tid)>,
    /// Processes that start services, containers, scheduled jobs or logins.
    pub supervisors: Vec<Tid>,
    /// Control groups of processes.
    pub cgroups: KnownCgroups,
    /// Threads that slept uninterruptibly when recording began, and before.
    pub asleep: Vec<KnownSleep>,
    /// Files that were open when recording began.
    pub files: Vec<KnownFile>,
    /// Pairs of (partition, its disk).
    pub partitions: Vec<(DevId, DevId)>,
    /// Devices with mounted file systems.
    pub mounted: Vec<DevId>,
    /// Devices with the kind of their file system.
    pub kinds: Vec<(DevId, Fs)>,
}

/// Control groups of processes when recording began.
#[derive(Clone, Debug, Default)]
pub struct KnownCgroups {
    /// Number of the hierarchy in `/proc/PID/cgroup`; 0 is version 2.
    pub hierarchy: u32,
    /// Pairs of (process, path below the hierarchy's root).
    pub of: Vec<(Tid, String)>,
}

/// A thread that slept when recording began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownSleep {
    /// The thread.
    pub tid: Tid,
    /// Its name; empty if not known.
    pub task: String,
    /// Its kernel stack: functions, innermost first, with `\n` in between.
    pub stack: String,
    /// First argument of its system call, for most calls a descriptor.
    pub argument: Option<u64>,
}

/// A file that was open when recording began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownFile {
    /// The process (thread group), not the thread.
    pub process: Tid,
    /// The descriptor's number.
    pub fd: i32,
    /// Kind of file system; `Unknown` if it was not looked up.
    pub fs: Fs,
    /// Device of its file system; for a device file the device itself.
    pub dev: DevId,
    /// Inode number; 0 for a device itself.
    pub inode: u64,
    /// Whether exec closes it; `None` if that was not looked up.
    pub closed_on_exec: Option<bool>,
}

/// An extent of a device that is stored on another device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Below {
    /// The device whose data is stored elsewhere (a loop device).
    pub upper: DevId,
    /// First sector of the extent on `upper`.
    pub at: Sector,
    /// Length, the same on both devices.
    pub len: Bytes,
    /// The disk that stores the data.
    pub lower: DevId,
    /// First sector of the extent on `lower`.
    pub lies: Sector,
}
