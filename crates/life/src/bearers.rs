//! Jobs that have the same name at the same time. Each gets a number of its own; a job reuses the number of one that has ended.

use crate::jobs::Job;
use crate::task_name::TaskName;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::Tid;

/// Largest number of jobs of one name that are distinguished at a time.
const MAX: usize = 16;

/// Largest number of ended tasks that are remembered.
const MAX_ENDED: usize = 1 << 16;

/// A job that has a name, under one of the name's numbers.
#[derive(Clone, Copy, Debug)]
struct Bearer {
    number: TaskName,
    /// `None` if it is not known how the job began.
    job: Option<Job>,
    /// Number of its tasks that have the name.
    tasks: u32,
}

/// All jobs by the first number of their name.
#[derive(Debug, Default)]
pub(crate) struct Bearers {
    all: FxHashMap<TaskName, Vec<Bearer>>,
    /// First number of the name, for each further number.
    first: FxHashMap<TaskName, TaskName>,
    ended: FxHashSet<Tid>,
}

impl Bearers {
    /// The first number of the name that has this number.
    pub fn first(&self, name: TaskName) -> TaskName {
        self.first.get(&name).copied().unwrap_or(name)
    }

    /// The job that has this number now, if it is known how it began.
    pub fn job(&self, name: TaskName) -> Option<Job> {
        self.all.get(&self.first(name))?.iter().find(|bearer| bearer.number == name)?.job
    }

    /// The number of a name for a job: its own, that of an ended job, or `new` if there is room, or else the first.
    pub fn number(&mut self, first: TaskName, job: Option<Job>, new: Option<TaskName>) -> TaskName {
        let bearers = self.all.entry(first).or_default();
        if let Some(known) = bearers.iter().find(|bearer| bearer.job == job) {
            return known.number;
        }
        if let Some(ended) = bearers.iter_mut().find(|bearer| bearer.tasks == 0) {
            ended.job = job;
            return ended.number;
        }
        let number = match (bearers.len(), new) {
            (0, _) => first,
            (MAX.., _) | (_, None) => return first,
            (_, Some(new)) => new,
        };
        bearers.push(Bearer { number, job, tasks: 0 });
        if number != first {
            self.first.insert(number, first);
        }
        number
    }

    /// Notes that a task has the name `now`.
    pub fn has_now(&mut self, tid: Tid, before: Option<TaskName>, now: TaskName) {
        let is_new = self.ended.remove(&tid) || before.is_none();
        if before == Some(now) && !is_new {
            return;
        }
        if let Some(bearer) = before.filter(|_| !is_new).and_then(|before| self.bearer(before)) {
            bearer.tasks = bearer.tasks.saturating_sub(1);
        }
        if let Some(bearer) = self.bearer(now) {
            bearer.tasks += 1;
        }
    }

    /// Notes that a task of this name has exited.
    pub fn ends(&mut self, tid: Tid, name: TaskName) {
        if self.ended.len() >= MAX_ENDED || !self.ended.insert(tid) {
            return;
        }
        if let Some(bearer) = self.bearer(name) {
            bearer.tasks = bearer.tasks.saturating_sub(1);
        }
    }

    fn bearer(&mut self, name: TaskName) -> Option<&mut Bearer> {
        let first = self.first(name);
        self.all.get_mut(&first)?.iter_mut().find(|bearer| bearer.number == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DD: TaskName = TaskName(7);

    /// A task of the new job takes the name.
    fn begins(all: &mut Bearers, tid: u32) -> TaskName {
        let number = all.number(DD, Some(Job(Tid(tid))), Some(TaskName(100 + tid)));
        all.has_now(Tid(tid), None, number);
        number
    }

    #[test]
    fn who_comes_after_another_has_its_number() {
        let mut all = Bearers::default();
        assert_eq!([1, 2].map(|tid| begins(&mut all, tid)), [DD, TaskName(102)]);
        all.ends(Tid(1), DD);
        assert_eq!((begins(&mut all, 3), all.job(DD)), (DD, Some(Job(Tid(3)))));
        assert_eq!(all.number(DD, Some(Job(Tid(2))), None), TaskName(102), "that one is still there");
        assert_eq!(all.first(TaskName(102)), DD);
    }

    #[test]
    fn what_a_job_left_behind_has_the_number_still() {
        let mut all = Bearers::default();
        begins(&mut all, 1);
        let child = all.number(DD, Some(Job(Tid(1))), None);
        all.has_now(Tid(5), None, child);
        all.ends(Tid(1), DD);
        assert_ne!(begins(&mut all, 2), DD);
        // From now on it has another name.
        all.has_now(Tid(5), Some(DD), TaskName(9));
        assert_eq!(begins(&mut all, 3), DD);
    }

    #[test]
    fn those_without_room_share_the_first_number() {
        let mut all = Bearers::default();
        let numbers: FxHashSet<TaskName> = (0..100).map(|tid| begins(&mut all, tid)).collect();
        assert_eq!(numbers.len(), MAX);
    }
}
