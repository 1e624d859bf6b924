//! A victim's latencies if a task's time were subtracted from each of its operations.

use crate::bucket::{Bucket, ByBucket};
use crate::culprit::{Culprit, CulpritKind};
use life::Io;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use trace::Nanos;

/// Who or what is taken away.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Absent {
    /// All tasks but the victim's own: it is alone.
    Everybody,
    /// The price of flushes: the device empties its cache in no time.
    Flushes,
    /// What a task sends, by any kind of I/O, and what others write of its data.
    Task(Box<str>),
    /// What [`Table::follow`](crate::Table::follow) was told.
    Those(Those),
}

/// Several that are taken away together: tasks by name, and kinds of I/O from any task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Those {
    /// Names of tasks.
    pub tasks: BTreeSet<Box<str>>,
    /// Kinds of I/O.
    pub kinds: BTreeSet<Io>,
}

impl Those {
    /// Whether a culprit is one of them.
    pub(crate) fn has(&self, culprit: &Culprit) -> bool {
        let by_name = culprit.name.as_ref().is_some_and(|name| self.tasks.contains(name));
        let by_kind = culprit.io.is_some_and(|io| self.kinds.contains(&io));
        culprit.is_somebody() && (by_name || by_kind)
    }
}

/// Its number in a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AbsentId(u32);

/// Who is no single task has a fixed number.
const EVERYBODY: AbsentId = AbsentId(0);
const FLUSHES: AbsentId = AbsentId(1);
const THOSE: AbsentId = AbsentId(2);
const FIXED: u32 = 3;

/// Tasks by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Absents {
    names: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, AbsentId>,
    /// Who is asked about together.
    pub those: Those,
}

impl Absents {
    /// Who is gone with a culprit: a task, or the flushes; of what else nothing is left to ask.
    pub fn with(&mut self, culprit: &Culprit) -> Option<AbsentId> {
        match (&culprit.name, culprit.kind, culprit.io) {
            (Some(name), ..) if culprit.is_somebody() => Some(self.task(name)),
            (_, CulpritKind::Device, Some(Io::Flush)) => Some(FLUSHES),
            _ => None,
        }
    }

    /// The number of what has one in another table.
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

    /// Who that is.
    pub fn of(&self, id: AbsentId) -> Absent {
        match id {
            EVERYBODY => Absent::Everybody,
            FLUSHES => Absent::Flushes,
            THOSE => Absent::Those(self.those.clone()),
            AbsentId(n) => Absent::Task(self.names.get((n - FIXED) as usize).cloned().unwrap_or_default()),
        }
    }
}

/// One operation's time by the task taken away; the sum of all, too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch(Vec<(AbsentId, u64)>);

impl Scratch {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a part of a task's, which may be one of those taken away together.
    pub fn add(&mut self, who: AbsentId, is_one_of_those: bool, ns: u64) {
        let everybody = (who != FLUSHES).then_some(EVERYBODY);
        let those = is_one_of_those.then_some(THOSE);
        for id in [Some(who), everybody, those].into_iter().flatten() {
            match self.0.iter_mut().find(|(known, _)| *known == id) {
                Some((_, time)) => *time += ns,
                None => self.0.push((id, ns)),
            }
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (AbsentId, Nanos)> + '_ {
        self.0.iter().map(|(who, ns)| (*who, Nanos(*ns)))
    }
}

/// What changes of a victim's latencies: operations that leave a bucket, and what they become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Without {
    /// Operations by bucket as they were.
    pub removed: ByBucket<u64>,
    /// The same operations as they would be: how many, and their time.
    pub added: ByBucket<(u64, u64)>,
    /// That one's time in them.
    pub time: u64,
}

impl Without {
    /// An operation of which `lost` is that one's.
    pub(crate) fn add(&mut self, total: Nanos, lost: Nanos) {
        *self.removed.at(Bucket::of(total)) += 1;
        let left = total.since(lost);
        let added = self.added.at(Bucket::of(left));
        *added = (added.0 + 1, added.1.saturating_add(left.0));
        self.time = self.time.saturating_add(lost.0);
    }

    pub(crate) fn merge(&mut self, other: &Without) {
        other.removed.iter().for_each(|(b, n)| *self.removed.at(*b) += n);
        for (b, (ops, ns)) in &other.added {
            let added = self.added.at(*b);
            *added = (added.0 + ops, added.1.saturating_add(*ns));
        }
        self.time = self.time.saturating_add(other.time);
    }
}
