//! What would be without a task: the time that its absence removes from each operation of a victim.

use crate::bucket::{Bucket, ByBucket};
use crate::culprit::{Culprit, CulpritKind};
use life::Io;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use trace::Nanos;

/// What is removed in a prediction.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Absent {
    /// All other tasks: the victim is alone.
    Everybody,
    /// The cost of flushes: the device flushes its cache in no time.
    Flushes,
    /// A task: its I/O, its data that others write, and its time on the processor.
    Task(Box<str>),
    /// The tasks and kinds of I/O that were passed to [`Table::follow`](crate::Table::follow).
    Those(Those),
}

impl Absent {
    /// Whether a culprit is removed.
    pub fn takes(&self, culprit: &Culprit) -> bool {
        match self {
            Absent::Everybody => culprit.can_leave(),
            Absent::Flushes => culprit.kind == CulpritKind::Device && culprit.io == Some(Io::Flush),
            Absent::Task(name) => culprit.can_leave() && culprit.name.as_deref() == Some(name),
            Absent::Those(those) => those.has(culprit),
        }
    }
}

/// A set of culprits that are removed together: tasks by name, and kinds of I/O by any task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Those {
    /// Names of tasks.
    pub tasks: BTreeSet<Box<str>>,
    /// Kinds of I/O.
    pub kinds: BTreeSet<Io>,
}

impl Those {
    /// Whether a culprit belongs to the set.
    pub(crate) fn has(&self, culprit: &Culprit) -> bool {
        let by_name = culprit.name.as_ref().is_some_and(|name| self.tasks.contains(name));
        let by_kind = culprit.io.is_some_and(|io| self.kinds.contains(&io));
        culprit.can_leave() && (by_name || by_kind)
    }
}

/// The number of an absence in its table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AbsentId(u32);

impl AbsentId {
    /// Whether it stands for something else than a single task.
    pub(crate) fn is_fixed(self) -> bool {
        self.0 < FIXED
    }
}

/// Fixed numbers of absences that are no single task.
const EVERYBODY: AbsentId = AbsentId(0);
const FLUSHES: AbsentId = AbsentId(1);
const THOSE: AbsentId = AbsentId(2);
const FIXED: u32 = 3;

/// The numbers of absences.
#[derive(Clone, Debug, Default)]
pub(crate) struct Absents {
    names: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, AbsentId>,
    /// The set that is removed together.
    pub those: Those,
}

impl Absents {
    /// The absence of a culprit: its task, or flushes; `None` if it cannot be removed.
    pub fn with(&mut self, culprit: &Culprit) -> Option<AbsentId> {
        match (&culprit.name, culprit.kind, culprit.io) {
            (Some(name), ..) if culprit.can_leave() => Some(self.task(name)),
            (_, CulpritKind::Device, Some(Io::Flush)) => Some(FLUSHES),
            _ => None,
        }
    }

    /// The number here of an absence in another table.
    pub fn import(&mut self, absent: Absent) -> AbsentId {
        match absent {
            Absent::Everybody => EVERYBODY,
            Absent::Flushes => FLUSHES,
            Absent::Task(name) => self.task(&name),
            Absent::Those(_) => THOSE,
        }
    }

    pub fn task(&mut self, name: &str) -> AbsentId {
        if let Some(id) = self.numbers.get(name) {
            return *id;
        }
        let id = AbsentId(self.names.len() as u32 + FIXED);
        self.names.push(name.into());
        self.numbers.insert(name.into(), id);
        id
    }

    /// The absence with a number.
    pub fn of(&self, id: AbsentId) -> Absent {
        match id {
            EVERYBODY => Absent::Everybody,
            FLUSHES => Absent::Flushes,
            THOSE => Absent::Those(self.those.clone()),
            AbsentId(n) => Absent::Task(self.names.get((n - FIXED) as usize).cloned().unwrap_or_default()),
        }
    }
}

/// The time in one operation that each absence removes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    of: Vec<(AbsentId, Lost)>,
    /// The [unclear](Culprit::is_unclear) part of the operation's time.
    pub unclear: Nanos,
}

/// The time that an absence removes from an operation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lost {
    pub time: Nanos,
    /// The [unclear](Culprit::is_unclear) part of `time`.
    pub unclear: Nanos,
}

impl Scratch {
    pub fn clear(&mut self) {
        self.of.clear();
        self.unclear = Nanos(0);
    }

    /// Adds a part of a task's time; `is_one_of_those`: whether the task belongs to the set that is removed together.
    pub fn add(&mut self, who: AbsentId, is_one_of_those: bool, ns: u64, is_unclear: bool) {
        let everybody = (who != FLUSHES).then_some(EVERYBODY);
        let those = is_one_of_those.then_some(THOSE);
        let unclear = if is_unclear { Nanos(ns) } else { Nanos(0) };
        for id in [Some(who), everybody, those].into_iter().flatten() {
            match self.of.iter_mut().find(|(known, _)| *known == id) {
                Some((_, lost)) => {
                    lost.time += Nanos(ns);
                    lost.unclear += unclear;
                }
                None => self.of.push((id, Lost { time: Nanos(ns), unclear })),
            }
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (AbsentId, Lost)> + '_ {
        self.of.iter().copied()
    }
}

/// Operations with their remaining time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Number of operations.
    pub ops: u64,
    /// Their time, in nanoseconds.
    pub ns: u64,
    /// The part of `ns` for which no task is responsible.
    pub unclear: u64,
}

impl Left {
    pub(crate) fn add(&mut self, other: Left) {
        self.ops += other.ops;
        self.ns = self.ns.saturating_add(other.ns);
        self.unclear = self.unclear.saturating_add(other.unclear);
    }
}

/// The change of a victim's latencies: operations by the bucket that they leave, and by the bucket that they would be in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Without {
    /// Number of affected operations, by their actual bucket.
    pub removed: ByBucket<u64>,
    /// The same operations, by their predicted bucket.
    pub added: ByBucket<Left>,
    /// Those of `removed` that were in a device.
    pub met: ByBucket<u64>,
    /// The time that the absence removes, in nanoseconds.
    pub time: u64,
}

impl Without {
    /// Adds an operation from which the absence removes `lost`. `unclear`: the part of its time for which no task is responsible.
    pub(crate) fn add(&mut self, total: Nanos, unclear: Nanos, lost: Lost, in_device: bool) {
        let bucket = Bucket::of(total);
        *self.removed.at(bucket) += 1;
        *self.met.at(bucket) += u64::from(in_device);
        let left = total.since(lost.time);
        let as_it_would_be = Left { ops: 1, ns: left.0, unclear: unclear.since(lost.unclear).0 };
        self.added.at(Bucket::of(left)).add(as_it_would_be);
        self.time = self.time.saturating_add(lost.time.0);
    }

    pub(crate) fn merge(&mut self, other: &Without) {
        other.removed.iter().for_each(|(b, n)| *self.removed.at(*b) += n);
        other.met.iter().for_each(|(b, n)| *self.met.at(*b) += n);
        other.added.iter().for_each(|(b, left)| self.added.at(*b).add(*left));
        self.time = self.time.saturating_add(other.time);
    }
}
