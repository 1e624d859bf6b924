//! What tasks are called in a text, where each line says it again: told when it is news.

use rustc_hash::FxHashMap;
use units::Tid;

/// Tasks whose names are remembered. When there are more, all are forgotten and named anew.
const MAX_TASKS: usize = 1 << 16;

/// A task's name, cut to what the kernel keeps (`TASK_COMM_LEN`, 16 bytes with the final zero).
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

/// The names seen last.
#[derive(Default)]
pub(crate) struct TaskNames {
    known: FxHashMap<Tid, Name>,
}

impl TaskNames {
    /// Notes a name; the name as the kernel keeps it if it is news.
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
