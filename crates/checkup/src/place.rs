//! The directory that is checked: its file system, the free space, and whether it may be loaded at all.

use crate::error::{Error, Result};
use record::{At, Device, Devices};
use rustix::fs::StatVfsMountFlags;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use units::words;

/// File systems whose disk is on another machine (Documentation/filesystems; mount(8)).
const NETWORK: &[&str] = &[
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "coda",
    "fuse.ceph",
    "fuse.glusterfs",
    "fuse.s3fs",
    "fuse.sshfs",
    "gfs2",
    "gpfs",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs4",
    "ocfs2",
    "orangefs",
    "smb3",
    "smbfs",
    "virtiofs",
];
/// A file system with less than this part free is nearly full: ext4 and XFS begin to search for space.
const NEARLY_FULL: f64 = 0.10;
/// Minimal number of free bytes for any checkup.
const LEAST: u64 = 64 << 20;

/// The directory that is checked, and what it is on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Place {
    /// The path of the directory.
    pub dir: PathBuf,
    /// The type of its file system: `ext4`, `xfs`, ...
    pub fstype: String,
    /// The options of the mount, and those of the file system.
    pub options: String,
    /// The name of its block device; null if it is not on a device of this machine.
    pub device: Option<String>,
    /// The name of the disk that has the queue: for a partition, the disk that contains it.
    pub disk: Option<String>,
    /// The size of the file system in bytes.
    pub total: u64,
    /// The number of bytes that may be written.
    pub free: u64,
}

impl Place {
    /// Examines a directory. Refuses one that must not be loaded; `anyway` allows what a user may want nevertheless.
    pub fn look(dir: &Path, anyway: bool) -> Result<Place> {
        let meta = fs::metadata(dir).at("looking at it", dir)?;
        if !meta.is_dir() {
            return Err(Error::refused(
                format!("{} is not a directory", dir.display()),
                "a checkup writes files in a directory, never to a device: mount it and give a directory there",
            ));
        }
        let dir = fs::canonicalize(dir).at("looking at it", dir)?;
        let stat = rustix::fs::statvfs(&dir).at("asking for free space", &dir)?;
        let devices = Devices::read(Path::new("/sys"));
        let below: Option<&Device> = devices.under(&dir);
        let mounts = record::snapshot(Path::new("/sys"), Path::new("/proc")).mounts;
        let mount = mounts.iter().filter(|m| dir.starts_with(&m.point)).max_by_key(|m| m.point.len());
        let place = Place {
            fstype: mount.map(|m| m.fstype.clone()).unwrap_or_default(),
            options: mount.map(|m| format!("{},{}", m.options, m.super_options)).unwrap_or_default(),
            device: below.map(|d| d.name.clone()),
            disk: below.map(|d| d.disk.clone().unwrap_or_else(|| d.name.clone())),
            total: stat.f_blocks.saturating_mul(stat.f_frsize),
            free: stat.f_bavail.saturating_mul(stat.f_frsize),
            dir,
        };
        if stat.f_flag.contains(StatVfsMountFlags::RDONLY) {
            return Err(Error::refused(
                format!("{} is mounted read-only", place.dir.display()),
                "a checkup writes: give a directory on a file system that may be written",
            ));
        }
        place.refuse(anyway)?;
        Ok(place)
    }

    fn refuse(&self, anyway: bool) -> Result<()> {
        let dir = self.dir.display();
        if self.free < LEAST {
            return Err(Error::refused(
                format!(
                    "{dir} has {} free, and the smallest checkup needs {}",
                    words::bytes(self.free),
                    words::bytes(LEAST)
                ),
                "free some space",
            ));
        }
        if anyway {
            return Ok(());
        }
        let why = if NETWORK.contains(&self.fstype.as_str()) {
            format!(
                "{dir} is on another machine ({}): the checkup would load that one's disk and the network",
                self.fstype
            )
        } else if ["tmpfs", "ramfs"].contains(&self.fstype.as_str()) {
            format!("{dir} is in memory ({}), not on a disk", self.fstype)
        } else if (self.free as f64) < NEARLY_FULL * self.total as f64 {
            format!(
                "{dir} is nearly full: {} of {} are free",
                words::bytes(self.free),
                words::bytes(self.total)
            )
        } else {
            return Ok(());
        };
        Err(Error::refused(why, "--force runs it anyway"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused() {
        let good = Place { fstype: "ext4".into(), total: 1 << 30, free: 1 << 29, ..Place::default() };
        assert!(good.refuse(false).is_ok());
        for bad in [
            Place { fstype: "nfs4".into(), ..good.clone() },
            Place { fstype: "tmpfs".into(), ..good.clone() },
            Place { free: 100 << 20, ..good.clone() },
        ] {
            assert!(bad.refuse(false).unwrap_err().help().unwrap().contains("--force"), "{bad:?}");
            assert!(bad.refuse(true).is_ok());
        }
        assert!(Place { free: 1 << 20, ..good }.refuse(true).is_err());
        let e = Place::look(Path::new("/dev/null"), true).unwrap_err();
        assert!(e.to_string().contains("is not a directory"), "{e}");
    }
}
