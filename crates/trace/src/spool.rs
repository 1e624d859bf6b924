//! A temporary folder for input that must be on disk to be read: bounded, private, and always removed.
//!
//! Invariant: nothing is ever written outside the folder, and not more than [`Spool::new`] found room for. Dropping
//! the value removes the folder. A folder left by a killed process (its lock dies with its holder) is
//! removed by the next process that creates a spool.

use crate::error::Error;
use rustix::fs::{flock, fstatvfs, FlockOperation};
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// Prefix of the folder's name.
const PREFIX: &str = "iowhy-spool-";
/// Part of the file system's free space that may be used, in percent; the rest stays free for other programs.
const MOST_PERCENT: u64 = 90;
/// A folder younger than this may belong to a process that has not locked it yet.
const SETTLED: Duration = Duration::from_secs(60);

/// A temporary folder and its budget.
#[derive(Debug)]
pub struct Spool {
    dir: TempDir,
    /// Lock on the folder, held as long as the value lives.
    _lock: File,
    /// Remaining budget in bytes.
    left: u64,
    /// Initial budget in bytes.
    room: u64,
}

impl Spool {
    /// Creates a folder in TMPDIR, or in /var/tmp, which is on disk where /tmp may be in memory (file-hierarchy(7)).
    pub fn new() -> Result<Spool, Error> {
        let base = match std::env::var_os("TMPDIR") {
            Some(dir) if !dir.is_empty() => PathBuf::from(dir),
            _ if Path::new("/var/tmp").is_dir() => PathBuf::from("/var/tmp"),
            _ => PathBuf::from("/tmp"),
        };
        Spool::new_in(&base)
    }

    fn new_in(base: &Path) -> Result<Spool, Error> {
        let fail = |source| Error::Io { path: base.to_path_buf(), source };
        remove_leftovers(base);
        let mut new = tempfile::Builder::new();
        let dir =
            new.prefix(PREFIX).permissions(Permissions::from_mode(0o700)).tempdir_in(base).map_err(fail)?;
        let lock = File::open(dir.path()).map_err(fail)?;
        // If locks are not supported, the folder works all the same.
        let _ = flock(&lock, FlockOperation::NonBlockingLockExclusive);
        let free = fstatvfs(&lock).map_err(|e| fail(e.into()))?;
        let room = free.f_bavail.saturating_mul(free.f_frsize) / 100 * MOST_PERCENT;
        Ok(Spool { dir, _lock: lock, left: room, room })
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes to a file in the folder; fails if the data exceeds the remaining budget.
    pub fn write(&mut self, file: &mut File, data: &[u8]) -> Result<(), Error> {
        let Some(left) = self.left.checked_sub(data.len() as u64) else {
            let what = format!(
                "what is to be unpacked needs more than {}, {MOST_PERCENT} % of what is free here",
                size(self.room)
            );
            return Err(Error::NoRoom { folder: self.path().into(), what });
        };
        self.left = left;
        file.write_all(data).map_err(|e| self.fail(e))
    }

    /// Converts an I/O error on a file of the folder.
    pub fn fail(&self, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::NoRoom {
                folder: self.path().into(),
                what: format!("unpacking failed after {}: {source}", size(self.room - self.left)),
            },
            _ => Error::Io { path: self.path().into(), source },
        }
    }
}

fn size(bytes: u64) -> String {
    match bytes >> 20 {
        0..10 => format!("{} KiB", bytes >> 10),
        mib => format!("{mib} MiB"),
    }
}

/// Removes folders that killed processes left.
fn remove_leftovers(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if ours && is_left(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether this is an unlocked folder of the same user, older than [`SETTLED`].
fn is_left(path: &Path) -> bool {
    let Ok(meta) = fs::symlink_metadata(path) else { return false };
    let settled = |t: SystemTime| t.elapsed().is_ok_and(|age| age > SETTLED);
    if !meta.is_dir()
        || meta.uid() != rustix::process::geteuid().as_raw()
        || !meta.modified().is_ok_and(settled)
    {
        return false;
    }
    File::open(path).is_ok_and(|dir| flock(&dir, FlockOperation::NonBlockingLockExclusive).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_away_and_so_does_what_a_killed_run_left() {
        let base = tempfile::tempdir().unwrap();
        let held = Spool::new_in(base.path()).unwrap();
        let left = base.path().join("iowhy-spool-left");
        let fresh = base.path().join("iowhy-spool-fresh");
        let other = base.path().join("something");
        for dir in [&left, &fresh, &other] {
            fs::create_dir_all(dir.join("sub")).unwrap();
        }
        let old = SystemTime::now() - 2 * SETTLED;
        for dir in [&left, &other, &held.path().to_path_buf()] {
            File::open(dir).unwrap().set_modified(old).unwrap();
        }
        std::os::unix::fs::symlink(&other, base.path().join("iowhy-spool-link")).unwrap();
        let new = Spool::new_in(base.path()).unwrap();
        assert!(held.path().exists() && new.path().exists() && fresh.exists() && other.join("sub").exists());
        assert!(!left.exists());
        assert_eq!(fs::metadata(new.path()).unwrap().mode() & 0o777, 0o700);
        let path = new.path().to_path_buf();
        drop(new);
        assert!(!path.exists());
    }

    #[test]
    fn no_more_than_there_is_room_for() {
        let base = tempfile::tempdir().unwrap();
        let mut spool = Spool::new_in(base.path()).unwrap();
        (spool.left, spool.room) = (10, 10);
        let mut file = File::create(spool.path().join("f")).unwrap();
        spool.write(&mut file, b"12345678").unwrap();
        let e = spool.write(&mut file, b"123").unwrap_err();
        assert!(matches!(e, Error::NoRoom { .. }), "{e}");
        assert!(e.help().unwrap().contains("TMPDIR"));
        let full = spool.fail(io::ErrorKind::StorageFull.into());
        assert!(matches!(full, Error::NoRoom { .. }), "{full}");
    }
}
