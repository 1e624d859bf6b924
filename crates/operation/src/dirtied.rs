//! How much each task leaves in the page cache of each file system: what it writes and does not send to the disk itself.
//!
//! A flusher also sends what was written before the recording: by default up to 30 s before (`vm.dirty_expire_centisecs`). Who wrote that was not
//! seen. It was probably the task that leaves nearly everything there now, if that is as much as what is sent of before, in as many files, and
//! not only in one: data of a file to which it still writes is known to be its own. A task that has ended or become quiet cannot be known.
//!
//! Example: 15,000 files were written before the recording, and `tar` writes more of them. A flusher sends 228 MiB of the old files while `tar`
//! leaves 108 MiB: its data, too.

use crate::writers::ALIKE;
use life::TaskName;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use trace::{Bytes, DevId};

/// Largest number of file systems, and of tasks on each of them.
const MAX_FILE_SYSTEMS: usize = 1024;
const MAX_TASKS: usize = 64;

/// What tasks leave in the page cache, by file system.
#[derive(Debug, Default)]
pub(crate) struct Dirtied(FxHashMap<DevId, Cached>);

/// What tasks leave in the page cache of one file system.
#[derive(Debug, Default)]
struct Cached {
    tasks: SmallVec<[Writer; 2]>,
    /// Bytes that flushers sent of files to which nobody was seen to write, and how often one came after another.
    of_before: u64,
    files_of_before: u64,
    last_of_before: u64,
}

#[derive(Clone, Copy, Debug)]
struct Writer {
    task: TaskName,
    /// Number of files that it wrote to.
    files: u64,
    wrote: u64,
    sent: u64,
}

impl Writer {
    fn left(&self) -> u64 {
        self.wrote.saturating_sub(self.sent)
    }
}

impl Dirtied {
    /// Whether nobody was seen to write.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A task wrote to a file on the file system `dev`.
    pub fn wrote(&mut self, dev: DevId, task: TaskName, bytes: u64) {
        let writer = self.writer(dev, task);
        writer.into_iter().for_each(|w| w.wrote = w.wrote.saturating_add(bytes));
    }

    /// A task wrote to a file to which it had not written before.
    pub fn new_file(&mut self, dev: DevId, task: TaskName) {
        self.writer(dev, task).into_iter().for_each(|w| w.files = w.files.saturating_add(1));
    }

    /// A task on a file system. If there are many, the one that left least makes room.
    fn writer(&mut self, dev: DevId, task: TaskName) -> Option<&mut Writer> {
        if dev == DevId(0) || self.0.len() >= MAX_FILE_SYSTEMS && !self.0.contains_key(&dev) {
            return None;
        }
        let tasks = &mut self.0.entry(dev).or_default().tasks;
        let at = tasks.iter().position(|w| w.task == task).unwrap_or_else(|| {
            if tasks.len() >= MAX_TASKS {
                tasks.sort_by_key(|w| std::cmp::Reverse(w.left()));
                tasks.pop();
            }
            tasks.push(Writer { task, files: 0, wrote: 0, sent: 0 });
            tasks.len() - 1
        });
        tasks.get_mut(at)
    }

    /// A task sends data for itself: it writes past the cache, or syncs its file.
    pub fn sent(&mut self, dev: DevId, task: TaskName, bytes: Bytes) {
        let tasks = self.0.get_mut(&dev).map(|cached| &mut cached.tasks);
        let writer = tasks.and_then(|tasks| tasks.iter_mut().find(|w| w.task == task));
        writer.into_iter().for_each(|w| w.sent = w.sent.saturating_add(bytes.0));
    }

    /// A flusher sends data of a file to which nobody was seen to write. Returns who probably wrote it.
    pub fn of_before(&mut self, dev: DevId, inode: u64, bytes: Bytes) -> Option<TaskName> {
        let cached = self.0.get_mut(&dev)?;
        cached.of_before = cached.of_before.saturating_add(bytes.0);
        let is_next = std::mem::replace(&mut cached.last_of_before, inode) != inode;
        cached.files_of_before = cached.files_of_before.saturating_add(is_next.into());
        let most = cached.tasks.iter().max_by_key(|w| w.left())?;
        let all = cached.tasks.iter().fold(0_u64, |all, w| all.saturating_add(w.left()));
        let (left, others) = (most.left(), all - most.left());
        // One is at least as large as the other, or alike.
        let alike = |part: u64, whole: u64| part.saturating_mul(u64::from(ALIKE)) >= whole;
        let is_enough = left > 0 && alike(left, cached.of_before);
        let in_as_many = most.files > 1 && alike(most.files, cached.files_of_before);
        (is_enough && in_as_many && others.saturating_mul(u64::from(ALIKE)) <= left).then_some(most.task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEV: DevId = DevId(8 << 20);

    /// Each task wrote and sent so much, in so many files; then a flusher sends `of_before`.
    fn owner(tasks: &[(u32, u64, u64)], files: u64, of_before: u64) -> Option<u32> {
        let mut dirtied = Dirtied::default();
        for (task, wrote, sent) in tasks {
            let task = TaskName(*task);
            (0..files).for_each(|_| dirtied.new_file(DEV, task));
            dirtied.wrote(DEV, task, *wrote);
            dirtied.sent(DEV, task, Bytes(*sent));
        }
        dirtied.of_before(DEV, 12, Bytes(of_before)).map(|task| task.0)
    }

    #[test]
    fn what_was_written_before_is_probably_whose_data_fills_the_cache_now() {
        assert_eq!(owner(&[(1, 100, 0)], 2, 100), Some(1));
        assert_eq!(
            owner(&[(1, 100, 0)], 2, 401),
            None,
            "too little: somebody else has ended or become quiet"
        );
        assert_eq!(owner(&[(1, 100, 0), (2, 25, 0)], 2, 100), Some(1));
        assert_eq!(owner(&[(1, 100, 0), (2, 26, 0)], 2, 100), None, "it may be either's");
    }

    /// Who writes to one file over and over leaves little, and that is known to be its own.
    #[test]
    fn who_writes_to_few_files_did_not_write_many_others() {
        assert_eq!(owner(&[(1, 1000, 0)], 1, 100), None);
        let of = |files: u64| {
            let mut dirtied = Dirtied::default();
            (0..2).for_each(|_| dirtied.new_file(DEV, TaskName(1)));
            dirtied.wrote(DEV, TaskName(1), 1000);
            (0..files).map(|inode| dirtied.of_before(DEV, 50 + inode, Bytes(1))).last().unwrap()
        };
        assert_eq!([of(8), of(9)], [Some(TaskName(1)), None]);
    }

    #[test]
    fn what_a_task_sends_itself_is_not_left_to_flushers() {
        assert_eq!(owner(&[(1, 1000, 1000), (2, 50, 0)], 2, 100), Some(2));
        assert_eq!(owner(&[(1, 1000, 1200)], 2, 100), None);
        assert_eq!(owner(&[], 2, 100), None);
    }

    #[test]
    fn bytes_of_another_file_system_say_nothing() {
        let mut dirtied = Dirtied::default();
        dirtied.wrote(DevId(9 << 20), TaskName(1), 100);
        assert_eq!(dirtied.of_before(DEV, 12, Bytes(10)), None);
    }

    #[test]
    fn where_there_is_no_room_who_leaves_least_makes_some() {
        let many: Vec<_> = (1..=MAX_TASKS as u32).map(|task| (task, 1, 0)).collect();
        assert_eq!(owner(&[&many[..], &[(999, 100_000, 0)]].concat(), 2, 100), Some(999));
    }
}
