//! Block devices by name or number, and how they are stacked.
//!
//! A file system on a partition of an md array of NVMe disks is one stack of devices: recording only one of them
//! would truncate the lives of its bios. [`Devices::stack`] returns all devices above and below.

use crate::text;
use capture::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use trace::DevId;

/// A block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Name in the kernel, `vda1`.
    pub name: String,
    /// Device number.
    pub id: DevId,
    /// Its folder in /sys.
    pub path: PathBuf,
    /// The disk that it is a partition of; `None` for whole devices.
    pub disk: Option<String>,
}

/// All block devices of the machine.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    by_name: BTreeMap<String, Device>,
    /// Pairs of names: upper device, lower device.
    edges: BTreeSet<(String, String)>,
}

impl Devices {
    /// Reads `/sys/class/block`. `sys` is /sys.
    pub fn read(sys: &Path) -> Devices {
        let mut all = Devices::default();
        for entry in fs::read_dir(sys.join("class/block")).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            let Some(id) = text::small(&path.join("dev")).and_then(|t| number(&t)) else { continue };
            let disk = path.join("partition").exists().then(|| parent(&path)).flatten();
            if let Some(disk) = &disk {
                all.edges.insert((name.clone(), disk.clone()));
            }
            for lower in names(&path.join("slaves")) {
                all.edges.insert((name.clone(), lower));
            }
            all.by_name.insert(name.clone(), Device { name, id, path, disk });
        }
        // The lower device of a loop device is the one that holds its backing file.
        let loops: Vec<_> = all.iter().filter(|d| d.path.join("loop").is_dir()).cloned().collect();
        for d in loops {
            let file = text::small(&d.path.join("loop/backing_file"));
            if let Some(lower) = file.and_then(|f| all.under(Path::new(&f))).map(|l| l.name.clone()) {
                all.edges.insert((d.name, lower));
            }
        }
        all
    }

    /// All devices, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = &Device> {
        self.by_name.values()
    }

    /// The device with this number.
    pub fn by_id(&self, id: DevId) -> Option<&Device> {
        self.by_name.values().find(|d| d.id == id)
    }

    /// The device that holds a file; `None` if it is not on a block device (network or memory file system).
    pub fn under(&self, file: &Path) -> Option<&Device> {
        use std::os::unix::fs::MetadataExt;
        let dev = fs::metadata(file).ok()?.dev();
        let id = DevId::new(rustix::fs::major(dev), rustix::fs::minor(dev));
        // btrfs and overlay report virtual device numbers: use the source of the mount instead.
        self.by_id(id).or_else(|| {
            let mounts = crate::mounts::read(Path::new("/proc"));
            let mount = crate::mounts::of(&mounts, &fs::canonicalize(file).ok()?)?;
            let source = fs::canonicalize(&mount.source).ok()?;
            self.by_name.get(source.file_name()?.to_str()?)
        })
    }

    /// The device that a user names: `sda`, `/dev/sda1`, `/dev/disk/by-id/...`, `254:0`, `254,0`.
    pub fn find(&self, word: &str) -> Result<&Device> {
        let by_number = || number(&word.replace(',', ":")).and_then(|id| self.by_id(id));
        let by_link = || {
            let real = fs::canonicalize(word).ok()?;
            self.by_name.get(real.file_name()?.to_str()?)
        };
        let name = word.strip_prefix("/dev/").unwrap_or(word);
        let found = self.by_name.get(name).or_else(by_number).or_else(by_link);
        found.ok_or_else(|| {
            let names: Vec<_> = self.iter().filter(|d| d.disk.is_none()).map(|d| d.name.as_str()).collect();
            Error::refused(
                format!("there is no block device {word}"),
                format!("there are: {}", names.join(" ")),
            )
        })
    }

    /// `start` with all devices above and below them, including all partitions of the named disks.
    pub fn stack(&self, start: &[&Device]) -> Vec<&Device> {
        let mut found: BTreeSet<&str> = start.iter().map(|d| d.name.as_str()).collect();
        for down in [true, false] {
            let mut queue: Vec<&str> = start.iter().map(|d| d.name.as_str()).collect();
            while let Some(name) = queue.pop() {
                for (upper, lower) in &self.edges {
                    let (from, to) = if down { (upper, lower) } else { (lower, upper) };
                    if from == name && found.insert(to) {
                        queue.push(to);
                    }
                }
            }
        }
        found.iter().filter_map(|n| self.by_name.get(*n)).collect()
    }
}

/// Parses a device number, `254:0`.
fn number(text: &str) -> Option<DevId> {
    let (major, minor) = text.trim().split_once(':')?;
    Some(DevId::new(major.parse().ok()?, minor.parse().ok()?))
}

/// The disk whose folder in /sys contains the partition's folder.
fn parent(partition: &Path) -> Option<String> {
    let real = fs::canonicalize(partition).ok()?;
    Some(real.parent()?.file_name()?.to_str()?.to_string())
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// vda with vda1, sdb; md0 on vda1 and sdb; dm-0 on md0; sdc on its own.
    fn fake() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let class = dir.path().join("class/block");
        fs::create_dir_all(&class).unwrap();
        let make = |path: &str, dev: &str, lower: &[&str]| {
            let d = dir.path().join("devices").join(path);
            fs::create_dir_all(d.join("slaves")).unwrap();
            fs::write(d.join("dev"), dev).unwrap();
            for l in lower {
                fs::write(d.join("slaves").join(l), "").unwrap();
            }
            let name = Path::new(path).file_name().unwrap();
            std::os::unix::fs::symlink(&d, class.join(name)).unwrap();
        };
        make("vda", "254:0\n", &[]);
        make("vda/vda1", "254:1\n", &[]);
        fs::write(dir.path().join("devices/vda/vda1/partition"), "1\n").unwrap();
        make("sdb", "8:16\n", &[]);
        make("sdc", "8:32\n", &[]);
        make("md0", "9:0\n", &["vda1", "sdb"]);
        make("dm-0", "253:0\n", &["md0"]);
        make("odd", "no number", &[]);
        dir
    }

    fn stack(all: &Devices, name: &str) -> String {
        let names: Vec<_> = all.stack(&[all.find(name).unwrap()]).iter().map(|d| d.name.clone()).collect();
        names.join(" ")
    }

    #[test]
    fn stacks() {
        let dir = fake();
        let all = Devices::read(dir.path());
        assert_eq!(stack(&all, "dm-0"), "dm-0 md0 sdb vda vda1");
        assert_eq!(stack(&all, "sdb"), "dm-0 md0 sdb");
        assert_eq!(stack(&all, "/dev/vda"), "dm-0 md0 vda vda1");
        assert_eq!(stack(&all, "8:32"), "sdc");
    }

    #[test]
    fn names_and_numbers() {
        let dir = fake();
        let all = Devices::read(dir.path());
        assert_eq!(all.find("254,1").unwrap().disk.as_deref(), Some("vda"));
        let e = all.find("sdz").unwrap_err();
        assert_eq!(e.to_string(), "there is no block device sdz");
        assert_eq!(e.help(), Some("there are: dm-0 md0 sdb sdc vda"));
    }
}
