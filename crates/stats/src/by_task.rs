//! The slowest operations of a group, each task's by themselves: what a neighbour waited for proves nothing about another's time.
//!
//! Example: fio and dd read from one disk. dd's 40 slowest reads take longer than any of fio's; of both the slowest are kept.

use crate::sampled::SampledOperation;
use life::TaskName;
use std::cmp::Reverse;
use trace::Nanos;

/// How many of each task are kept. A screen shows ten.
pub const KEPT: usize = 32;

/// The slowest operations of tasks, at most [`KEPT`] of each. Tasks that were given no place share one.
#[derive(Clone, Debug, Default)]
pub struct ByTask {
    places: Vec<(TaskName, Slowest)>,
    others: Slowest,
}

impl ByTask {
    /// Gives a task a place of its own; whether it had none.
    pub fn give_place(&mut self, task: TaskName) -> bool {
        let is_new = self.place(task).is_none();
        if is_new {
            self.places.push((task, Slowest::default()));
        }
        is_new
    }

    /// Whether an operation of a task of this length is among the slowest.
    pub fn wants(&self, task: TaskName, total: Nanos) -> bool {
        self.place(task).map_or(&self.others, |at| &self.places[at].1).wants(total)
    }

    /// Adds one; the shortest of its place goes if there are too many.
    pub fn add(&mut self, sampled: SampledOperation) {
        let place = self.place(sampled.operation.task);
        place.map_or(&mut self.others, |at| &mut self.places[at].1).add(sampled);
    }

    /// The slowest of all, at most [`KEPT`], the slowest first.
    pub fn all(&self) -> Vec<&SampledOperation> {
        sorted(self.each())
    }

    /// The slowest of a task, the slowest first.
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
    /// The shortest of them, once there are enough.
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
