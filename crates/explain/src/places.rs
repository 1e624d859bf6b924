//! Names of a recording's devices, file systems, files and cgroups.

use evidence::{is_device_name, System};
use operation::{Freed, Operation};
use stats::Whose;
use trace::{Batch, DevId, Fs, Nanos};

/// The sources of names.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Device names that are derived from file names.
    pub names: Vec<(DevId, String)>,
    /// Settings beside the recording.
    pub system: System,
    /// The beginning of the recording: the origin of relative times.
    pub began: Nanos,
    /// Inode numbers that may have been reused.
    pub freed: Freed,
}

impl Places {
    /// A device's name. Example: `sda`.
    pub fn device(&self, dev: DevId) -> String {
        device(&self.system, &self.names, dev)
    }

    /// The mount point and kind of the file system on a device. Example: `/mnt/lab`, ext4.
    pub fn mount(&self, dev: DevId) -> Option<(&str, Fs)> {
        let source = self.system.device_name(dev).map(|name| format!("/dev/{name}"));
        let is = |m: &&evidence::Mount| m.dev == Some(dev) || source.as_ref() == Some(&m.source);
        self.system.mounts.iter().rev().find(is).map(|m| (m.target.as_str(), Fs::by_name(&m.fstype)))
    }

    /// The place of an operation. Example: `/mnt/lab (ext4, loop0)`; `None` if nothing is known.
    pub fn of(&self, fs: Fs, dev: DevId) -> Option<String> {
        let mount = self.mount(dev).filter(|_| dev != DevId(0));
        let kind =
            Some(fs).filter(|f| *f != Fs::Unknown).or(mount.map(|m| m.1).filter(|f| *f != Fs::Unknown));
        let kind = kind.map(|k| k.name().to_string());
        let device = (dev != DevId(0)).then(|| self.device(dev));
        let around: Vec<String> = kind.into_iter().chain(device).collect();
        match mount {
            Some((target, _)) => Some(format!("{target} ({})", around.join(", "))),
            None => Some(around.join(" on ")).filter(|t| !t.is_empty()),
        }
    }

    /// The path of an operation's file, if it is certain: the descriptor has been open since the path was looked up, or no other file can
    /// have had the same inode number. btrfs numbers the files of each subvolume separately.
    pub fn file(&self, o: &Operation) -> Option<&str> {
        let sure = o.told || (o.fs != Fs::Btrfs && !self.freed.has(o.dev, o.inode));
        self.system.processes.path(o.dev, o.inode).filter(|_| o.inode != 0 && sure)
    }

    /// The owner of written data: task names, or a cgroup by its path; `None` if unknown.
    pub fn whose(&self, whose: &Whose) -> Option<String> {
        match whose {
            Whose::Tasks(tasks) | Whose::Probably(tasks) => Some(tasks.clone()),
            Whose::Group(group) => Some(self.group(*group)),
            Whose::Unknown => None,
        }
    }

    /// A cgroup by its path, or by its number if the path is unknown.
    pub fn group(&self, number: u64) -> String {
        match self.system.group_path(number) {
            Some(path) => format!("cgroup {path}"),
            None => format!("cgroup id {number}"),
        }
    }

    /// Seconds since the beginning of the recording.
    pub fn since_start(&self, t: Nanos) -> f64 {
        t.since(self.began).seconds()
    }
}

/// A device's name: from the settings; else from the name of a trace file, unless that is arbitrary (`blktrace -o`); else the kernel's name for
/// a number with a fixed meaning; else the number.
pub fn device(system: &System, files: &[(DevId, String)], dev: DevId) -> String {
    let of_file =
        || files.iter().find(|(d, name)| *d == dev && is_device_name(name)).map(|(_, n)| n.as_str());
    let known = system.device_name(dev).or_else(of_file).map(str::to_string);
    known.or_else(|| system.fixed_name(dev)).unwrap_or_else(|| dev.to_string())
}

/// When a recording began, from its first batch: the time of the first event that is no note.
pub fn began(batch: &Batch) -> Option<Nanos> {
    let block = batch.events.iter().find(|e| !e.action.is_note()).map(|e| e.time);
    let text = |e: &&trace::TaskEvent| matches!(e.what, trace::What::Text { .. });
    let task = batch.tasks.iter().find(|e| !text(e)).map(|e| e.time);
    block.into_iter().chain(task).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SDA: DevId = DevId(8 << 20);
    const SDB: DevId = DevId(8 << 20 | 16);
    const NOWHERE: DevId = DevId(0);

    /// sda is mounted by number; sdb by name, twice, the later mount on top; sdc is in no file.
    fn places() -> Places {
        let mut system = System::default();
        let mounted = "36 35 8:0 / /srv rw - xfs /dev/root rw\n";
        assert!(system.add_document("mountinfo.txt", mounted.as_bytes()));
        assert!(
            system.add_document("mounts.txt", b"/dev/sdb /old ext4 rw 0 0\n/dev/sdb /new fuseblk rw 0 0\n")
        );
        assert!(system.add_document("queue.txt", b"sdb/dev: 8:16\n"));
        Places { system, names: vec![(SDA, "vda".into())], ..Places::default() }
    }

    #[test]
    fn a_file_system_is_called_by_its_mount_its_kind_and_its_device() {
        let at = places();
        let of = |fs, dev| at.of(fs, dev);
        assert_eq!(of(Fs::Xfs, SDA).as_deref(), Some("/srv (xfs, vda)"));
        assert_eq!(of(Fs::Unknown, SDA).as_deref(), Some("/srv (xfs, vda)"), "the mount tells its kind");
        assert_eq!(of(Fs::Ext4, SDA).as_deref(), Some("/srv (ext4, vda)"), "events know it better");
        assert_eq!(of(Fs::Unknown, SDB).as_deref(), Some("/new (sdb)"));
        assert_eq!(of(Fs::Ext4, DevId::new(254, 32)).as_deref(), Some("ext4 on 254,32"));
        assert_eq!(
            of(Fs::Unknown, DevId::new(8, 32)).as_deref(),
            Some("sdc"),
            "of no file, but the kernel's"
        );
        assert_eq!(of(Fs::Ext4, NOWHERE).as_deref(), Some("ext4"));
        assert_eq!(of(Fs::Unknown, NOWHERE), None);
        assert_eq!(at.since_start(Nanos(1_500_000_000)), 1.5);
    }

    /// btrfs numbers the files of each subvolume separately; a descriptor that was open all the time still identifies its file.
    #[test]
    fn a_file_is_named_where_no_other_can_have_its_number() {
        let mut at = Places::default();
        let files = r#"{"schema": 1, "before": {"processes": {"list": {"100": {"files": {"3": {"dev": "8:0", "inode": 12, "path": "/srv/wal"},
            "4": {"dev": "8:0", "inode": 0, "path": "/srv/none"}}}}}}}"#;
        assert!(at.system.add_document("system.json", files.as_bytes()));
        let of = |fs, inode, told| {
            let operation = Operation {
                kind: operation::Kind::Call(trace::Call::Read),
                tid: trace::Tid(100),
                process: None,
                task: Default::default(),
                from: Nanos(0),
                to: Nanos(1),
                fd: Some(3),
                fs,
                dev: SDA,
                inode,
                told,
                result: 1,
                is_storage: true,
                still_out: None,
                begun_before: false,
            };
            at.file(&operation).map(str::to_string)
        };
        assert_eq!(of(Fs::Ext4, 12, false).as_deref(), Some("/srv/wal"));
        assert_eq!((of(Fs::Btrfs, 12, false), of(Fs::Btrfs, 12, true).as_deref()), (None, Some("/srv/wal")));
        assert_eq!((of(Fs::Ext4, 13, false), of(Fs::Ext4, 0, true)), (None, None));
    }
}
