//! Converts processes and their open files to [`Processes`].

use crate::document::dev::dev_with_colon;
use crate::processes::{Asleep, OpenFile, Path, Processes};
use capture::{OpenFile as File, Snapshot};
use trace::{DevId, Tid};

/// Limit on threads and on files; the recorder keeps fewer.
const MOST: usize = 1 << 17;

impl Processes {
    /// Adds the processes and files at the start of the recording.
    pub(super) fn add(&mut self, from: &Snapshot) {
        self.hierarchy = from.processes.as_ref().and_then(|all| all.hierarchy);
        for (pid, process) in from.processes.iter().flat_map(|all| &all.list) {
            let process_tid = Tid(*pid);
            if !process.cgroup.is_empty() && self.groups.len() < MOST {
                self.groups.insert(process_tid, process.cgroup.clone());
            }
            if process.parent != 0 && self.parents.len() < MOST {
                self.parents.insert(process_tid, Tid(process.parent));
            }
            if process.supervises && self.supervisors.len() < MOST {
                self.supervisors.insert(process_tid);
            }
            for tid in process.threads.iter().map(|t| Tid(*t)).chain([process_tid]) {
                if self.threads.len() < MOST {
                    self.threads.insert(tid, process_tid);
                }
            }
            for (fd, file) in &process.files {
                if let Some(dev) = dev_with_colon(&file.dev).filter(|_| self.files.len() < MOST) {
                    let (inode, closed_on_exec) = (file.inode, file.closed_on_exec);
                    let open = OpenFile { process: process_tid, fd: *fd, dev, inode, closed_on_exec };
                    self.files.push(open);
                    self.name(dev, file);
                }
            }
        }
        let asleep = from.processes.iter().flat_map(|all| &all.asleep).take(MOST);
        self.asleep.extend(asleep.map(|(tid, asleep)| Asleep {
            tid: Tid(*tid),
            task: asleep.task.clone(),
            stack: asleep.stack.clone(),
            argument: asleep.argument,
        }));
    }

    /// Adds only the names of files, and the cgroups of new processes, from the end of the recording.
    pub(super) fn add_paths(&mut self, from: &Snapshot) {
        for (pid, process) in from.processes.iter().flat_map(|all| &all.list) {
            // The cgroup at the start has precedence over that at the end.
            if !process.cgroup.is_empty() && self.groups.len() < MOST {
                self.groups.entry(Tid(*pid)).or_insert_with(|| process.cgroup.clone());
            }
        }
        for file in from.processes.iter().flat_map(|all| all.list.values()).flat_map(|p| p.files.values()) {
            if let Some(dev) = dev_with_colon(&file.dev) {
                self.name(dev, file);
            }
        }
    }

    fn name(&mut self, dev: DevId, file: &File) {
        if file.inode != 0 && self.paths.len() < MOST {
            let (path, subvolume) = (file.path.clone(), file.subvolume.clone());
            let known =
                self.paths.entry((dev, file.inode)).or_insert(Path { path, subvolume, several: false });
            known.several |= known.subvolume != file.subvolume;
        }
    }
}
