//! Jobs: groups of processes that belong together. Tasks of one name can belong to different jobs.
//!
//! A service, a container, a scheduled job and a login are each one job, with everything that they start.

use rustc_hash::FxHashMap;
use trace::Tid;

/// A job, identified by the process that it began with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Job(pub Tid);

/// Largest number of tasks whose parents are remembered.
const MAX: usize = 1 << 16;

/// The init process. It adopts orphaned processes.
const INIT: Tid = Tid(1);

/// Largest number of generations to look at; a build has about ten.
const GENERATIONS: usize = 64;

/// Where a task comes from.
#[derive(Clone, Copy, Debug)]
struct Origin {
    parent: Tid,
    /// Whether the task is a thread of its parent's process.
    is_thread: bool,
}

/// The parent of each task, if known.
#[derive(Debug, Default)]
pub(crate) struct Jobs(FxHashMap<Tid, Origin>);

impl Jobs {
    /// `parent` created `tid`: a thread of its own process, or a new process.
    pub fn born(&mut self, parent: Tid, tid: Tid, is_thread: bool) {
        if parent != tid && (self.0.len() < MAX || self.0.contains_key(&tid)) {
            self.0.insert(tid, Origin { parent, is_thread });
        }
    }

    /// The process of a thread, or `tid` itself if that is not known.
    pub fn process(&self, tid: Tid) -> Tid {
        let mut process = tid;
        for _ in 0..GENERATIONS {
            match self.0.get(&process) {
                Some(Origin { parent, is_thread: true }) => process = *parent,
                _ => break,
            }
        }
        process
    }

    /// The job of a task. It begins with the nearest ancestor that a supervisor or init created. `None` if an ancestor
    /// before that is not known.
    pub fn of(&self, tid: Tid, supervises: impl Fn(Tid) -> bool) -> Option<Job> {
        let mut first = tid;
        for _ in 0..GENERATIONS {
            let Origin { parent, is_thread } = *self.0.get(&first)?;
            if !is_thread && (parent <= INIT || supervises(parent)) {
                return Some(Job(first));
            }
            first = parent;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_begins_below_a_supervisor() {
        let mut jobs = Jobs::default();
        let (cron, thread) = (Tid(10), true);
        let made =
            [(1, 20, !thread), (20, 21, !thread), (21, 22, thread), (10, 30, !thread), (10, 31, !thread)];
        for (parent, tid, is_thread) in made {
            jobs.born(Tid(parent), Tid(tid), is_thread);
        }
        let of = |tid| jobs.of(Tid(tid), |parent| parent == cron).map(|Job(first)| first.0);
        assert_eq!([20, 21, 22].map(of), [Some(20); 3], "a daemon, what it forked, and a thread of that");
        assert_eq!([20, 21, 22, 99].map(|tid| jobs.process(Tid(tid)).0), [20, 21, 21, 99]);
        assert_eq!([30, 31].map(of), [Some(30), Some(31)], "cron started both");
        assert_eq!([10, 99].map(of), [None; 2], "who made it is not known");
    }

    #[test]
    fn damaged_recordings_end() {
        let mut jobs = Jobs::default();
        for (parent, tid) in [(5, 6), (6, 5), (7, 7)] {
            jobs.born(Tid(parent), Tid(tid), false);
        }
        assert_eq!([5, 7].map(|tid| jobs.of(Tid(tid), |_| false)), [None; 2]);
    }
}
