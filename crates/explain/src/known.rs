//! Facts in the settings beside a recording that its events do not have: where the files of loop devices lie on disks, the process of
//! each thread, the files that were open when the recording began.

use evidence::System;
use operation::{Below, Known, KnownCgroups, KnownFile, KnownSleep};
use std::collections::BTreeMap;
use trace::{DevId, Fs};

/// Converts the settings beside a recording.
pub fn known(system: &System) -> Known {
    let below =
        |p: evidence::Placed| Below { upper: p.upper, at: p.at, len: p.len, lower: p.lower, lies: p.lies };
    let mounted: BTreeMap<DevId, Fs> =
        system.mounts.iter().filter_map(|m| Some((device(system, m)?, Fs::by_name(&m.fstype)))).collect();
    let file = |f: &evidence::OpenFile| {
        let fs = match f.inode {
            0 => Fs::Block,
            _ => mounted.get(&f.dev).copied().unwrap_or_default(),
        };
        let (inode, closed_on_exec) = (f.inode, f.closed_on_exec);
        KnownFile { process: f.process, fd: f.fd, fs, dev: f.dev, inode, closed_on_exec }
    };
    let asleep = |a: &evidence::Asleep| KnownSleep {
        tid: a.tid,
        task: a.task.clone(),
        stack: a.stack.join("\n"),
        argument: a.argument,
    };
    Known {
        below: system.placed().into_iter().map(below).collect(),
        processes: system.processes.threads.iter().map(|(tid, process)| (*tid, *process)).collect(),
        apart: Vec::new(),
        threads_apart: Vec::new(),
        parents: system.processes.parents.iter().map(|(process, parent)| (*process, *parent)).collect(),
        supervisors: system.processes.supervisors.iter().copied().collect(),
        cgroups: KnownCgroups {
            hierarchy: system.processes.hierarchy.unwrap_or(0),
            of: system.processes.groups.iter().map(|(process, path)| (*process, path.clone())).collect(),
        },
        asleep: system.processes.asleep.iter().map(asleep).collect(),
        files: system.processes.files.iter().map(file).collect(),
        partitions: partitions(system),
        mounted: mounted.keys().copied().collect(),
        kinds: mounted.into_iter().collect(),
    }
}

/// The device of a file system. btrfs has a device number of its own; then it is the device that the mount names as source.
fn device(system: &System, mount: &evidence::Mount) -> Option<DevId> {
    let by_source = || system.device(mount.source.strip_prefix("/dev/")?)?.dev.as_ref().map(|dev| dev.value);
    mount.dev.filter(|dev| dev.0 >> 20 != 0).or_else(by_source)
}

/// Pairs of a partition and its disk.
fn partitions(system: &System) -> Vec<(DevId, DevId)> {
    let number = |d: &evidence::Device| d.dev.as_ref().map(|dev| dev.value);
    let pair = |d: &evidence::Device| Some((number(d)?, number(system.disk_of(&d.name)?)?));
    system.devices.values().filter_map(pair).filter(|(part, disk)| part != disk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::Tid;

    /// An open file with an inode belongs to the file system; without an inode it is the disk itself, whatever is mounted from it.
    #[test]
    fn an_open_disk_is_no_file_of_the_file_system_on_it() {
        let mut system = System::default();
        assert!(system.add_document("mounts.txt", b"/dev/sda /mnt ext4 rw 0 0\n"));
        let dev = DevId::new(8, 0);
        system.mounts.iter_mut().for_each(|mount| mount.dev = Some(dev));
        let open = |inode| evidence::OpenFile { process: Tid(7), fd: 3, dev, inode, closed_on_exec: None };
        system.processes.files = vec![open(12), open(0)];
        let files: Vec<Fs> = known(&system).files.iter().map(|file| file.fs).collect();
        assert_eq!(files, [Fs::Ext4, Fs::Block]);
    }
}
