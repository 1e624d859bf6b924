//! Which processes are one job: tasks of one name need not be.
//!
//! A service is one, a container, a scheduled job, a login, each with all that it starts.

use rustc_hash::FxHashMap;
use trace::Tid;

/// The process that a job began with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Job(pub Tid);

/// Tasks whose parents are remembered.
const MAX: usize = 1 << 16;

/// The first process; what its parent left behind is its child.
const INIT: Tid = Tid(1);

/// Generations that are looked at; a build has some ten.
const GENERATIONS: usize = 64;

/// Who made a task.
#[derive(Clone, Copy, Debug)]
struct Origin {
    parent: Tid,
    /// Whether it is a thread of the same process.
    is_thread: bool,
}

/// Who made which task, as far as that is known.
#[derive(Debug, Default)]
pub(crate) struct Jobs(FxHashMap<Tid, Origin>);

impl Jobs {
    /// `parent` made `tid`: a thread of its own process, or a process.
    pub fn born(&mut self, parent: Tid, tid: Tid, is_thread: bool) {
        if parent != tid && (self.0.len() < MAX || self.0.contains_key(&tid)) {
            self.0.insert(tid, Origin { parent, is_thread });
        }
    }

    /// The process that a task is a thread of, as far as that is known.
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

    /// The job of a task: it began with the first of those who made it, each the next, that was made by a supervisor. `None`
    /// where one of them is not known.
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
