//! Which process started which, and which have exited, as seen during the recording.

use rustc_hash::{FxHashMap, FxHashSet};
use trace::Tid;

/// Largest number of parents remembered, and of ended processes.
const MAX: usize = 1 << 16;

/// Parents of processes, and processes that have exited.
#[derive(Debug, Default)]
pub struct ProcessTree {
    parents: FxHashMap<Tid, Tid>,
    ended: FxHashSet<Tid>,
}

impl ProcessTree {
    /// The process that started this one; `None` if that was not seen.
    pub fn parent(&self, process: Tid) -> Option<Tid> {
        self.parents.get(&process).copied()
    }

    /// Whether a process was seen to exit.
    pub fn has_ended(&self, process: Tid) -> bool {
        self.ended.contains(&process)
    }

    pub(crate) fn born(&mut self, parent: Tid, child: Tid) {
        self.ended.remove(&child);
        if self.parents.len() < MAX || self.parents.contains_key(&child) {
            self.parents.insert(child, parent);
        }
    }

    pub(crate) fn ends(&mut self, process: Tid) {
        if self.ended.len() < MAX {
            self.ended.insert(process);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_used_again() {
        let mut processes = ProcessTree::default();
        processes.born(Tid(1), Tid(7));
        processes.ends(Tid(7));
        assert!(processes.has_ended(Tid(7)));
        processes.born(Tid(2), Tid(7));
        assert_eq!(
            (processes.parent(Tid(7)), processes.has_ended(Tid(7)), processes.parent(Tid(1))),
            (Some(Tid(2)), false, None)
        );
    }
}
