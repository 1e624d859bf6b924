//! Tasks with names of their own, unlike others of their name and job: processes with threads, or single threads.

use rustc_hash::{FxHashMap, FxHashSet};
use trace::Tid;

/// Largest number of threads with names of their own.
const MOST: usize = 1 << 16;

/// Threads whose names contain a number.
#[derive(Debug, Default)]
pub(crate) struct Apart {
    /// Threads of processes with names of their own, with the process.
    of_processes: FxHashMap<Tid, Tid>,
    /// Threads with names of their own, separate from the rest of their process.
    alone: FxHashSet<Tid>,
    /// Whether tasks created by threads in `alone` are added to it.
    all: bool,
}

impl Apart {
    /// Adds processes. Items are (thread, process).
    pub fn processes(&mut self, threads: impl Iterator<Item = (Tid, Tid)>) {
        self.of_processes.extend(threads.take(MOST));
    }

    /// Adds threads. With `all`, tasks that they create are added, too.
    pub fn threads(&mut self, threads: impl Iterator<Item = Tid>, all: bool) {
        self.alone.extend(threads.take(MOST));
        self.all = all;
    }

    /// `parent` created `tid`.
    pub fn born(&mut self, parent: Tid, tid: Tid, is_thread: bool) {
        let has_room = self.of_processes.len() < MOST;
        if let Some(process) = self.of_processes.get(&parent).copied().filter(|_| is_thread && has_room) {
            self.of_processes.insert(tid, process);
        }
        if self.all && self.alone.contains(&parent) && self.alone.len() < MOST {
            self.alone.insert(tid);
        }
    }

    /// The number in a thread's name: the thread, or its process; `None` if it has no name of its own.
    pub fn number(&self, tid: Tid) -> Option<Tid> {
        let process = || self.of_processes.get(&tid).copied();
        self.alone.get(&tid).copied().or_else(process)
    }
}
