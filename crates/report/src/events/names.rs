//! What a task is called at this point of the trace.
//!
//! A note names a task from its time on. A thread id that is used again by another program, or a task that
//! renames itself and is noted anew, changes its name at that note; earlier lines keep the earlier name.

use rustc_hash::FxHashMap;
use trace::Tid;

/// How many tasks are remembered; hostile input could name 2^32. When full, all are forgotten.
const MAX_TASKS: usize = 1 << 18;

/// Printed for a task that no note has named (what C's `printf` makes of a null pointer; scripts know it).
pub const UNNAMED: &[u8] = b"(null)";

/// Names by task.
#[derive(Default)]
pub struct Names {
    /// Index into `texts` by task.
    which: FxHashMap<Tid, u32>,
    /// The last one asked for: events of one task come in runs.
    last: Option<(Tid, u32)>,
    texts: Vec<Name>,
}

#[derive(Clone, Copy)]
struct Name {
    len: u8,
    bytes: [u8; Names::LONGEST],
}

impl Names {
    /// blkparse keeps 15 bytes; the kernel's own limit is 15 and a zero (`TASK_COMM_LEN`).
    const LONGEST: usize = 15;

    /// `tid` is called `text` from now on.
    pub fn set(&mut self, tid: Tid, text: &[u8]) {
        if self.which.len() >= MAX_TASKS && !self.which.contains_key(&tid) {
            *self = Names::default();
        }
        let len = text.len().min(Self::LONGEST);
        let mut name = Name { len: len as u8, bytes: [0; Self::LONGEST] };
        name.bytes[..len].copy_from_slice(&text[..len]);
        match self.which.get(&tid) {
            Some(&at) => self.texts[at as usize] = name,
            None => {
                self.which.insert(tid, self.texts.len() as u32);
                self.texts.push(name);
            }
        }
        self.last = None;
    }

    /// The name of `tid`, if it has one.
    #[inline]
    pub fn get(&mut self, tid: Tid) -> Option<&[u8]> {
        let at = match self.last {
            Some((last, at)) if last == tid => at,
            _ => {
                let at = *self.which.get(&tid)?;
                self.last = Some((tid, at));
                at
            }
        };
        let name = &self.texts[at as usize];
        Some(&name.bytes[..name.len as usize])
    }
}
