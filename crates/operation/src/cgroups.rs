//! The control group of each process: from `/proc` when recording began, then from events.

use crate::known::KnownCgroups;
use crate::texts::Texts;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use trace::{TextId, Tid};

/// Largest number of processes remembered.
const MAX: usize = 1 << 16;

/// Paths of control groups by process, in one hierarchy only: that of the block I/O controller, or else version 2.
#[derive(Debug, Default)]
pub struct Cgroups {
    hierarchy: u32,
    of: FxHashMap<Tid, Arc<str>>,
}

impl Cgroups {
    pub(crate) fn knows(&mut self, known: KnownCgroups) {
        self.hierarchy = known.hierarchy;
        self.of.extend(known.of.into_iter().map(|(process, path)| (process, Arc::from(path))));
    }

    /// The control group of a process, as a path below the hierarchy's root; `None` if not known.
    pub fn of(&self, process: Tid) -> Option<&str> {
        self.of.get(&process).map(|path| &**path)
    }

    /// A process created another one, which begins in the same group.
    pub(crate) fn born(&mut self, parent: Tid, child: Tid) {
        match self.of.get(&parent).cloned() {
            Some(path) => self.put(child, path),
            // The number was another process's before.
            None => drop(self.of.remove(&child)),
        }
    }

    /// A process moves to a group.
    pub(crate) fn joins(&mut self, process: Tid, hierarchy: u32, path: TextId, texts: &Texts) {
        if hierarchy == self.hierarchy {
            self.put(process, texts.text(path).into());
        }
    }

    fn put(&mut self, process: Tid, path: Arc<str>) {
        if self.of.len() < MAX || self.of.contains_key(&process) {
            self.of.insert(process, path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_begins_where_its_parent_is_and_may_move() {
        let mut texts = Texts::default();
        texts.define(TextId(0), b"/limited");
        let mut groups = Cgroups::default();
        groups.knows(KnownCgroups { hierarchy: 7, of: vec![(Tid(1), "/user.slice".into())] });
        groups.born(Tid(1), Tid(2));
        assert_eq!(groups.of(Tid(2)), Some("/user.slice"));
        groups.joins(Tid(2), 0, TextId(0), &texts);
        assert_eq!(groups.of(Tid(2)), Some("/user.slice"), "of another hierarchy");
        groups.joins(Tid(2), 7, TextId(0), &texts);
        groups.born(Tid(2), Tid(3));
        assert_eq!((groups.of(Tid(2)), groups.of(Tid(3))), (Some("/limited"), Some("/limited")));
        groups.born(Tid(9), Tid(3));
        assert_eq!(groups.of(Tid(3)), None, "a number that is used again, by whom nothing is known of");
    }
}
