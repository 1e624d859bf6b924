//! Processes, their threads and their open files, from /proc: no event of the kernel has these for processes that
//! exist before the recording.
//!
//! Only files on block devices, and block devices themselves, are listed. Files are examined through
//! `/proc/PID/fd/N` without synchronising with the file server (`AT_STATX_DONT_SYNC`), so that an unresponsive server
//! cannot block the recorder.

use crate::devices::Devices;
use crate::text;
use capture::{mountinfo, OpenFile, Process, Processes};
use rustix::fs::{AtFlags, FileType, StatxFlags, CWD};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use trace::DevId;

/// Limit on threads: the usual `pid_max` of small machines.
const MOST_THREADS: usize = 1 << 15;

/// Limit on open files, about 100 bytes of JSON each.
const MOST_FILES: usize = 1 << 14;

/// Reads all processes. For the recorder itself, only its parent and cgroup (in which its command starts). `devices` are the recorded ones,
/// empty for all; `proc_root` is /proc.
pub fn read(proc_root: &Path, known: &Devices, devices: &[DevId]) -> Processes {
    let mut all = Processes::default();
    let (mut threads, mut files) = (0, 0);
    for pid in text::numbers(proc_root) {
        let folder = proc_root.join(pid.to_string());
        let group = text::small(&folder.join("cgroup")).and_then(|text| group(&text));
        all.hierarchy = all.hierarchy.or(group.as_ref().map(|g| g.0));
        let cgroup = group.map(|g| g.1).unwrap_or_default();
        let (supervises, parent) = origin(&folder).unwrap_or_default();
        let mut process = Process { parent, supervises, cgroup, ..Process::default() };
        if pid == std::process::id() {
            all.list.insert(pid, process);
            continue;
        }
        for tid in text::numbers(&folder.join("task")) {
            threads += 1;
            all.cut |= threads > MOST_THREADS;
            if tid != pid && threads <= MOST_THREADS {
                process.threads.push(tid);
            }
        }
        for fd in text::numbers(&folder.join("fd")).filter_map(|fd| i32::try_from(fd).ok()) {
            let open = open_file(&folder, fd, known, devices);
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

/// Whether the name of a process is that of a supervisor, and its parent. `folder` is `/proc/PID`.
fn origin(folder: &Path) -> Option<(bool, u32)> {
    let stat = text::small(&folder.join("stat"))?;
    let (name, parent) = name_and_parent(&stat)?;
    Some((trace::is_supervisor(name), parent))
}

/// Name and parent in `/proc/PID/stat` (proc_pid_stat(5)): `12 (a (b) c) S 1 ...`; a name may contain anything.
fn name_and_parent(stat: &str) -> Option<(&str, u32)> {
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
    Some((name, rest.split_whitespace().nth(1)?.parse().ok()?))
}

/// Examines the files again and removes those whose descriptors are now closed or changed. They were first examined before
/// the recording, and no event covers the time until its start.
pub fn still_open(processes: &mut Processes, proc_root: &Path, known: &Devices, devices: &[DevId]) {
    for (pid, process) in &mut processes.list {
        let folder = proc_root.join(pid.to_string());
        process.files.retain(|fd, file| open_file(&folder, *fd, known, devices).as_ref() == Some(file));
    }
}

/// The open file of a descriptor, if it is on a recorded block device. `folder` is `/proc/PID`.
fn open_file(folder: &Path, fd: i32, known: &Devices, devices: &[DevId]) -> Option<OpenFile> {
    let link = &folder.join("fd").join(fd.to_string());
    let path = fs::read_link(link).ok()?;
    // Not files: socket:[12], pipe:[3], anon_inode:..., and virtual ones of the kernel.
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
    let info = text::small(&folder.join("fdinfo").join(fd.to_string())).unwrap_or_default();
    let field = |name: &str| info.lines().find_map(|l| Some(l.strip_prefix(name)?.trim()));
    // Major 0: in memory, on the network, or btrfs, whose subvolumes have numbers that its events lack.
    let text = |dev: DevId| dev.to_string().replace(',', ":");
    let (dev, subvolume) = match dev.0 >> 20 {
        0 => (btrfs(folder, field("mnt_id:")?, known)?, text(dev)),
        _ => (dev, String::new()),
    };
    let recorded = devices.is_empty() || devices.contains(&dev);
    if known.by_id(dev).is_none() || !recorded {
        return None;
    }
    let path = path.to_string_lossy();
    let path = path.strip_suffix(" (deleted)").unwrap_or(&path).to_string();
    let flags = field("flags:").and_then(|f| u32::from_str_radix(f, 8).ok()).unwrap_or(0);
    let closed_on_exec = Some(flags & rustix::fs::OFlags::CLOEXEC.bits() != 0);
    Some(OpenFile { dev: text(dev), inode, subvolume, closed_on_exec, path })
}

/// The block device in the source of a btrfs mount, looked up by mount id, since the process may have its own
/// mounts.
fn btrfs(folder: &Path, mount: &str, known: &Devices) -> Option<DevId> {
    let mounts = fs::read(folder.join("mountinfo")).ok()?;
    let mounts = String::from_utf8_lossy(&mounts);
    let is = |m: &capture::Mountinfo| mount.parse() == Ok(m.id) && m.mount.fstype == "btrfs";
    let source = mounts.lines().filter_map(mountinfo).find(is)?.mount.source;
    known.find(&source).ok().map(|device| device.id)
}

/// The cgroup and its hierarchy in `/proc/PID/cgroup`: that of the block I/O controller if there is one, otherwise cgroup v2
/// (cgroups(7)).
fn group(text: &str) -> Option<(u32, String)> {
    let of = |wanted: fn(&str) -> bool| {
        text.lines().find_map(|line| {
            let (hierarchy, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            wanted(controllers).then_some((hierarchy.parse().ok()?, path.to_string()))
        })
    };
    let block = of(|controllers| controllers.split(',').any(|c| c == "blkio"));
    block.or_else(|| of(str::is_empty))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{symlink, MetadataExt};

    #[test]
    fn the_control_group_of_either_version() {
        assert_eq!(group("0::/db.slice/a:b\n"), Some((0, "/db.slice/a:b".into())));
        let both = "12:cpu,cpuacct:/\n7:blkio:/limited\n1:name=systemd:/user.slice\n0::/user.slice\n";
        assert_eq!(group(both), Some((7, "/limited".into())));
        assert_eq!((group("1:name=systemd:/x\n"), group("")), (None, None));
    }

    #[test]
    fn a_name_may_have_brackets() {
        assert_eq!(name_and_parent("12 (a) (b c) S 7 12 0"), Some(("a) (b c", 7)));
        assert_eq!((name_and_parent("12 (a) S"), name_and_parent("")), (None, None));
    }

    #[test]
    fn threads_and_files_on_recorded_devices() {
        let dir = tempfile::tempdir().unwrap();
        let (proc_root, sys) = (dir.path().join("proc"), dir.path().join("sys"));
        let file = dir.path().join("data");
        fs::write(&file, "x").unwrap();
        let meta = fs::metadata(&file).unwrap();
        let dev = DevId::new(rustix::fs::major(meta.dev()), rustix::fs::minor(meta.dev()));
        let block = sys.join("class/block/vda");
        fs::create_dir_all(&block).unwrap();
        fs::write(block.join("dev"), format!("{}\n", dev.to_string().replace(',', ":"))).unwrap();
        for tid in [70_000_001, 70_000_002] {
            fs::create_dir_all(proc_root.join(format!("70000001/task/{tid}"))).unwrap();
        }
        let fds = proc_root.join("70000001/fd");
        let info = proc_root.join("70000001/fdinfo");
        fs::create_dir_all(&fds).unwrap();
        fs::create_dir_all(&info).unwrap();
        fs::write(info.join("3"), "pos:\t0\nflags:\t02100000\nmnt_id:\t29\n").unwrap();
        symlink(&file, fds.join("3")).unwrap();
        symlink("socket:[7]", fds.join("4")).unwrap();
        symlink("/dev/null", fds.join("5")).unwrap();
        fs::create_dir_all(proc_root.join("sys")).unwrap();
        fs::write(proc_root.join("70000001/stat"), "70000001 (cron) S 812 0 0").unwrap();

        let known = Devices::read(&sys);
        let read = |devices: &[DevId]| super::read(&proc_root, &known, devices);
        let all = read(&[]);
        assert_eq!(all.list.keys().collect::<Vec<_>>(), [&70_000_001]);
        let process = &all.list[&70_000_001];
        assert_eq!((&process.threads[..], process.files.len(), all.cut), (&[70_000_002][..], 1, false));
        assert_eq!((process.parent, process.supervises), (812, true));
        assert_eq!(
            (process.files[&3].inode, process.files[&3].path.as_str()),
            (meta.ino(), file.to_str().unwrap())
        );
        assert_eq!(process.files[&3].closed_on_exec, Some(true));
        assert!(read(&[DevId::new(1, 77)]).list[&70_000_001].files.is_empty());

        // Before the recording started, the descriptor was reused for another file.
        let mut before = all.clone();
        still_open(&mut before, &proc_root, &known, &[]);
        assert_eq!(before.list[&70_000_001].files.len(), 1);
        let other = dir.path().join("other");
        fs::write(&other, "x").unwrap();
        fs::remove_file(fds.join("3")).unwrap();
        symlink(&other, fds.join("3")).unwrap();
        still_open(&mut before, &proc_root, &known, &[]);
        assert!(before.list[&70_000_001].files.is_empty());
    }
}
