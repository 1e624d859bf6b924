//! What a recording's events do not say, and its reader knows from elsewhere.

use trace::{Bytes, DevId, Fs, Sector, Tid};

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Where devices lie on others, where events do not tell (loop devices).
    pub below: Vec<Below>,
    /// Threads and the processes that they are of.
    pub processes: Vec<(Tid, Tid)>,
    /// Files that were open when recording began.
    pub files: Vec<KnownFile>,
    /// Partitions and the disks that they are on.
    pub partitions: Vec<(DevId, DevId)>,
    /// Devices with file systems.
    pub mounted: Vec<DevId>,
}

/// An open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownFile {
    /// In which process.
    pub process: Tid,
    /// Its descriptor.
    pub fd: i32,
    /// On which kind of file system.
    pub fs: Fs,
    /// On which device.
    pub dev: DevId,
    /// Which file; 0 for a device itself.
    pub inode: u64,
    /// Whether it is closed when its process runs another program, where that was looked up.
    pub closed_on_exec: Option<bool>,
}

/// A stretch of a device that lies on another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Below {
    /// The upper device.
    pub upper: DevId,
    /// Where on it.
    pub at: Sector,
    /// How long.
    pub len: Bytes,
    /// The device below.
    pub lower: DevId,
    /// Where on that.
    pub lies: Sector,
}
