//! The checkup's own folder in the directory that is checked: everything is written there and nowhere else.
//!
//! Its marker is locked while the checkup runs (flock(2)): the kernel releases the lock when the process ends, for whatever
//! reason. So the next run knows which folders are abandoned, without guessing by process numbers, and removes them. Only a
//! real folder of this user, with the right name and a marker of this program, is ever removed.

use crate::error::{Error, Result};
use crate::settings;
use record::At;
use rustix::fs::{flock, FlockOperation, OFlags};
use rustix::process::{kill_process, Pid, Signal};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The prefix of the folders' names; the process number follows.
pub const PREFIX: &str = ".iowhy-checkup-";
/// The name of the marker file.
const MARKER: &str = "marker";
/// The content of the marker file.
const MAGIC: &str = "iowhy checkup: this folder is removed by the next `iowhy checkup` here\n";
/// The name of the journal, which has the setting to restore during a trial.
pub const JOURNAL: &str = "journal.json";

/// The folder; dropping it removes the folder and ends loads in it.
#[derive(Debug)]
pub struct Home {
    path: PathBuf,
    /// The open marker file, which holds the lock.
    _marker: File,
}

impl Home {
    /// Creates the folder in `dir` and locks its marker.
    pub fn make(dir: &Path) -> Result<Home> {
        let path = dir.join(format!("{PREFIX}{}", std::process::id()));
        fs::DirBuilder::new().mode(0o700).create(&path).at("making a folder", &path)?;
        let marked = mark(&path);
        if marked.is_err() {
            let _ = fs::remove_dir_all(&path);
        }
        Ok(Home { _marker: marked?, path })
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Removes the files that loads have written, except for those in `keep`.
    pub fn tidy(&self, keep: &[&str]) {
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.to_str().is_some_and(|n| n == MARKER || n == JOURNAL || keep.contains(&n)) {
                continue;
            }
            let path = entry.path();
            let _ = if entry.file_type().is_ok_and(|t| t.is_dir()) {
                fs::remove_dir_all(&path)
            } else {
                fs::remove_file(&path)
            };
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        end_those_in(&self.path);
        // If a setting could not be restored, the next run tries again.
        if self.file(JOURNAL).exists() {
            return self.tidy(&[]);
        }
        remove(&self.path);
    }
}

/// Removes a folder; the marker goes last, so that an unfinished removal is recognised by the next run.
fn remove(path: &Path) {
    for entry in fs::read_dir(path).into_iter().flatten().flatten().filter(|e| e.file_name() != MARKER) {
        let path = entry.path();
        let _ = if entry.file_type().is_ok_and(|t| t.is_dir()) {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
    }
    let _ = fs::remove_file(path.join(MARKER));
    let _ = fs::remove_dir(path);
}

fn mark(folder: &Path) -> Result<File> {
    let path = folder.join(MARKER);
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path).at("making a file", &path)?;
    file.write_all(MAGIC.as_bytes()).at("writing", &path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).at("locking", &path)?;
    Ok(file)
}

/// Removes folders that killed runs left in a directory and restores settings that they had not; says so, one sentence each.
///
/// Fails if another checkup is running there: two would measure each other.
pub fn sweep(dir: &Path) -> Result<Vec<String>> {
    let mut said = Vec::new();
    for entry in fs::read_dir(dir).at("reading the directory", dir)?.flatten() {
        let path = entry.path();
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && fs::symlink_metadata(&path)
                .is_ok_and(|m| m.is_dir() && m.uid() == rustix::process::geteuid().as_raw());
        if !ours {
            continue;
        }
        // An empty folder: its process was killed before it made the marker.
        if fs::remove_dir(&path).is_ok() {
            said.push(format!("removed {}, left by an earlier checkup", path.display()));
            continue;
        }
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(OFlags::NOFOLLOW.bits() as i32)
            .open(path.join(MARKER));
        let Ok(mut marker) = opened else { continue };
        let mut text = String::new();
        let whole = (&mut marker).take(MAGIC.len() as u64 + 1).read_to_string(&mut text).is_ok();
        // If its process was killed while writing it, the marker has a part of the text.
        if !whole || !MAGIC.starts_with(&text) {
            continue;
        }
        if flock(&marker, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(Error::refused(
                format!("another checkup is running in {}", dir.display()),
                "wait until it ends: two at once would measure each other",
            ));
        }
        end_those_in(&path);
        said.extend(settings::restore(&path.join(JOURNAL))?);
        remove(&path);
        said.push(format!("removed {}, left by an earlier checkup", path.display()));
    }
    Ok(said)
}

/// Kills loads that still run in a folder: their working directory is there.
fn end_those_in(folder: &Path) {
    let Ok(folder) = fs::canonicalize(folder) else { return };
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| Pid::from_raw(n.parse().ok()?)) else {
            continue;
        };
        if fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_gone_at_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::make(dir.path()).unwrap();
        fs::create_dir(home.file("capture")).unwrap();
        fs::write(home.file("data"), "x").unwrap();
        fs::write(home.file("big"), "x").unwrap();
        home.tidy(&["data"]);
        assert!(home.file("data").exists() && !home.file("big").exists() && !home.file("capture").exists());
        assert!(sweep(dir.path()).unwrap_err().to_string().contains("another checkup is running"));
        drop(home);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_what_nobody_owns_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in [".iowhy-checkup-1", ".iowhy-checkup-2", ".iowhy-checkup-3", "iowhy-checkup-4"] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::write(at(".iowhy-checkup-1").join(MARKER), MAGIC).unwrap();
        fs::write(at(".iowhy-checkup-1").join("data"), "x").unwrap();
        fs::write(at(".iowhy-checkup-3").join(MARKER), "something else").unwrap();
        std::os::unix::fs::symlink(at("iowhy-checkup-4"), at(".iowhy-checkup-5")).unwrap();
        assert_eq!(sweep(dir.path()).unwrap().len(), 2);
        let mut left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".iowhy-checkup-3", ".iowhy-checkup-5", "iowhy-checkup-4"]);
    }
}
