//! Which process a thread is of, and which files processes have open: what no event of the kernel says of those that
//! were there before the recording began.
//!
//! Only files that lie on block devices, and block devices themselves. Files are looked at through
//! `/proc/PID/fd/N` without asking their file system anew (`AT_STATX_DONT_SYNC`), so that a server that does not answer
//! cannot hold the recorder up.

use crate::devices::Devices;
use rustix::fs::{AtFlags, FileType, StatxFlags, CWD};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use trace::DevId;

/// Threads that are kept at most: the usual `pid_max` of small machines.
const MOST_THREADS: usize = 1 << 15;

/// Open files that are kept at most, about 100 bytes of JSON each.
const MOST_FILES: usize = 1 << 14;

/// All processes at one time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Processes {
    /// By their number.
    pub list: BTreeMap<u32, Process>,
    /// Whether there were more threads or files than are kept.
    pub cut: bool,
}

/// A process.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Process {
    /// Its threads but for the first, which has the process's number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<u32>,
    /// Its open files by descriptor.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<u32, OpenFile>,
}

/// An open file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenFile {
    /// The device of its file system, `8:1`; of a block device its own.
    pub dev: String,
    /// Its number there; 0 for a block device.
    pub inode: u64,
    /// Where it lies, as the process sees it.
    pub path: String,
}

impl Processes {
    /// Reads all of them but the recorder itself. `devices` are those that are recorded, all if it is empty;
    /// `proc_root` is /proc.
    pub fn read(proc_root: &Path, known: &Devices, devices: &[DevId]) -> Processes {
        let mut all = Processes::default();
        let (mut threads, mut files) = (0, 0);
        for pid in numbers(proc_root).filter(|pid| *pid != std::process::id()) {
            let folder = proc_root.join(pid.to_string());
            let mut process = Process::default();
            for tid in numbers(&folder.join("task")) {
                threads += 1;
                all.cut |= threads > MOST_THREADS;
                if tid != pid && threads <= MOST_THREADS {
                    process.threads.push(tid);
                }
            }
            for fd in numbers(&folder.join("fd")) {
                let open = open_file(&folder.join("fd").join(fd.to_string()), known, devices);
                files += usize::from(open.is_some());
                all.cut |= files > MOST_FILES;
                if let Some(open) = open.filter(|_| files <= MOST_FILES) {
                    process.files.insert(fd, open);
                }
            }
            process.threads.sort_unstable();
            if threads <= MOST_THREADS {
                all.list.insert(pid, process);
            }
        }
        all
    }
}

/// What a link in `/proc/PID/fd` leads to, if that is a file on a block device that is recorded.
fn open_file(link: &Path, known: &Devices, devices: &[DevId]) -> Option<OpenFile> {
    let path = fs::read_link(link).ok()?;
    // socket:[12], pipe:[3], anon_inode:...; and what the kernel makes up.
    let bytes = path.as_os_str().as_bytes();
    let made_up = ["/proc/", "/sys/", "/memfd:"].iter().any(|p| bytes.starts_with(p.as_bytes()));
    if !bytes.starts_with(b"/") || made_up {
        return None;
    }
    let what = StatxFlags::TYPE | StatxFlags::INO;
    let stat = rustix::fs::statx(CWD, link, AtFlags::STATX_DONT_SYNC, what).ok()?;
    let (dev, inode) = match FileType::from_raw_mode(u32::from(stat.stx_mode)) {
        FileType::RegularFile | FileType::Directory => {
            (DevId::new(stat.stx_dev_major, stat.stx_dev_minor), stat.stx_ino)
        }
        FileType::BlockDevice => (DevId::new(stat.stx_rdev_major, stat.stx_rdev_minor), 0),
        _ => return None,
    };
    // Major 0: in memory, on the network, or btrfs, which gives each subvolume a number that its events do not say.
    let recorded = devices.is_empty() || devices.contains(&dev);
    if known.by_id(dev).is_none() || !recorded {
        return None;
    }
    let path = path.to_string_lossy();
    let path = path.strip_suffix(" (deleted)").unwrap_or(&path).to_string();
    Some(OpenFile { dev: dev.to_string().replace(',', ":"), inode, path })
}

/// The numbers among the names in a folder.
fn numbers(dir: &Path) -> impl Iterator<Item = u32> {
    let names = fs::read_dir(dir).into_iter().flatten().flatten();
    names.filter_map(|e| e.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{symlink, MetadataExt};

    #[test]
    fn threads_and_files_on_recorded_devices() {
        let dir = tempfile::tempdir().unwrap();
        let (proc_root, sys) = (dir.path().join("proc"), dir.path().join("sys"));
        let file = dir.path().join("data");
        fs::write(&file, "x").unwrap();
        let meta = fs::metadata(&file).unwrap();
        let dev = DevId::new(nix::libc::major(meta.dev()), nix::libc::minor(meta.dev()));
        let block = sys.join("class/block/vda");
        fs::create_dir_all(&block).unwrap();
        fs::write(block.join("dev"), format!("{}\n", dev.to_string().replace(',', ":"))).unwrap();
        for tid in [70_000_001, 70_000_002] {
            fs::create_dir_all(proc_root.join(format!("70000001/task/{tid}"))).unwrap();
        }
        let fds = proc_root.join("70000001/fd");
        fs::create_dir_all(&fds).unwrap();
        symlink(&file, fds.join("3")).unwrap();
        symlink("socket:[7]", fds.join("4")).unwrap();
        symlink("/dev/null", fds.join("5")).unwrap();
        fs::create_dir_all(proc_root.join("sys")).unwrap();

        let known = Devices::read(&sys);
        let read = |devices: &[DevId]| Processes::read(&proc_root, &known, devices);
        let all = read(&[]);
        assert_eq!(all.list.keys().collect::<Vec<_>>(), [&70_000_001]);
        let process = &all.list[&70_000_001];
        assert_eq!((&process.threads[..], process.files.len(), all.cut), (&[70_000_002][..], 1, false));
        assert_eq!(
            (process.files[&3].inode, process.files[&3].path.as_str()),
            (meta.ino(), file.to_str().unwrap())
        );
        assert!(read(&[DevId::new(1, 77)]).list[&70_000_001].files.is_empty());
    }
}
