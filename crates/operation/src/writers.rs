//! Whose data it is that another task sends: flushers write back what others dirtied, a journal's thread
//! writes what others changed.
//!
//! A file is a device and a number: the same number on another file system is another file. Where it is not
//! known which file system is meant, no task is named.

use life::{Owner, TaskName};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use trace::{DevId, Nanos};

/// Files and journals whose writers are remembered at most, and writers of each.
const MAX_FILES: usize = 1 << 16;
const MAX_WRITERS: usize = 8;

/// Tasks by name, each once.
pub type Tasks = SmallVec<[TaskName; 2]>;

/// What a request moves that another task sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    /// Pages of a file, sent by a flusher, or by the journal's thread (data=ordered).
    FileData,
    /// What a journal (jbd2's, XFS's log) keeps of changes.
    Journal,
}

/// What a request moves that another task sent than those whose data it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentFor {
    /// File data or journal.
    pub purpose: Purpose,
    /// The file, of file data.
    pub inode: Option<u64>,
    /// Who wrote the file, or changed what the journal commits; none where that was not seen.
    pub tasks: Tasks,
    /// The control group that the file's pages are counted for (its folder's inode), where the kernel told
    /// one that is not the root.
    pub cgroup: Option<u64>,
}

impl SentFor {
    /// Whose data it is: of a file's writers the first that was seen, of a transaction's who asked for its commit or changed most.
    pub(crate) fn owner(&self) -> Option<Owner> {
        let journal = self.purpose == Purpose::Journal;
        self.tasks.first().map(|task| Owner { task: *task, journal })
    }
}

/// A file that a flusher is writing back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WritingBack {
    /// The disk that it lies on, not the partition.
    pub disk: DevId,
    pub inode: u64,
    pub cgroup: u64,
    pub from: Nanos,
}

/// The number of the root group's folder (`cgroup_ino` of `wb->memcg_css->cgroup`, fs/fs-writeback.c): all
/// that is in no group of its own, and all where write-back knows no groups (version 1).
const ROOT_GROUP: u64 = 1;

/// The tasks that hold changes in the transactions of one journal.
#[derive(Debug, Default)]
struct Changers {
    /// In the transaction that takes changes, each with how often it took part.
    running: SmallVec<[(TaskName, u32); 2]>,
    /// In the one that is being committed, who asked for it first, then who changed most.
    committing: Tasks,
}

/// Who wrote to files and changed what journals commit.
#[derive(Debug, Default)]
pub struct Writers {
    files: FxHashMap<(DevId, u64), Tasks>,
    journals: FxHashMap<DevId, Changers>,
}

impl Writers {
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

    /// A file is gone: the next one with its number is another.
    pub(crate) fn freed(&mut self, dev: DevId, inode: u64) {
        self.files.remove(&(dev, inode));
    }

    /// A task takes part in a journal's transaction.
    pub(crate) fn changed(&mut self, dev: DevId, task: TaskName) {
        if self.journals.len() >= MAX_FILES {
            self.journals.clear();
        }
        let running = &mut self.journals.entry(dev).or_default().running;
        let has_room = running.len() < MAX_WRITERS;
        match running.iter_mut().find(|(known, _)| *known == task) {
            Some((_, times)) => *times = times.saturating_add(1),
            None if has_room => running.push((task, 1)),
            None => {}
        }
    }

    /// A journal begins to commit what was changed so far, because a task asked for it, if that is known: without that one there would
    /// be no commit. The committing task may have looked at the transaction before, and changed nothing.
    pub(crate) fn commits(&mut self, dev: DevId, by: TaskName, asked: Option<TaskName>) {
        let journal = self.journals.entry(dev).or_default();
        let mut changers = std::mem::take(&mut journal.running);
        changers.sort_by_key(|(task, times)| std::cmp::Reverse((Some(*task) == asked, *times)));
        journal.committing = changers.into_iter().map(|(task, _)| task).filter(|task| *task != by).collect();
    }

    /// Whose changes a journal is committing.
    pub fn committing(&self, dev: DevId) -> &[TaskName] {
        self.journals.get(&dev).map_or(&[], |c| c.committing.as_slice())
    }

    /// Who wrote to a file; none where that was not seen.
    pub fn of(&self, dev: DevId, inode: u64) -> &[TaskName] {
        self.files.get(&(dev, inode)).map_or(&[], |w| w.as_slice())
    }
}

impl WritingBack {
    /// The control group that its pages are counted for, unless that is the root.
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

    #[test]
    fn the_same_number_on_another_file_system_is_another_file() {
        let (one, other) = (DevId(8 << 20), DevId(9 << 20));
        let mut w = Writers::default();
        w.wrote(one, 12, TaskName(3));
        w.wrote(other, 12, TaskName(4));
        assert_eq!(w.of(one, 12), [TaskName(3)]);
        assert_eq!(w.of(one, 13), []);
        w.freed(one, 12);
        assert_eq!((w.of(one, 12), w.of(other, 12)), (&[][..], &[TaskName(4)][..]));
    }

    #[test]
    fn a_transaction_is_whose_changes_are_most() {
        let dev = DevId(8 << 20);
        let mut w = Writers::default();
        w.changed(dev, TaskName(1));
        (0..3).for_each(|_| w.changed(dev, TaskName(2)));
        w.changed(dev, TaskName(3));
        w.commits(dev, TaskName(3), None);
        assert_eq!(w.committing(dev), [TaskName(2), TaskName(1)]);
        (0..3).for_each(|_| w.changed(dev, TaskName(2)));
        w.changed(dev, TaskName(1));
        w.commits(dev, TaskName(3), Some(TaskName(1)));
        assert_eq!(w.committing(dev), [TaskName(1), TaskName(2)], "who asked for it comes first");
    }
}
