//! Names of tasks in a text that repeats them on each line: reports a name only when it is new.

use rustc_hash::FxHashMap;
use units::Tid;

/// Limit on remembered tasks. At the limit, all are forgotten and reported again.
const MAX_TASKS: usize = 1 << 16;

/// A task's name, truncated to what the kernel stores (`TASK_COMM_LEN`, 16 bytes with the final zero).
#[derive(Clone, Copy, PartialEq, Eq)]
struct Name {
    bytes: [u8; Name::MAX],
    len: u8,
}

impl Name {
    const MAX: usize = 16;

    fn new(text: &[u8]) -> Name {
        let len = text.len().min(Name::MAX);
        let mut bytes = [0; Name::MAX];
        bytes[..len].copy_from_slice(&text[..len]);
        Name { bytes, len: len as u8 }
    }
}

/// The latest name of each task.
#[derive(Default)]
pub(crate) struct TaskNames {
    known: FxHashMap<Tid, Name>,
}

impl TaskNames {
    /// Records a task's name. Returns it, truncated as in the kernel, if it is new for this task.
    pub fn learn<'a>(&mut self, tid: Tid, text: &'a [u8]) -> Option<&'a [u8]> {
        let name = Name::new(text);
        if self.known.get(&tid) == Some(&name) {
            return None;
        }
        if self.known.len() >= MAX_TASKS {
            self.known.clear();
        }
        self.known.insert(tid, name);
        Some(&text[..name.len as usize])
    }
}
