//! What tasks are called, over time: a thread can be renamed and a thread id can be used again.

use rustc_hash::FxHashMap;
use trace::Tid;

/// A name, as a number that is cheap to keep. [`Names::text`] gives the name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskName(pub u32);

/// All names seen, and who bears which now.
#[derive(Debug)]
pub struct Names {
    texts: Vec<String>,
    numbers: FxHashMap<String, TaskName>,
    now: FxHashMap<Tid, TaskName>,
}

impl Default for Names {
    fn default() -> Names {
        let mut n = Names { texts: vec![], numbers: FxHashMap::default(), now: FxHashMap::default() };
        n.number("?");
        n.number("swapper");
        n
    }
}

impl Names {
    /// Task names are 15 bytes long in the kernel (`TASK_COMM_LEN`); longer ones are not from there.
    const MAX_BYTES: usize = 64;
    /// More different names than this are garbage, or nobody would read them.
    const MAX_NAMES: usize = 1 << 16;

    /// From now on `tid` is called this.
    pub fn rename(&mut self, tid: Tid, name: &[u8]) {
        let name = String::from_utf8_lossy(&name[..name.len().min(Self::MAX_BYTES)]);
        let number = self.number(&name);
        if self.now.len() < Self::MAX_NAMES || self.now.contains_key(&tid) {
            self.now.insert(tid, number);
        }
    }

    /// What `tid` is called now; thread 0 is the idle task of whichever CPU.
    pub fn of(&self, tid: Tid) -> TaskName {
        match self.now.get(&tid) {
            Some(name) => *name,
            None if tid == Tid(0) => TaskName(1),
            None => TaskName(0),
        }
    }

    /// The name itself; `?` if it was never told.
    pub fn text(&self, name: TaskName) -> &str {
        self.texts.get(name.0 as usize).map_or("?", String::as_str)
    }

    fn number(&mut self, name: &str) -> TaskName {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        if self.texts.len() >= Self::MAX_NAMES {
            return TaskName(0);
        }
        let number = TaskName(self.texts.len() as u32);
        self.texts.push(name.to_string());
        self.numbers.insert(name.to_string(), number);
        number
    }
}
