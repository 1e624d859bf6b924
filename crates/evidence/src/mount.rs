//! One mounted file system and its options.

use crate::fact::At;
use serde::Serialize;
use trace::DevId;

/// A line of `/proc/mounts` or `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mount {
    /// The source: `/dev/vda1`, or a name for file systems without a device.
    pub source: String,
    /// The mount point.
    pub target: String,
    /// Type of the file system: `ext4`, `xfs`, ...
    pub fstype: String,
    /// Options of the mount and of the file system, as printed: `rw`, `data=ordered`.
    pub options: Vec<String>,
    /// The file system's device number as in `stat`; `None` unless mountinfo gives it. Major 0 is no block device
    /// (tmpfs, but also btrfs, which may span several).
    pub dev: Option<DevId>,
    /// The location of the line.
    pub at: At,
}

/// Prefixes of file system types whose data is not on a block device of this host, but comes from a server or a program (FUSE).
const SERVED: [&str; 9] = ["nfs", "cifs", "smb3", "ceph", "9p", "virtiofs", "afs", "lustre", "fuse"];
/// FUSE file systems without data: containers' /proc, desktops' portals.
const NO_DATA: [&str; 4] = ["fusectl", "fuse.lxcfs", "fuse.portal", "fuse.gvfsd-fuse"];

impl Mount {
    /// Whether a server or a program provides the file system: its waits are not visible on any block device.
    pub fn is_served(&self) -> bool {
        let name = self.fstype.as_str();
        SERVED.iter().any(|served| name.starts_with(served)) && !NO_DATA.contains(&name)
    }

    /// The value of option `name`: `Some("ordered")` for `data=ordered`, `Some("")` for a word such as `noatime`.
    /// The kernel omits most options with their default value.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find_map(|option| match option.split_once('=') {
            Some((key, value)) if key == name => Some(value),
            None if option == name => Some(""),
            _ => None,
        })
    }
}

#[cfg(test)]
#[test]
fn what_no_block_device_sees() {
    let is_served = |fstype: &str| {
        let at = At { file: "mounts".into(), place: crate::fact::Place::Line(1) };
        let none = String::new;
        Mount { source: none(), target: none(), fstype: fstype.into(), options: vec![], dev: None, at }
            .is_served()
    };
    assert!(["nfs4", "cifs", "fuse.sshfs", "fuse", "fuseblk", "virtiofs"]
        .map(is_served)
        .iter()
        .all(|it| *it));
    assert!(!["ext4", "tmpfs", "fusectl", "fuse.lxcfs", "overlay", "nsfs"]
        .map(is_served)
        .iter()
        .any(|it| *it));
}
