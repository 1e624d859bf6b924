//! File descriptors by process: what was open when recording began, and what was done to the descriptors since.
//!
//! A descriptor number that is reused stands for another file. So a descriptor that was closed or replaced, or may
//! have been, stands for no known file until an event names one, and never for the file it had before.

use rustc_hash::FxHashMap;
use trace::{DevId, Fs, Nanos, Tid};

/// Largest number of descriptors remembered.
const MAX: usize = 1 << 16;

/// The file that a descriptor stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OnFile {
    pub fs: Fs,
    pub dev: DevId,
    /// Inode number; 0 if not known.
    pub inode: u64,
    /// Whether this very file had a path when recording began, and not another one with its inode number.
    pub told: bool,
}

/// What happens to a descriptor when its process executes another program (`FD_CLOEXEC`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OnExec {
    /// Not known, so the descriptor's file is not known after exec.
    #[default]
    Unknown,
    Closed,
    Kept,
}

impl OnExec {
    pub fn closed(closed: bool) -> OnExec {
        if closed {
            OnExec::Closed
        } else {
            OnExec::Kept
        }
    }
}

/// What is known of a descriptor.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// `None`: the file is not known, or the descriptor is closed.
    file: Option<OnFile>,
    on_exec: OnExec,
    /// Time since when it may stand for another file than before.
    since: Nanos,
}

type Table = FxHashMap<i32, Slot>;

/// Tables of descriptors, by process.
#[derive(Debug, Default)]
pub(crate) struct Files {
    tables: FxHashMap<Tid, Table>,
    /// Processes that share the table of another process (`CLONE_FILES`).
    sharing: FxHashMap<Tid, Tid>,
    count: usize,
    /// When everything was forgotten: calls that began earlier teach nothing about a descriptor.
    forgotten: Nanos,
}

impl Files {
    fn owner(&self, process: Tid) -> Tid {
        self.sharing.get(&process).copied().unwrap_or(process)
    }

    pub fn get(&self, process: Tid, fd: i32) -> Option<OnFile> {
        self.tables.get(&self.owner(process))?.get(&fd)?.file
    }

    fn set(&mut self, process: Tid, fd: i32, slot: Slot) {
        if self.count >= MAX {
            self.forget_all(slot.since);
        }
        let before = self.tables.entry(self.owner(process)).or_default().insert(fd, slot);
        self.count += usize::from(before.is_none());
    }

    /// From `since` on the descriptor stands for `file`, or for one that is not known.
    pub fn opened(&mut self, process: Tid, fd: i32, file: Option<OnFile>, on_exec: OnExec, since: Nanos) {
        self.set(process, fd, Slot { file, on_exec, since });
    }

    /// A call that began at `from` names the file. It is ignored if the descriptor may have changed since.
    pub fn learned(&mut self, process: Tid, fd: i32, file: OnFile, from: Nanos) {
        let slot = self.tables.get_mut(&self.owner(process)).and_then(|t| t.get_mut(&fd));
        match slot {
            Some(slot) if slot.since <= from => {
                let told = slot.file.is_some_and(|f| f.told && (f.dev, f.inode) == (file.dev, file.inode));
                slot.file = Some(OnFile { told, ..file });
            }
            None if self.forgotten <= from => {
                self.opened(process, fd, Some(OnFile { told: false, ..file }), OnExec::Unknown, from);
            }
            _ => {}
        }
    }

    /// A descriptor stands for the same file as another one.
    pub fn duplicated(&mut self, process: Tid, from: i32, to: i32, on_exec: OnExec, now: Nanos) {
        let file = self.get(process, from);
        self.opened(process, to, file, on_exec, now);
    }

    /// A descriptor is closed, or about to be replaced.
    pub fn closed(&mut self, process: Tid, fd: i32, since: Nanos) {
        self.opened(process, fd, None, OnExec::Unknown, since);
    }

    /// All descriptors from `first` to `last` are closed.
    pub fn closed_range(&mut self, process: Tid, first: u32, last: u32, since: Nanos) {
        self.each(process, first, last, |slot| {
            (slot.file, slot.on_exec, slot.since) = (None, OnExec::Unknown, since);
        });
    }

    /// Sets what exec does with all descriptors from `first` to `last`.
    pub fn set_on_exec(&mut self, process: Tid, first: u32, last: u32, on_exec: OnExec) {
        self.each(process, first, last, |slot| slot.on_exec = on_exec);
    }

    fn each(&mut self, process: Tid, first: u32, last: u32, mut change: impl FnMut(&mut Slot)) {
        let owner = self.owner(process);
        let Some(table) = self.tables.get_mut(&owner) else { return };
        let within = |fd: i32| (first..=last).contains(&(fd as u32));
        table.iter_mut().filter(|(fd, _)| within(**fd)).for_each(|(_, slot)| change(slot));
    }

    /// A process created another one, which shares its descriptors or gets copies.
    pub fn forked(&mut self, parent: Tid, child: Tid, shares: bool, now: Nanos) {
        self.forget(child);
        let owner = self.owner(parent);
        if shares {
            self.sharing.insert(child, owner);
            return;
        }
        self.copy(owner, child, now);
    }

    fn copy(&mut self, from: Tid, to: Tid, now: Nanos) {
        let Some(table) = self.tables.get(&from).cloned() else { return };
        if self.count + table.len() > MAX {
            return self.forget_all(now);
        }
        self.count += table.len();
        self.count -= self.tables.insert(to, table).map_or(0, |old| old.len());
    }

    /// A process executes another program: it gets a table of its own, without what exec closes.
    pub fn exec(&mut self, process: Tid, now: Nanos) {
        if let Some(owner) = self.sharing.remove(&process) {
            self.copy(owner, process, now);
        }
        let Some(table) = self.tables.get_mut(&process) else { return };
        for slot in table.values_mut().filter(|slot| slot.on_exec != OnExec::Kept) {
            (slot.file, slot.since) = (None, now);
        }
    }

    /// A process has exited, or a new one has its number.
    pub fn forget(&mut self, process: Tid) {
        self.sharing.remove(&process);
        self.count -= self.tables.remove(&process).map_or(0, |table| table.len());
    }

    /// Events are missing: any descriptor may stand for any file.
    pub fn forget_all(&mut self, now: Nanos) {
        self.tables.clear();
        self.sharing.clear();
        (self.count, self.forgotten) = (0, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: OnFile = OnFile { fs: Fs::Xfs, dev: DevId(8 << 20 | 1), inode: 12, told: false };

    #[test]
    fn kept_by_process_and_never_too_many() {
        let mut files = Files::default();
        let open = |files: &mut Files, tid, fd| {
            files.opened(Tid(tid), fd, Some(FILE), OnExec::Kept, Nanos(1));
        };
        open(&mut files, 1, 3);
        open(&mut files, 1, 3);
        open(&mut files, 2, 3);
        assert_eq!((files.get(Tid(1), 3), files.get(Tid(1), 4), files.count), (Some(FILE), None, 2));
        files.closed(Tid(2), 3, Nanos(2));
        files.forget(Tid(1));
        assert_eq!((files.get(Tid(1), 3), files.get(Tid(2), 3), files.count), (None, None, 1));
        (0..2 * MAX as i32).for_each(|fd| open(&mut files, fd as u32 % 7, fd));
        assert!(files.count <= MAX);
    }

    #[test]
    fn what_a_call_says_that_began_before_a_close_is_not_learned() {
        let mut files = Files::default();
        files.closed(Tid(1), 3, Nanos(50));
        files.learned(Tid(1), 3, FILE, Nanos(40));
        assert_eq!(files.get(Tid(1), 3), None);
        files.learned(Tid(1), 3, FILE, Nanos(60));
        assert_eq!(files.get(Tid(1), 3), Some(FILE));
        files.forget_all(Nanos(70));
        files.learned(Tid(1), 3, FILE, Nanos(65));
        assert_eq!(files.get(Tid(1), 3), None);
    }
}
