//! A victim's latencies if a task's time were subtracted from each of its operations.

use crate::bucket::{Bucket, ByBucket};
use crate::culprit::{Culprit, CulpritKind};
use crate::sums::Sums;
use life::Io;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
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

impl Absent {
    /// Whether a culprit is gone with it.
    pub fn takes(&self, culprit: &Culprit) -> bool {
        match self {
            Absent::Everybody => culprit.can_leave(),
            Absent::Flushes => culprit.kind == CulpritKind::Device && culprit.io == Some(Io::Flush),
            Absent::Task(name) => culprit.can_leave() && culprit.name.as_deref() == Some(name),
            Absent::Those(those) => those.has(culprit),
        }
    }
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
        culprit.can_leave() && (by_name || by_kind)
    }
}

/// How operations would be without somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Each takes less by that one's part.
    Subtract,
    /// Those in a device that met that one take as long as those that did not.
    LikeOthers,
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
            (Some(name), ..) if culprit.can_leave() => Some(self.task(name)),
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
    /// Of the first those that were in a device.
    pub met: ByBucket<u64>,
    /// That one's time in them.
    pub time: u64,
}

impl Without {
    /// An operation of which `lost` is that one's.
    pub(crate) fn add(&mut self, total: Nanos, lost: Nanos, in_device: bool) {
        let bucket = Bucket::of(total);
        *self.removed.at(bucket) += 1;
        *self.met.at(bucket) += u64::from(in_device);
        let left = total.since(lost);
        let added = self.added.at(Bucket::of(left));
        *added = (added.0 + 1, added.1.saturating_add(left.0));
        self.time = self.time.saturating_add(lost.0);
    }

    pub(crate) fn merge(&mut self, other: &Without) {
        other.removed.iter().for_each(|(b, n)| *self.removed.at(*b) += n);
        other.met.iter().for_each(|(b, n)| *self.met.at(*b) += n);
        for (b, (ops, ns)) in &other.added {
            let added = self.added.at(*b);
            *added = (added.0 + ops, added.1.saturating_add(*ns));
        }
        self.time = self.time.saturating_add(other.time);
    }

    /// Operations and their time by bucket: each less that one's part.
    pub(crate) fn subtracted(&self, of: &Sums) -> BTreeMap<Bucket, (u64, u64)> {
        let mut cells = BTreeMap::<Bucket, (u64, u64)>::new();
        for (bucket, cell) in &of.cells {
            let left = cell.ops - self.removed.get(bucket).copied().unwrap_or(0).min(cell.ops);
            if left > 0 {
                cells.insert(*bucket, (left, (cell.ns / cell.ops.max(1)).saturating_mul(left)));
            }
        }
        for (bucket, (ops, ns)) in &self.added {
            let cell = cells.entry(*bucket).or_default();
            *cell = (cell.0 + ops, cell.1.saturating_add(*ns));
        }
        cells
    }

    /// The same if those in a device that met that one there were like those that did not, of which there must be some. What never was in
    /// a device stays as it is.
    pub(crate) fn like_others(&self, of: &Sums) -> Option<BTreeMap<Bucket, (u64, u64)>> {
        let all: u64 = of.in_device.values().sum();
        let met: u64 = self.met.values().sum();
        let others = all.saturating_sub(met);
        if met == 0 || others < ENOUGH_OTHERS {
            return None;
        }
        let mut cells = BTreeMap::new();
        let (mut seen, mut given) = (0, 0);
        for (bucket, cell) in &of.cells {
            let in_device = of.in_device.get(bucket).copied().unwrap_or(0).min(cell.ops);
            seen += in_device.saturating_sub(self.met.get(bucket).copied().unwrap_or(0));
            // So many of all are in this bucket or below, as of the others.
            let until = (u128::from(all) * u128::from(seen) / u128::from(others)) as u64;
            let ops = cell.ops - in_device + until - given;
            given = until;
            if ops > 0 {
                cells.insert(*bucket, (ops, (cell.ns / cell.ops.max(1)).saturating_mul(ops)));
            }
        }
        Some(cells)
    }
}

/// A median of fewer is chance.
const ENOUGH_OTHERS: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::{ChainId, Link};
    use crate::phase::Phase;
    use crate::table::{Part, Table, Waiting};
    use crate::victim::{Asked, Victim};
    use life::Class;
    use trace::{DevId, Fs};

    const MS: u64 = 1_000_000;

    /// Fifty reads that a cache answers in 10 us, `others` of 1 ms in a device, and thirty of 6 ms there, of which dd had 3 ms: what else
    /// happens beside dd is nobody's.
    fn beside_dd(others: usize) -> (Table, crate::table::VictimId) {
        let mut t = Table::default();
        let asked = Asked::Bio(Class::Read);
        let victim = t.victim(&Victim { task: "reader".into(), asked, fs: Fs::Unknown, dev: DevId(8) });
        let dd = t.culprit(&Culprit { name: Some("dd".into()), ..Culprit::of(CulpritKind::Task) });
        let nobody = t.culprit(&Culprit::of(CulpritKind::Device));
        let chain = t.chain(ChainId(0), Link::Phase(Phase::Behind));
        let hits = std::iter::repeat_n((MS / 100, 0, false), 50);
        let alone = std::iter::repeat_n((MS, 0, true), others);
        let beside = std::iter::repeat_n((6 * MS, 3 * MS, true), 30);
        for (total, of_dd, in_device) in hits.chain(alone).chain(beside) {
            let part = |culprit, ns| Part { chain, culprit, time: Nanos(ns) };
            let parts = [part(dd, of_dd), part(nobody, total - of_dd)];
            let waiting = Waiting { victim, end: Nanos(0), total: Nanos(total), bytes: 4096, in_device };
            t.add(waiting, &parts, Nanos(of_dd), Nanos(0));
        }
        (t, victim)
    }

    #[test]
    fn who_met_somebody_is_like_those_who_did_not() {
        let (table, victim) = beside_dd(20);
        let dd = Absent::Task("dd".into());
        let without = |way| table.quantiles_without(victim, &dd, &[0.4, 0.99], way).unwrap();
        let (mean, told) = without(Way::Subtract);
        assert_eq!(
            (mean, told),
            (Nanos((MS / 2 + 20 * MS + 30 * 3 * MS) / 100), vec![Nanos(MS / 100), Nanos(3 * MS)])
        );
        let (mean, told) = without(Way::LikeOthers);
        assert_eq!((mean, told), (Nanos((MS / 2 + 50 * MS) / 100), vec![Nanos(MS / 100), Nanos(MS)]));
    }

    #[test]
    fn a_few_others_are_no_measure() {
        let like = |others| {
            let (table, victim) = beside_dd(others);
            table.quantiles_without(victim, &Absent::Task("dd".into()), &[0.5], Way::LikeOthers)
        };
        assert!(like(9).is_none() && like(10).is_some());
    }

    #[test]
    fn who_leaves_takes_the_processors_time_along() {
        let cpu = Culprit { name: Some("cc1".into()), ..Culprit::of(CulpritKind::Cpu) };
        assert!(Absent::Task("cc1".into()).takes(&cpu) && Absent::Everybody.takes(&cpu));
        assert!(!Absent::Task("dd".into()).takes(&cpu) && !Absent::Flushes.takes(&cpu));
        let nobody = Culprit::of(CulpritKind::Cpu);
        assert!(!Absent::Everybody.takes(&nobody), "it is not known who ran");
    }
}
