//! The slowest operations of a group, kept for each task separately: one task's waits prove nothing about another's time.
//!
//! Example: fio and dd read from one disk. dd's 40 slowest reads take longer than any of fio's; the slowest of both are kept.

use crate::sampled::SampledOperation;
use life::TaskName;
use std::cmp::Reverse;
use trace::Nanos;

/// Number of operations kept for each task. A screen shows ten.
pub const KEPT: usize = 32;

/// The slowest operations of tasks, at most [`KEPT`] of each. Tasks without a place of their own share one.
#[derive(Clone, Debug, Default)]
pub struct ByTask {
    places: Vec<(TaskName, Slowest)>,
    others: Slowest,
}

impl ByTask {
    /// Gives a task a place of its own. Returns whether it had none before.
    pub fn give_place(&mut self, task: TaskName) -> bool {
        let is_new = self.place(task).is_none();
        if is_new {
            self.places.push((task, Slowest::default()));
        }
        is_new
    }

    /// Whether an operation of a task with this duration is among the slowest.
    pub fn wants(&self, task: TaskName, total: Nanos) -> bool {
        self.place(task).map_or(&self.others, |at| &self.places[at].1).wants(total)
    }

    /// Adds an operation. If there are too many, the shortest in its place is removed.
    pub fn add(&mut self, sampled: SampledOperation) {
        let place = self.place(sampled.operation.task);
        place.map_or(&mut self.others, |at| &mut self.places[at].1).add(sampled);
    }

    /// The slowest operations of all tasks, at most [`KEPT`], the slowest first.
    pub fn all(&self) -> Vec<&SampledOperation> {
        sorted(self.each())
    }

    /// The slowest operations of a task, at most [`KEPT`], the slowest first.
    pub fn of(&self, task: &str) -> Vec<&SampledOperation> {
        sorted(self.each().filter(|sampled| sampled.task == task))
    }

    fn each(&self) -> impl Iterator<Item = &SampledOperation> {
        self.places.iter().map(|(_, place)| place).chain([&self.others]).flat_map(|place| &place.sampled)
    }

    #[inline]
    fn place(&self, task: TaskName) -> Option<usize> {
        self.places.iter().position(|(known, _)| *known == task)
    }
}

fn sorted<'a>(all: impl Iterator<Item = &'a SampledOperation>) -> Vec<&'a SampledOperation> {
    let mut all: Vec<&SampledOperation> = all.collect();
    all.sort_by_key(|sampled| (Reverse(sampled.operation.total()), sampled.operation.to));
    all.truncate(KEPT);
    all
}

/// The slowest operations, at most [`KEPT`].
#[derive(Clone, Debug, Default)]
struct Slowest {
    sampled: Vec<SampledOperation>,
    /// The shortest of them.
    least: Nanos,
}

impl Slowest {
    fn wants(&self, total: Nanos) -> bool {
        self.sampled.len() < KEPT || total > self.least
    }

    fn add(&mut self, sampled: SampledOperation) {
        let total = sampled.operation.total();
        let at = self.sampled.partition_point(|k| k.operation.total() >= total);
        self.sampled.insert(at, sampled);
        self.sampled.truncate(KEPT);
        self.least = self.sampled.last().map_or(Nanos(0), |k| k.operation.total());
    }
}
