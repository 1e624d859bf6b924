//! Whose data it is that another task sends: flushers write back what others dirtied, a journal's thread writes what
//! others changed.
//!
//! A file is a device and a number: the same number on another file system is another file. The flusher's events name
//! disks, not partitions; which file system of a disk is meant is known where the disk has only one (`Writers::place`), or
//! where the bio says so. Where neither does, nobody is named.

use crate::known::Known;
use life::{Owner, TaskName};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use trace::{DevId, Nanos};

/// Files and journals whose writers are remembered at most, and writers of each.
const MAX_FILES: usize = 1 << 16;
const MAX_WRITERS: usize = 8;

/// Tasks by name, each once.
pub type Tasks = SmallVec<[TaskName; 2]>;

/// What another task's request moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    /// Data of a file.
    FileData,
    /// What a journal (jbd2's, XFS's log) keeps of changes.
    Journal,
}

/// What a request moves that another task sent than those whose data it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentFor {
    /// What.
    pub purpose: Purpose,
    /// Which file.
    pub inode: Option<u64>,
    /// Who wrote the file, or changed what the journal commits; none where that was not seen.
    pub tasks: Tasks,
    /// The control group that the file's pages are counted for (its folder's inode), where the kernel told one that is
    /// not the root.
    pub cgroup: Option<u64>,
}

impl SentFor {
    /// Whose data it is: of several the first that was seen.
    pub(crate) fn owner(&self) -> Option<Owner> {
        let journal = self.purpose == Purpose::Journal;
        self.tasks.first().map(|task| Owner { task: *task, journal })
    }
}

/// A file that a flusher is writing back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WritingBack {
    /// On which disk.
    pub disk: DevId,
    pub inode: u64,
    pub cgroup: u64,
    pub from: Nanos,
}

/// The number of the root group's folder (`cgroup_ino` of `wb->memcg_css->cgroup`, fs/fs-writeback.c): all that is in no
/// group of its own, and all where write-back knows no groups (version 1).
const ROOT_GROUP: u64 = 1;

/// The tasks that hold changes in the transactions of one journal.
#[derive(Debug, Default)]
struct Changers {
    /// In the transaction that takes changes.
    running: Tasks,
    /// In the one that is being committed.
    committing: Tasks,
}

/// Who wrote to files and changed what journals commit.
#[derive(Debug, Default)]
pub struct Writers {
    files: FxHashMap<(DevId, u64), Tasks>,
    journals: FxHashMap<DevId, Changers>,
    /// The disk of each partition.
    disks: FxHashMap<DevId, DevId>,
    /// File systems by disk.
    mounted: FxHashMap<DevId, FxHashSet<DevId>>,
}

impl Writers {
    pub(crate) fn knows(&mut self, known: &Known) {
        self.disks.extend(known.partitions.iter().copied());
        for dev in &known.mounted {
            let disk = self.disk(*dev);
            self.mounted.entry(disk).or_default().insert(*dev);
        }
    }

    /// The disk that a device is on.
    pub(crate) fn disk(&self, dev: DevId) -> DevId {
        self.disks.get(&dev).copied().unwrap_or(dev)
    }

    /// The file system that is meant by its disk; `None` if there are several.
    pub(crate) fn place(&self, disk: DevId) -> Option<DevId> {
        let mut on_disk = self.mounted.get(&disk).into_iter().flatten();
        match (on_disk.next(), on_disk.next()) {
            (None, _) => Some(disk),
            (one, None) => one.copied(),
            _ => None,
        }
    }

    /// A task wrote to a file.
    pub(crate) fn wrote(&mut self, dev: DevId, inode: u64, task: TaskName) {
        // Files of btrfs have numbers of their own in each subvolume, and no device.
        if inode == 0 || dev == DevId(0) {
            return;
        }
        if self.files.len() >= MAX_FILES {
            self.files.clear();
        }
        add(self.files.entry((dev, inode)).or_default(), task);
    }

    /// The same, where only the disk is known.
    pub(crate) fn wrote_on_disk(&mut self, disk: DevId, inode: u64, task: TaskName) {
        if let Some(dev) = self.place(disk) {
            self.wrote(dev, inode, task);
        }
    }

    /// A task takes part in a journal's transaction.
    pub(crate) fn changed(&mut self, dev: DevId, task: TaskName) {
        if self.journals.len() >= MAX_FILES {
            self.journals.clear();
        }
        add(&mut self.journals.entry(dev).or_default().running, task);
    }

    /// A journal begins to commit what was changed so far. Whoever commits may have looked at the transaction before, and
    /// changed nothing.
    pub(crate) fn commits(&mut self, dev: DevId, by: TaskName) {
        let journal = self.journals.entry(dev).or_default();
        journal.committing = std::mem::take(&mut journal.running);
        journal.committing.retain(|task| *task != by);
    }

    /// Whose changes a journal is committing.
    pub fn committing(&self, dev: DevId) -> &[TaskName] {
        self.journals.get(&dev).map_or(&[], |c| c.committing.as_slice())
    }

    /// Who wrote to a file.
    pub fn of(&self, dev: DevId, inode: u64) -> &[TaskName] {
        self.files.get(&(dev, inode)).map_or(&[], |w| w.as_slice())
    }

    /// Who wrote to a file of which the disk is known, and the device that its bio went to.
    pub(crate) fn on_disk(&self, disk: DevId, inode: u64, bio: DevId) -> &[TaskName] {
        let dev = self.place(disk).or(Some(bio).filter(|bio| *bio != disk));
        dev.map_or(&[], |dev| self.of(dev, inode))
    }
}

impl WritingBack {
    /// Of which control group.
    pub fn group(&self) -> Option<u64> {
        Some(self.cgroup).filter(|group| *group > ROOT_GROUP)
    }
}

fn add(tasks: &mut Tasks, task: TaskName) {
    if !tasks.contains(&task) && tasks.len() < MAX_WRITERS {
        tasks.push(task);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: DevId = DevId(8 << 20);
    const PART: DevId = DevId(8 << 20 | 1);
    const OTHER: DevId = DevId(8 << 20 | 2);

    #[test]
    fn the_same_number_on_another_file_system_is_another_file() {
        let mut w = Writers::default();
        w.wrote(DISK, 12, TaskName(3));
        w.wrote(DevId(9 << 20), 12, TaskName(4));
        assert_eq!(w.on_disk(DISK, 12, DISK), [TaskName(3)]);
        assert_eq!(w.on_disk(DISK, 13, DISK), []);
    }

    #[test]
    fn a_disk_with_two_file_systems_says_nothing_of_either() {
        let known = |mounted: &[DevId]| Known {
            partitions: vec![(PART, DISK), (OTHER, DISK)],
            mounted: mounted.to_vec(),
            ..Known::default()
        };
        let mut one = Writers::default();
        one.knows(&known(&[PART]));
        one.wrote_on_disk(DISK, 12, TaskName(3));
        assert_eq!((one.of(PART, 12), one.on_disk(DISK, 12, DISK)), (&[TaskName(3)][..], &[TaskName(3)][..]));
        let mut two = Writers::default();
        two.knows(&known(&[PART, OTHER]));
        two.wrote_on_disk(DISK, 12, TaskName(3));
        assert_eq!(two.on_disk(DISK, 12, DISK), []);
        // The file system's own events name the partition, and so does the bio.
        two.wrote(OTHER, 12, TaskName(4));
        assert_eq!(
            (two.on_disk(DISK, 12, OTHER), two.on_disk(DISK, 12, PART)),
            (&[TaskName(4)][..], &[][..])
        );
    }
}
