//! Collects names of tasks from all sources.
//!
//! The kernel's `saved_cmdlines` has 128 names for all of tracing, so it is read every second; /proc has
//! all tasks alive at the start and at the end. Tasks that live only in between are named by events.

use crate::text;
use crate::tracefs::Tracefs;
use std::collections::BTreeMap;
use std::path::Path;
use trace::Tid;

/// Limit on named tasks, against fork bombs.
const MOST: usize = 1 << 20;

/// Names by thread id.
#[derive(Clone, Debug, Default)]
pub struct Tasks(BTreeMap<Tid, String>);

impl Tasks {
    /// Adds the names that the kernel remembers for recorded tasks.
    pub fn add_saved(&mut self, tracefs: &Tracefs) {
        for line in tracefs.text("saved_cmdlines").unwrap_or_default().lines() {
            let Some((tid, name)) = line.split_once(' ') else { continue };
            // The kernel's placeholder for a forgotten name (kernel/trace/trace_sched_switch.c).
            if let (Ok(tid), false) = (tid.parse(), name == "<...>") {
                self.add(Tid(tid), name);
            }
        }
    }

    /// Adds every living thread. `root` is /proc.
    pub fn add_living(&mut self, root: &Path) {
        for pid in text::numbers(root) {
            let threads = root.join(pid.to_string()).join("task");
            for tid in text::numbers(&threads) {
                if let Some(name) = text::small(&threads.join(tid.to_string()).join("comm")) {
                    self.add(Tid(tid), &name);
                }
            }
        }
    }

    fn add(&mut self, tid: Tid, name: &str) {
        if self.0.len() < MOST || self.0.contains_key(&tid) {
            // A newline in a name would look like the next entry.
            self.0.insert(tid, name.replace('\n', " "));
        }
    }

    /// The text for trace.dat: `TID NAME` per line.
    pub fn text(&self) -> String {
        self.0.iter().map(|(tid, name)| format!("{} {name}\n", tid.0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn both_sources() {
        let dir = tempfile::tempdir().unwrap();
        let task = dir.path().join("proc/12/task/13");
        fs::create_dir_all(&task).unwrap();
        fs::create_dir_all(dir.path().join("proc/sys")).unwrap();
        fs::write(task.join("comm"), "a b\nc\n").unwrap();
        fs::write(dir.path().join("saved_cmdlines"), "1 init\n2 <...>\nx y\n13 old\n").unwrap();
        let mut tasks = Tasks::default();
        tasks.add_saved(&Tracefs::at(dir.path()));
        tasks.add_living(&dir.path().join("proc"));
        assert_eq!(tasks.text(), "1 init\n13 a b c\n");
    }
}
