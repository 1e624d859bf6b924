//! Which jobs have one name at the same time: each is known by a number of its own, and who comes after another has the other's.

use crate::jobs::Job;
use crate::names::TaskName;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::Tid;

/// Jobs of one name that are told apart at a time.
const MAX: usize = 16;

/// Tasks that are remembered to have ended.
const MAX_ENDED: usize = 1 << 16;

/// Who has a name as one of its numbers.
#[derive(Clone, Copy, Debug)]
struct Bearer {
    number: TaskName,
    /// `None` where it is not known how it began.
    job: Option<Job>,
    /// Tasks of it that have the name.
    tasks: u32,
}

/// All of them, by the name's first number.
#[derive(Debug, Default)]
pub(crate) struct Bearers {
    all: FxHashMap<TaskName, Vec<Bearer>>,
    /// The first number of the same name as a further one.
    first: FxHashMap<TaskName, TaskName>,
    ended: FxHashSet<Tid>,
}

impl Bearers {
    /// The first number of the same name.
    pub fn first(&self, name: TaskName) -> TaskName {
        self.first.get(&name).copied().unwrap_or(name)
    }

    /// Whose it is now, if it is known how that began.
    pub fn job(&self, name: TaskName) -> Option<Job> {
        self.all.get(&self.first(name))?.iter().find(|bearer| bearer.number == name)?.job
    }

    /// By which number of a name a job is known: its own, that of one that has ended, or a new one, if there is room.
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

    /// A task has this name from now on.
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

    /// A task of this name has ended.
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

    /// A task of a job that it begins takes the name.
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
        // Of another name from now on.
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
