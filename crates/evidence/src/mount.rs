//! One mounted filesystem and its options.

use crate::fact::At;
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

/// File systems whose data comes from no block device of this host, by their names or what these begin with: a server, or a program (FUSE).
const SERVED: [&str; 9] = ["nfs", "cifs", "smb3", "ceph", "9p", "virtiofs", "afs", "lustre", "fuse"];
/// FUSE for what is no data: containers' /proc, desktops' portals.
const NO_DATA: [&str; 4] = ["fusectl", "fuse.lxcfs", "fuse.portal", "fuse.gvfsd-fuse"];

impl Mount {
    /// Whether a server or a program serves it: what tasks wait for there no block device sees.
    pub fn is_served(&self) -> bool {
        let name = self.fstype.as_str();
        SERVED.iter().any(|served| name.starts_with(served)) && !NO_DATA.contains(&name)
    }

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
