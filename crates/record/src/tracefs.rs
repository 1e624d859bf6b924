//! Finds the mounted tracefs, or mounts it privately.
//!
//! If tracefs is not mounted, it is mounted in a mount namespace of one short-lived thread. Only a file
//! descriptor of its root remains: files are reached through `/proc/self/fd/N`, no other
//! process ever sees the mount, and a recorded command runs in its normal namespace.

use capture::{At, Error, Result};
use rustix::io::Errno;
use rustix::mount::{mount, mount_change, MountFlags, MountPropagationFlags};
use rustix::thread::UnshareFlags;
use std::fs::{self, File};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The standard mount point, a folder that the kernel creates (fs/tracefs/inode.c, since Linux 4.1).
const MOUNT_POINT: &str = "/sys/kernel/tracing";
/// State of kernel lockdown, which restricts even root.
const LOCKDOWN: &str = "/sys/kernel/security/lockdown";

/// The root of tracefs, or a test folder in its place.
#[derive(Clone, Debug)]
pub struct Tracefs {
    root: PathBuf,
    /// Keeps a private mount alive; shared by clones, which use the same path.
    _mount: Option<Arc<OwnedFd>>,
}

impl Tracefs {
    /// Uses a folder as tracefs, real or in a test.
    pub fn at(root: impl Into<PathBuf>) -> Tracefs {
        Tracefs { root: root.into(), _mount: None }
    }

    /// Finds the mounted tracefs, or mounts one privately.
    pub fn find() -> Result<Tracefs> {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let found = mounted(&mounts).find(|root| usable(root)).map(Tracefs::at);
        let tracefs = match found {
            Some(t) => t,
            None => Tracefs::mount()?,
        };
        // Under lockdown the files exist but cannot be opened.
        fs::read_to_string(tracefs.root.join("available_events")).map_err(|e| explain(&e.to_string()))?;
        Ok(tracefs)
    }

    /// Mounts tracefs so that only this process can reach it.
    pub fn mount() -> Result<Tracefs> {
        let root = std::thread::spawn(|| -> std::result::Result<OwnedFd, String> {
            let why = |what: &str, e: Errno| format!("{what}: {}", std::io::Error::from(e));
            #[expect(deprecated, reason = "deprecated because of another flag, FILES")]
            rustix::thread::unshare(UnshareFlags::NEWNS).map_err(|e| why("no mount namespace", e))?;
            // Otherwise the mount would propagate to every namespace that shares the root.
            mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)
                .map_err(|e| why("mounts cannot be made private", e))?;
            let flags = MountFlags::NOSUID | MountFlags::NOEXEC | MountFlags::NODEV;
            mount("nodev", MOUNT_POINT, "tracefs", flags, None)
                .map_err(|e| why("tracefs cannot be mounted", e))?;
            File::open(MOUNT_POINT).map(OwnedFd::from).map_err(|e| e.to_string())
        })
        .join()
        .unwrap_or_else(|_| Err("the mounting thread ended early".into()))
        .map_err(|e| explain(&e))?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", root.as_raw_fd()));
        Ok(Tracefs { root: path, _mount: Some(Arc::new(root)) })
    }

    /// The path of its root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of all instances.
    pub fn instances(&self) -> PathBuf {
        self.root.join("instances")
    }

    /// The content of a file, given by its path below the root.
    pub fn read(&self, file: &str) -> Result<Vec<u8>> {
        let path = self.root.join(file);
        crate::text::whole(&path).at("reading", &path)
    }

    /// As [`Tracefs::read`], but as text; invalid UTF-8 is replaced.
    pub fn text(&self, file: &str) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.read(file)?).into_owned())
    }
}

/// Mount points of type tracefs in the text of `/proc/self/mounts`.
fn mounted(mounts: &str) -> impl Iterator<Item = PathBuf> + '_ {
    mounts.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let point = words.nth(1)?;
        (words.next()? == "tracefs").then(|| capture::unescape(point).into())
    })
}

fn usable(root: &Path) -> bool {
    root.join("events").is_dir() && root.join("instances").is_dir()
}

/// Turns the kernel's short refusal into advice for the user.
fn explain(reason: &str) -> Error {
    let lockdown = fs::read_to_string(LOCKDOWN).unwrap_or_default();
    if lockdown.contains("[confidentiality]") {
        return Error::refused(
            "this kernel is locked down for confidentiality: it allows no tracing",
            "boot with lockdown=integrity or without lockdown; a blktrace or trace.dat made elsewhere can still be explained",
        );
    }
    if !rustix::process::geteuid().is_root() {
        return Error::refused("recording needs root", "run it with sudo");
    }
    let filesystems = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    if !filesystems.lines().any(|l| l.ends_with("\ttracefs")) {
        return Error::refused(
            "this kernel has no tracefs",
            "a kernel with CONFIG_TRACING (Linux 4.1 or later) is needed",
        );
    }
    Error::refused(
        format!("tracefs cannot be used: {reason}"),
        "in a container, run it on the host or with the capability CAP_SYS_ADMIN",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tracefs_mounts_are_taken() {
        let text = "proc /proc proc rw 0 0\nnodev /sys/kernel/tracing tracefs rw 0 0\nx /mnt/a\\040b tracefs rw 0 0\nshort\n";
        let found: Vec<_> = mounted(text).collect();
        assert_eq!(found, [PathBuf::from("/sys/kernel/tracing"), PathBuf::from("/mnt/a b")]);
    }

    #[test]
    fn a_missing_file_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let e = Tracefs::at(dir.path()).text("available_events").unwrap_err();
        assert!(e.to_string().contains("available_events"), "{e}");
    }
}
