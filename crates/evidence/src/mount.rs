//! One mounted filesystem and its options.

use crate::At;
use serde::Serialize;
use trace::DevId;

/// A line of `/proc/mounts` or `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mount {
    /// What is mounted: `/dev/vda1`, or a name for what has no device.
    pub source: String,
    /// Where.
    pub target: String,
    /// `ext4`, `xfs`, ...
    pub fstype: String,
    /// Options of the mount and of the filesystem, as printed: `rw`, `data=ordered`.
    pub options: Vec<String>,
    /// The filesystem's device number as `stat` shows it, where mountinfo told it. Major 0 is no block device
    /// (tmpfs, but also btrfs, which spans several).
    pub dev: Option<DevId>,
    /// Where this is said.
    pub at: At,
}

impl Mount {
    /// The value of option `name`: `Some("ordered")` for `data=ordered`, `Some("")` for a word such as `noatime`.
    /// The kernel leaves out most options that have their default value.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find_map(|option| match option.split_once('=') {
            Some((key, value)) if key == name => Some(value),
            None if option == name => Some(""),
            _ => None,
        })
    }
}
