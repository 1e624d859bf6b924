//! Who is told apart from others of its name and job: processes with their threads, and threads by themselves.

use rustc_hash::{FxHashMap, FxHashSet};
use trace::Tid;

/// At most so many threads are told apart.
const MOST: usize = 1 << 16;

/// Threads that have a number in their name.
#[derive(Debug, Default)]
pub(crate) struct Apart {
    /// Threads of processes that are told apart, and these processes.
    of_processes: FxHashMap<Tid, Tid>,
    /// Threads that are told apart from the others of their process.
    alone: FxHashSet<Tid>,
    /// Whether what these start is told apart, too.
    all: bool,
}

impl Apart {
    /// Each of these processes is told apart: threads, each with its process.
    pub fn processes(&mut self, threads: impl Iterator<Item = (Tid, Tid)>) {
        self.of_processes.extend(threads.take(MOST));
    }

    /// Each of these threads is told apart. `all`: so is each that one of them starts.
    pub fn threads(&mut self, threads: impl Iterator<Item = Tid>, all: bool) {
        self.alone.extend(threads.take(MOST));
        self.all = all;
    }

    /// `parent` made `tid`.
    pub fn born(&mut self, parent: Tid, tid: Tid, is_thread: bool) {
        let has_room = self.of_processes.len() < MOST;
        if let Some(process) = self.of_processes.get(&parent).copied().filter(|_| is_thread && has_room) {
            self.of_processes.insert(tid, process);
        }
        if self.all && self.alone.contains(&parent) && self.alone.len() < MOST {
            self.alone.insert(tid);
        }
    }

    /// The number in a thread's name.
    pub fn number(&self, tid: Tid) -> Option<Tid> {
        let process = || self.of_processes.get(&tid).copied();
        self.alone.get(&tid).copied().or_else(process)
    }
}
