//! Finds the owner of data that another task sends: flushers write back what others dirtied, a journal's thread writes
//! what others changed.
//!
//! A file is identified by device and inode number: the same number on another file system is another file. If the
//! file system is not known, no task is named.

use life::{Owner, TaskName};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use trace::{DevId, Nanos, Tid};

/// Largest number of files and journals whose writers are remembered, and of writers for each.
const MAX_FILES: usize = 1 << 16;
const MAX_WRITERS: usize = 8;

/// Tasks by name, each once.
pub type Tasks = SmallVec<[TaskName; 2]>;

/// What kind of data a request carries that one task sent for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    /// Pages of a file, sent by a flusher or by the journal's thread (data=ordered).
    FileData,
    /// Blocks of a journal (jbd2, or XFS's log).
    Journal,
    /// Discards of blocks that deleted files had.
    Discard,
}

/// What a request carries that one task sent for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentFor {
    /// Kind of data, or discards.
    pub purpose: Purpose,
    /// Inode number of the file, for file data.
    pub inode: Option<u64>,
    /// Tasks that wrote the file, changed what the journal commits, or deleted files; empty if that was not seen.
    pub tasks: Tasks,
    /// Whether the file was written before the recording, and the task is the one that probably wrote it.
    pub probably: bool,
    /// Control group that the file's pages are charged to (inode number of its directory), if the kernel reported one
    /// other than the root.
    pub cgroup: Option<u64>,
}

impl SentFor {
    /// The owner: the first writer seen for a file; for a transaction the task that asked for its commit, or made it large; for discards
    /// the first that deleted a file.
    pub(crate) fn owner(&self) -> Option<Owner> {
        let journal = self.purpose == Purpose::Journal;
        self.tasks.first().map(|task| Owner { task: *task, journal })
    }
}

/// A file that a flusher is writing back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WritingBack {
    /// The disk that the file is on, not the partition.
    pub disk: DevId,
    pub inode: u64,
    pub cgroup: u64,
    pub from: Nanos,
}

/// Inode number of the root group's directory (`cgroup_ino` of `wb->memcg_css->cgroup`, fs/fs-writeback.c). It stands
/// for everything in no group of its own, and for all if writeback does not support groups (version 1).
const ROOT_GROUP: u64 = 1;

/// Blocks that a commit writes besides the changes: the block that describes them, and its record (fs/jbd2/commit.c).
const OWN_BLOCKS: i64 = 2;

/// Amounts of up to this factor count as alike (as in `device::service`, where sizes two doublings apart may substitute for one another):
/// without the other tasks' changes such a commit would not be shorter.
pub(crate) const ALIKE: u32 = 4;

/// A task's share in a transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    task: TaskName,
    /// The thread of the task that took part last.
    pub tid: Tid,
    /// Number of times that the task took part.
    times: u32,
    /// Number of blocks that the task was the first to change, less those that it took out again; 0 if the kernel does not report it.
    blocks: i64,
}

/// Tasks that have changes in the transactions of one journal.
#[derive(Debug, Default)]
struct Changers {
    /// Tasks in the running transaction, which takes changes.
    running: SmallVec<[Change; 2]>,
    /// In the transaction being committed, the owner first.
    committing: Tasks,
    /// Tasks that deleted files in the running transaction.
    deleting: Tasks,
    /// In the last commit of which some task deleted files: these tasks.
    deleted: Tasks,
}

impl Changers {
    /// Notes that a task takes part. If the list is full, a task with fewer blocks makes room.
    fn change(&mut self, task: TaskName, tid: Tid, blocks: i32) {
        let blocks = i64::from(blocks);
        if let Some(known) = self.running.iter_mut().find(|c| c.task == task) {
            known.tid = tid;
            known.times = known.times.saturating_add(1);
            known.blocks = known.blocks.saturating_add(blocks);
            return;
        }
        if self.running.len() >= MAX_WRITERS {
            let least = self.running.iter().enumerate().min_by_key(|(_, c)| (c.blocks, c.times));
            let least = least.filter(|(_, c)| c.blocks < blocks).map(|(at, _)| at);
            let Some(at) = least else { return };
            self.running.remove(at);
        }
        self.running.push(Change { task, tid, times: 1, blocks });
    }

    /// Starts a commit of the running transaction. If it is known who asked for it, that task comes first, because
    /// there would be no commit without it, unless other tasks' changes make the commit many times larger. The others
    /// are sorted by what they changed. The committing task `by` is left out: it changed nothing.
    fn commits(&mut self, by: TaskName, asked: Option<TaskName>) {
        let mut changes = std::mem::take(&mut self.running);
        changes.retain(|c| c.task != by);
        changes.sort_by_key(|c| std::cmp::Reverse((c.blocks, c.times)));
        if let Some(at) = changes.iter().position(|c| Some(c.task) == asked) {
            let blocks = |c: &Change| c.blocks.max(0);
            let own = blocks(&changes[at]);
            let others = changes.iter().map(blocks).fold(0, i64::saturating_add).saturating_sub(own);
            if others <= own.saturating_add(OWN_BLOCKS).saturating_mul(i64::from(ALIKE)) {
                changes[..=at].rotate_right(1);
            }
        }
        self.committing = changes.into_iter().map(|c| c.task).collect();
        if !self.deleting.is_empty() {
            self.deleted = std::mem::take(&mut self.deleting);
        }
    }
}

/// Tasks that wrote to files, and tasks that changed what journals commit.
#[derive(Debug, Default)]
pub struct Writers {
    files: FxHashMap<(DevId, u64), Tasks>,
    journals: FxHashMap<DevId, Changers>,
}

impl Writers {
    /// Notes that a task wrote to a file. Returns whether that is a new one for it.
    pub(crate) fn wrote(&mut self, dev: DevId, inode: u64, task: TaskName) -> bool {
        // Files of btrfs have inode numbers per subvolume, and no device.
        if inode == 0 || dev == DevId(0) {
            return false;
        }
        if self.files.len() >= MAX_FILES {
            self.files.clear();
        }
        add(self.files.entry((dev, inode)).or_default(), task)
    }

    /// Notes that a file is gone: the next file with its inode number is another one.
    pub(crate) fn freed(&mut self, dev: DevId, inode: u64) {
        self.files.remove(&(dev, inode));
    }

    /// Notes that a thread of a task takes part in a journal's transaction, with `blocks` blocks that were not in it before.
    pub(crate) fn changed(&mut self, dev: DevId, task: TaskName, tid: Tid, blocks: i32) {
        if self.journals.len() >= MAX_FILES {
            self.journals.clear();
        }
        self.journals.entry(dev).or_default().change(task, tid, blocks);
    }

    /// Among the tasks of a journal's running transaction for which `is` holds, the one with the most blocks.
    pub(crate) fn most_of(&self, dev: DevId, is: impl Fn(TaskName, Tid) -> bool) -> Option<TaskName> {
        let running = self.journals.get(&dev)?.running.iter();
        running.filter(|c| is(c.task, c.tid)).max_by_key(|c| (c.blocks, c.times)).map(|c| c.task)
    }

    /// Notes that a journal begins to commit what was changed so far; `asked` is the task that asked for it, if known.
    pub(crate) fn commits(&mut self, dev: DevId, by: TaskName, asked: Option<TaskName>) {
        self.journals.entry(dev).or_default().commits(by, asked);
    }

    /// Tasks whose changes a journal is committing, the owner first.
    pub fn committing(&self, dev: DevId) -> &[TaskName] {
        self.journals.get(&dev).map_or(&[], |c| c.committing.as_slice())
    }

    /// Notes that a task deleted a file in a journal's running transaction.
    pub(crate) fn deletes(&mut self, dev: DevId, task: TaskName) {
        if let Some(changers) = self.journals.get_mut(&dev) {
            let _ = add(&mut changers.deleting, task);
        }
    }

    /// Tasks whose deleted files had the blocks that a file system discards after its last commits.
    pub(crate) fn deleted(&self, dev: DevId) -> &[TaskName] {
        self.journals.get(&dev).map_or(&[], |c| c.deleted.as_slice())
    }

    /// Tasks that wrote to a file; empty if that was not seen.
    pub fn of(&self, dev: DevId, inode: u64) -> &[TaskName] {
        self.files.get(&(dev, inode)).map_or(&[], |w| w.as_slice())
    }
}

impl WritingBack {
    /// The control group that its pages are charged to, unless that is the root.
    pub fn group(&self) -> Option<u64> {
        Some(self.cgroup).filter(|group| *group > ROOT_GROUP)
    }
}

/// Adds a task; false if it is there already, or if there is no room.
fn add(tasks: &mut Tasks, task: TaskName) -> bool {
    let is_new = !tasks.contains(&task) && tasks.len() < MAX_WRITERS;
    if is_new {
        tasks.push(task);
    }
    is_new
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

    const DEV: DevId = DevId(8 << 20);

    /// The owners of a commit that `asked` asked for. `parts`: task, number of handles, and blocks of each handle.
    fn committed(parts: &[(u32, u32, i32)], asked: Option<u32>) -> Vec<u32> {
        let mut w = Writers::default();
        for (task, times, blocks) in parts {
            (0..*times).for_each(|_| w.changed(DEV, TaskName(*task), Tid(*task), *blocks));
        }
        w.commits(DEV, TaskName(99), asked.map(TaskName));
        w.committing(DEV).iter().map(|task| task.0).collect()
    }

    #[test]
    fn a_transaction_is_whose_changes_are_most() {
        assert_eq!(
            committed(&[(1, 1, 0), (2, 3, 0), (99, 1, 0)], None),
            [2, 1],
            "who commits changes nothing"
        );
        assert_eq!(committed(&[(1, 1, 0), (2, 3, 0)], Some(1)), [1, 2], "who asked for it comes first");
        assert_eq!(committed(&[(1, 9, 1), (2, 1, 10)], None), [2, 1]);
    }

    /// A task that asks for a commit waits for what it needs itself, or for what others have put into it.
    #[test]
    fn a_commit_that_is_long_for_anothers_changes_is_that_ones() {
        let first = |parts: &[(u32, u32, i32)]| committed(parts, Some(1))[0];
        assert_eq!(first(&[(1, 1, 4), (2, 60, 1)]), 2);
        assert_eq!(
            (first(&[(1, 1, 4), (2, 24, 1)]), first(&[(1, 1, 4), (2, 25, 1)])),
            (1, 2),
            "as good as the same size"
        );
        assert_eq!(first(&[(1, 1, 40), (2, 60, 1)]), 1);
        assert_eq!(
            first(&[(1, 1, 4), (2, 1, 10), (3, 1, 16)]),
            3,
            "all others together, and of these the one with most"
        );
    }

    /// A block that an earlier handle changed is taken out again and counts as -1.
    #[test]
    fn blocks_are_taken_out_again() {
        assert_eq!(committed(&[(1, 1, 4), (2, 30, -1), (2, 40, 1)], Some(1)), [1, 2]);
        assert_eq!(committed(&[(1, 3, -1), (2, 1, 9)], Some(1)), [2, 1]);
    }

    #[test]
    fn where_there_is_no_room_who_changed_least_makes_some() {
        let few: Vec<_> = (1..=MAX_WRITERS as u32).map(|task| (task, 1, 3)).collect();
        assert_eq!(committed(&[&few[..], &[(40, 1, 5000)]].concat(), None)[0], 40);
        assert!(!committed(&[&few[..], &[(40, 1, 1)]].concat(), None).contains(&40));
    }

    #[test]
    fn most_of_those_that_are_so() {
        let mut w = Writers::default();
        for (task, blocks) in [(1, 5), (2, 9), (3, 1)] {
            w.changed(DEV, TaskName(task), Tid(task + 100), blocks);
        }
        let most = |is: fn(u32) -> bool| w.most_of(DEV, |_, tid| is(tid.0)).map(|task| task.0);
        assert_eq!((most(|_| true), most(|tid| tid != 102), most(|_| false)), (Some(2), Some(1), None));
    }
}
