//! The process of each thread.

use rustc_hash::FxHashMap;
use trace::Tid;

/// Largest number of tasks remembered.
const MAX: usize = 1 << 16;

/// Processes (thread groups) by thread.
#[derive(Debug, Default)]
pub(crate) struct Processes(FxHashMap<Tid, Tid>);

impl Processes {
    pub fn knows(&mut self, known: Vec<(Tid, Tid)>) {
        self.0.extend(known);
    }

    /// The process of a task, if known.
    pub fn known(&self, tid: Tid) -> Option<Tid> {
        self.0.get(&tid).copied()
    }

    /// The process of a task; if not known, the task itself.
    pub fn of(&self, tid: Tid) -> Tid {
        self.known(tid).unwrap_or(tid)
    }

    /// A task created another one: a thread of its own process, or a new process.
    pub fn born(&mut self, parent: Tid, tid: Tid, is_thread: bool) {
        if self.0.len() >= MAX {
            self.0.clear();
        }
        let process = if is_thread { self.known(parent) } else { Some(tid) };
        if let Some(process) = process {
            self.0.insert(tid, process);
        }
    }

    pub fn gone(&mut self, tid: Tid) {
        self.0.remove(&tid);
    }
}
