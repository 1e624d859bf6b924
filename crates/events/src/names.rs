//! The names of tasks at the current point of the trace.
//!
//! A note names a task from its time on. If a thread id is reused by another program, or a task renames
//! itself and is noted again, its name changes at that note; earlier lines keep the earlier name.
//!
//! Number 0 is a separate idle task on each CPU: `swapper/0`, `swapper/1`, ... Each CPU has its own name for it, if
//! a note on that CPU gave one.

use rustc_hash::FxHashMap;
use trace::{Cpu, Tid};

/// Maximal number of tasks that are remembered; hostile input could name 2^32. When it is reached, all are forgotten.
const MAX_TASKS: usize = 1 << 18;

/// Printed for a task that no note has named (what C's `printf` makes of a null pointer; scripts know it).
pub const UNNAMED: &[u8] = b"(null)";

/// The names of tasks.
#[derive(Default)]
pub struct Names {
    /// Indexes into `texts` by task.
    which: FxHashMap<Task, u32>,
    /// The last task that was looked up, with its index: events of one task come in runs.
    last: Option<(Task, u32)>,
    texts: Vec<Name>,
}

/// A task; for an idle task with its CPU.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Task(Tid, Cpu);

/// The number of the idle task on every CPU.
const IDLE: Tid = Tid(0);

impl Task {
    fn new(tid: Tid, cpu: Cpu) -> Task {
        Task(tid, if tid == IDLE { cpu } else { NO_CPU })
    }
}

/// Replaces the CPU for tasks that are not idle tasks.
const NO_CPU: Cpu = Cpu(u32::MAX);

#[derive(Clone, Copy)]
struct Name {
    len: u8,
    bytes: [u8; Names::LONGEST],
}

impl Names {
    /// The length of a name: blkparse keeps 15 bytes; the kernel's own limit is 15 and a zero (`TASK_COMM_LEN`).
    const LONGEST: usize = 15;

    /// Names a task from now on, by a note on `cpu`.
    pub fn set(&mut self, tid: Tid, cpu: Cpu, text: &[u8]) {
        let len = text.len().min(Self::LONGEST);
        let mut name = Name { len: len as u8, bytes: [0; Self::LONGEST] };
        name.bytes[..len].copy_from_slice(&text[..len]);
        self.put(Task::new(tid, cpu), name);
        if tid == IDLE && !self.which.contains_key(&Task(IDLE, NO_CPU)) {
            self.put(Task(IDLE, NO_CPU), name);
        }
        self.last = None;
    }

    fn put(&mut self, task: Task, name: Name) {
        if let Some(&at) = self.which.get(&task) {
            self.texts[at as usize] = name;
            return;
        }
        if self.which.len() >= MAX_TASKS {
            *self = Names::default();
        }
        self.which.insert(task, self.texts.len() as u32);
        self.texts.push(name);
    }

    /// The name of a task on `cpu`; `None` if no note named it.
    #[inline]
    pub fn get(&mut self, tid: Tid, cpu: Cpu) -> Option<&[u8]> {
        let task = Task::new(tid, cpu);
        let at = match self.last {
            Some((last, at)) if last == task => at,
            _ => {
                let at = *self.which.get(&task).or_else(|| self.which.get(&Task(tid, NO_CPU)))?;
                self.last = Some((task, at));
                at
            }
        };
        let name = &self.texts[at as usize];
        Some(&name.bytes[..name.len as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_idle_task_of_each_cpu_has_its_own_name() {
        let mut names = Names::default();
        assert_eq!(names.get(IDLE, Cpu(0)), None);
        names.set(IDLE, Cpu(1), b"swapper/1");
        names.set(IDLE, Cpu(2), b"swapper/2");
        assert_eq!(names.get(IDLE, Cpu(1)), Some(&b"swapper/1"[..]));
        assert_eq!(names.get(IDLE, Cpu(2)), Some(&b"swapper/2"[..]));
        assert_eq!(names.get(IDLE, Cpu(3)), Some(&b"swapper/1"[..]), "the first is better than none");
    }

    #[test]
    fn other_tasks_have_one_name_everywhere() {
        let mut names = Names::default();
        names.set(Tid(7), Cpu(1), b"a name that is too long");
        assert_eq!(names.get(Tid(7), Cpu(0)), Some(&b"a name that is "[..]));
        names.set(Tid(7), Cpu(0), b"b");
        assert_eq!(names.get(Tid(7), Cpu(1)), Some(&b"b"[..]));
    }
}
