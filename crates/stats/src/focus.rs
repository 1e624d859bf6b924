//! Selects the operations that the question "why was it slow?" is about.
//!
//! Writeback is slow by nature and no task waits for any single one of its writes. What hurts are operations that a
//! task waits for: reads, synchronous writes, flushes. They are grouped by device and class, each with its own slowest
//! 1 %, because reads of 200 ms and commits of 5 s are two problems and not one distribution. Bios sent by a stacked
//! device count as part of their parent, not again below. If no task waits for anything, everything counts.
//!
//! If operations were recorded (system calls, page faults), they are what a task waits for, and the groups are theirs:
//! per kind, file system and device. A bio that no task slept for then counts in no task's time.

use crate::analysis::Facts;
use crate::cells::CellKey;
use crate::op_key::OpKey;
use crate::tail::{Slowest, TailTime, TAIL_SHARE};
use crate::tasks::WORKERS;
use ledger::{Reason, RollUp};
use life::{Class, Op};
use operation::{Kind, Wait, Waits};
use std::collections::BTreeMap;
use trace::{Bytes, Call, DevId, Fs, Nanos};
use waits::{Asked, ChainId, CulpritId, Link, Phase, Selection, Sums, Table, Victim, VictimId};

/// Operations of one kind of a task on one device (or its bios, if they stand for operations), and their tail.
#[derive(Clone, Debug)]
pub struct Group {
    /// The victims in the table of waits whose rows these are.
    pub victims: Vec<VictimId>,
    /// Name of the task.
    pub task: String,
    /// The device whose requests they waited for most.
    pub dev: DevId,
    /// Class of the bios; for operations, of the requests they wait for.
    pub class: Class,
    /// Kind of operation, file system and device; `None` for bios.
    pub op: Option<OpKey>,
    /// Number of operations.
    pub operations: u64,
    /// Lost part of their time.
    pub lost: Nanos,
    /// Duration of the longest one.
    pub longest: Nanos,
    /// Part of their device time for which the service time alone is not known.
    pub unknown: Nanos,
    /// The slowest of them, with their time.
    pub tail: Slowest,
    /// Sums over all of its operations.
    pub all: TailTime,
}

impl Group {
    /// Plural name of the operations: `reads`, `synchronous writes`.
    pub fn words(&self) -> &'static str {
        self.op.as_ref().map_or(class_words(self.class), |op| op.kind.plural())
    }
}

/// A row of a group's tail: time with the same chain and culprit, summed over all its victims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TailRow {
    /// The chain of waits.
    pub chain: ChainId,
    /// Who caused the wait.
    pub culprit: CulpritId,
    /// The phase at the end of the chain.
    pub phase: Phase,
    /// The reason of the leaf, a part without parts of its own.
    pub reason: Reason,
    /// The waits that contain it.
    pub waits: Waits,
    /// Length of the time.
    pub time: Nanos,
}

/// The share of `part` for one operation, if `whole / duration` of them waited at once on average; all of `part` if at most one did.
pub fn of_one(whole: Nanos, duration: Nanos, part: Nanos) -> Nanos {
    match duration {
        Nanos(0) => part,
        long if whole <= long => part,
        long => Nanos((u128::from(part.0) * u128::from(long.0) / u128::from(whole.0)) as u64),
    }
}

/// Smallest number of operations that are evidence even if none was long: a p90 needs ten.
pub const FEW: u64 = 10;

/// A thread that waits for each read can have two in flight: the window that it reads and the window read ahead (mm/readahead.c).
const WINDOWS: u64 = 2;

/// Duration that is long by itself: people notice a tenth of a second (Nielsen, Usability Engineering, 1993, chapter 5).
pub const LONG_BY_ITSELF: Nanos = Nanos(100_000_000);

impl Group {
    /// Whether its operations say too little: they are few, none was long by itself, and in total they took less than half of the recording.
    pub fn is_thin(&self, facts: &Facts) -> bool {
        let is_little = self.all.time.total.0 < facts.duration().0 / 2;
        self.operations < FEW && self.longest < LONG_BY_ITSELF && is_little
    }

    /// Whether its task has operations in flight together: kinds that overlap by nature, or, in a recording of block
    /// events, more bios at a time than its threads can wait for.
    pub fn overlaps(&self, facts: &Facts) -> bool {
        match self.op {
            Some(op) => op.kind.overlaps(),
            None => {
                let threads = facts.threads.get(&self.task).copied().unwrap_or(1).max(1);
                self.all.time.total.0 / threads > facts.duration().0.saturating_mul(WINDOWS)
            }
        }
    }

    /// A part of its time as wall-clock time: overlapping operations are waited for together.
    pub fn by_the_clock(&self, facts: &Facts, time: Nanos) -> Nanos {
        self.together(facts, self.all.time.total, time)
    }

    /// A part of its tail's time as wall-clock time.
    pub fn tail_by_the_clock(&self, facts: &Facts, time: Nanos) -> Nanos {
        self.together(facts, self.tail.sum.time.total, time)
    }

    /// The share of a part of its time for one operation of those waiting at once, so never more than the recording's length.
    pub fn of_one(&self, facts: &Facts, time: Nanos) -> Nanos {
        of_one(self.all.time.total, facts.duration(), time)
    }

    fn together(&self, facts: &Facts, whole: Nanos, time: Nanos) -> Nanos {
        match self.overlaps(facts) {
            true => of_one(whole, facts.duration(), time),
            false => time,
        }
    }

    /// Whether the service time alone is not known for most of the lost time.
    pub fn is_mostly_unknown(&self) -> bool {
        is_most(self.unknown, self.lost)
    }

    /// Number of its operations that were in a device, and their time. Operations served from a cache are not among them.
    pub fn in_devices(&self, table: &Table) -> (u64, Nanos) {
        let of = self.victims.iter().map(|v| table.of(*v).1.in_devices());
        of.fold((0, Nanos(0)), |(ops, time), (more, its)| (ops + more, time + its))
    }

    /// The rows of its tail, with equal ones summed.
    pub fn tail_rows(&self, table: &Table) -> Vec<TailRow> {
        let (which, _) = table.slowest_of(&self.victims, TAIL_SHARE);
        self.rows(table, which)
    }

    /// The rows of a selection of its operations, with equal ones summed.
    pub fn rows(&self, table: &Table, which: Selection) -> Vec<TailRow> {
        let mut rows = Vec::<TailRow>::new();
        for row in self.victims.iter().flat_map(|v| table.rows_of(*v, which)) {
            if let Some(known) = rows.iter_mut().find(|r| r.chain == row.chain && r.culprit == row.culprit) {
                known.time += row.time;
                continue;
            }
            let phase = table.phase(row.chain).unwrap_or(Phase::Reason(Reason::Unexplained));
            let bits = table.links(row.chain).into_iter().fold(0, |bits, link| match link {
                Link::Wait(wait, _) => bits | wait.bit(),
                Link::Work(_) => bits | Waits::WORK,
                Link::Commit(phase) => bits | Waits::of_commit(phase),
                _ => bits,
            });
            let (chain, culprit, time) = (row.chain, row.culprit, row.time);
            rows.push(TailRow { chain, culprit, phase, reason: phase.reason(), waits: Waits(bits), time });
        }
        rows
    }
}

/// A class in plain words, in the plural.
pub fn class_words(class: Class) -> &'static str {
    match class {
        Class::Read => "reads",
        Class::SyncWrite => "synchronous writes",
        Class::Background => "writeback",
        Class::Flush => "flushes",
        Class::Other => "discards and commands",
    }
}

/// The operation of a class; for `Other` a discard.
pub fn class_op(class: Class) -> Op {
    match class {
        Class::Read => Op::Read,
        Class::SyncWrite | Class::Background => Op::Write,
        Class::Flush => Op::Flush,
        Class::Other => Op::Discard,
    }
}

/// The groups in focus, the one with the most lost time first.
#[derive(Clone, Debug, Default)]
pub struct Focus {
    /// One group for each kind of operation of a task on a device.
    pub groups: Vec<Group>,
}

impl Focus {
    /// Finds the groups in focus.
    pub fn of(facts: &Facts) -> Focus {
        let mut groups = groups(facts, |id, v, s| is_asked_about(facts, id, v, s));
        if groups.is_empty() && facts.operations.is_empty() {
            groups = self::groups(facts, |_, v, _| is_on_top(facts, v));
        }
        groups.sort_by_key(|g| std::cmp::Reverse((g.lost, g.all.time.total)));
        Focus { groups }
    }

    /// Time of the tails of all groups.
    pub fn time(&self) -> RollUp {
        let mut sum = RollUp::default();
        self.groups.iter().for_each(|g| sum.merge(&g.tail.sum.time));
        sum
    }

    /// The lowest tail threshold of all groups; 0 if there are none.
    pub fn threshold(&self) -> Nanos {
        self.groups.iter().map(|g| g.tail.threshold).min().unwrap_or_default()
    }

    /// Time of one reason in the tails of all groups.
    pub fn of_reason(&self, reason: Reason) -> Nanos {
        self.time().of(reason)
    }
}

/// sync(2), which covers all file systems.
const SYNC: Kind = Kind::Call(Call::Sync);

/// Whether a victim's device is on top: no other recorded device uses it.
fn is_on_top(facts: &Facts, v: &Victim) -> bool {
    facts.device(v.dev).is_none_or(|d| d.upper.is_none())
}

/// Whether a task waits for a victim's operations, and they are about recorded storage. Calls without a known file
/// system that never had a request in a device are left out: most are about device files and pseudo files.
fn is_asked_about(facts: &Facts, id: VictimId, v: &Victim, s: &Sums) -> bool {
    let Asked::Operation(kind) = v.asked else { return v.asked.is_foreground() && is_on_top(facts, v) };
    // sync(2) names no file, and other tasks do its work. Any other call without a known place that only waited for
    // another task's request was not about that device.
    let is_of_block = || s.main_device().is_some() || waits_before_a_device(&facts.waits, id);
    let of_all = kind == SYNC && is_of_block();
    let known = v.dev != DevId(0) || v.fs != Fs::Unknown || of_all;
    // A call that makes data safe was not about a device that nothing was written to: it belongs to another file
    // system on a device that was not recorded, and only met requests of this one.
    let safe = matches!(kind, Kind::Call(Call::Fsync | Call::Fdatasync | Call::Syncfs) | Kind::RingSync);
    let strange = safe && v.fs == Fs::Unknown && s.main_device().is_some_and(|dev| !is_written(facts, dev));
    kind.is_foreground() && known && !strange
}

/// Whether its operations waited before a device, for writeback throttling or a tag.
fn waits_before_a_device(table: &Table, id: VictimId) -> bool {
    let phases =
        || table.rows_of(id, Selection::default()).into_iter().filter_map(|row| table.phase(row.chain));
    phases().any(|phase| phase == Phase::Reason(Reason::WritebackThrottle) || phase == Phase::NoTag)
}

/// The device that kernel workers wrote to most. A sync(2) that has not ended may have no completed request of its own.
fn most_written(facts: &Facts) -> Option<DevId> {
    let mut written = BTreeMap::<DevId, Bytes>::new();
    let is_write =
        |key: &CellKey| matches!(Class::of(key.op, key.flags), Class::SyncWrite | Class::Background);
    let by_workers = |key: &CellKey| is_write(key) && facts.tasks.name(key.task) == WORKERS;
    for (key, phases) in facts.cells.iter().filter(|(key, _)| by_workers(key)) {
        *written.entry(key.dev).or_default() += phases.bytes;
    }
    written.into_iter().max_by_key(|(_, bytes)| *bytes).map(|(dev, _)| dev)
}

fn is_written(facts: &Facts, dev: DevId) -> bool {
    facts.device(dev).is_none_or(|d| {
        let count = |c: Class| d.requests[c.index()].count + d.bios[c.index()].phases.count;
        [Class::SyncWrite, Class::Background, Class::Flush].into_iter().any(|c| count(c) > 0)
    })
}

/// Wanted victims as groups. Victims that differ only in that no event named the file system are one group.
fn groups(facts: &Facts, wanted: impl Fn(VictimId, &Victim, &Sums) -> bool) -> Vec<Group> {
    let table = &facts.waits;
    let mut together = BTreeMap::<(&str, Asked, DevId), Vec<(VictimId, &Victim)>>::new();
    for (id, victim, _) in table.victims().filter(|(id, v, s)| wanted(*id, v, s)) {
        together.entry((&victim.task, victim.asked, victim.dev)).or_default().push((id, victim));
    }
    type Together<'a> = ((&'a str, Asked, DevId), Vec<(VictimId, &'a Victim)>);
    let group = |((task, asked, dev), members): Together| {
        let victims: Vec<VictimId> = members.iter().map(|(id, _)| *id).collect();
        let sums = || victims.iter().map(|id| table.of(*id).1);
        let fs = members.iter().map(|(_, v)| v.fs).find(|fs| *fs != Fs::Unknown).unwrap_or_default();
        let op = match asked {
            Asked::Operation(kind) => Some(OpKey { kind, fs, dev }),
            _ => None,
        };
        let main = sums().max_by_key(|s| s.ns).and_then(|s| s.main_device());
        let copies = matches!(asked, Asked::Operation(kind) if kind.copies());
        let of_sync = || most_written(facts).filter(|_| asked == Asked::Operation(SYNC));
        let mut group = Group {
            task: task.into(),
            dev: main.or_else(of_sync).unwrap_or(dev),
            class: asked.class(),
            op,
            operations: sums().map(|s| s.ops).sum(),
            lost: Nanos(sums().map(|s| s.lost).sum()),
            unknown: Nanos(sums().map(|s| s.unknown).sum()),
            longest: sums().map(|s| s.max).max().unwrap_or_default(),
            tail: Slowest::of(table, &victims),
            all: TailTime::of(table, &victims, Selection::default()),
            victims,
        };
        if copies && mostly_reads(facts, &group) {
            group.class = Class::Read;
        }
        group
    };
    together.into_iter().map(group).collect()
}

/// Whether most of the time that a group's copies wait for devices is for pages being read. What they write stays in the page cache.
fn mostly_reads(facts: &Facts, group: &Group) -> bool {
    let rows = group.rows(&facts.waits, Selection::default());
    let of_devices = || rows.iter().filter(|row| row.reason == Reason::Device);
    let all: Nanos = of_devices().map(|row| row.time).sum();
    let read = of_devices().filter(|row| row.waits.has(Wait::PageRead)).map(|row| row.time).sum();
    is_most(read, all)
}

/// Whether `part` is more than half of `whole`. Either may be close to the largest number, so neither is doubled.
fn is_most(part: Nanos, whole: Nanos) -> bool {
    part > whole.since(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_is_more_than_half_however_long() {
        let of = |part, whole| is_most(Nanos(part), Nanos(whole));
        assert!(of(6, 10) && of(6, 11) && of(1, 0));
        assert!(!of(5, 10) && !of(5, 11) && !of(0, 0));
        assert!(of(u64::MAX / 2 + 1, u64::MAX) && !of(u64::MAX / 2, u64::MAX));
    }
}
