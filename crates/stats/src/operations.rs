//! Operations by kind, file system and device: how long they took, and where the time of the slow ones went.
//!
//! Where their time went is in the table of waits; the slowest few are kept whole here.

use crate::active::{self, Active};
use crate::blocks::InOrder;
use crate::by_task::ByTask;
use crate::distribution::Distribution;
use crate::outside::OutsideStats;
use crate::sampled::SampledOperation;
use life::{Names, Request};
use operation::{
    Account, Freed, History, Kind, Operation, OperationObserver, Outside, ProcessTree, Purpose, SentFor,
};
use std::collections::{BTreeMap, BTreeSet};
use trace::{Bytes, DevId, Fs, Nanos, Tid};
use waits::{Accounts, Table};

/// Operations of one kind on one file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpKey {
    /// What they were.
    pub kind: Kind,
    /// On which kind of file system.
    pub fs: Fs,
    /// On which device that lies; 0 where not known.
    pub dev: DevId,
}

/// What is known of them.
#[derive(Debug, Default)]
pub struct OpStats {
    /// How long they took.
    pub latency: Distribution,
    /// Bytes that reads and writes moved.
    pub bytes: u64,
    /// How many failed.
    pub errors: u64,
    /// How many of them failed because of what they were to be stored on, by number ([`OF_STORAGE`]).
    pub of_storage: BTreeMap<i64, u64>,
    /// The slowest of them, by task.
    pub slowest: ByTask,
    /// Their time by the device of the requests they waited for.
    devices: BTreeMap<DevId, Nanos>,
}

/// Errors that a file system or its device has, and no program: their numbers (Linux, include/uapi/asm-generic/errno.h), names, and what
/// they say.
pub const OF_STORAGE: [(i64, &str, &str); 5] = [
    (5, "EIO", "an error of the device"),
    (28, "ENOSPC", "no space left"),
    (30, "EROFS", "the file system is read-only"),
    (117, "EUCLEAN", "the file system is damaged"),
    (122, "EDQUOT", "a quota is used up"),
];

impl OpStats {
    fn record(&mut self, o: &Operation, account: Account, names: &Names, history: &History) {
        let total = o.total();
        self.latency.record(total.0);
        if o.result < 0 {
            self.errors += 1;
            if OF_STORAGE.iter().any(|(number, ..)| *number == -o.result) {
                *self.of_storage.entry(-o.result).or_default() += 1;
            }
        } else if o.moves_bytes() {
            self.bytes = self.bytes.saturating_add(o.result as u64);
        }
        let devices = &mut self.devices;
        account.each(|node, _, _, request| {
            if let Some(entry) = request {
                *devices.entry(entry.done.dev()).or_default() += node.length();
            }
        });
        if self.slowest.wants(o.task, total) {
            self.slowest.add(SampledOperation::new(*o, account, names, history));
        }
    }

    /// The device whose requests they waited for most.
    pub fn main_device(&self) -> Option<DevId> {
        self.devices.iter().max_by_key(|(_, time)| **time).map(|(dev, _)| *dev)
    }
}

/// Whose data it was that another task sent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// These tasks', by name, `, ` between them.
    Tasks(String),
    /// Some task's of this control group (its folder's inode): it wrote before the recording.
    Group(u64),
    /// Not known: it was written before the recording, or through a mapping.
    Unknown,
}

impl Whose {
    /// By name.
    pub fn of(sent: &SentFor, names: &Names) -> Whose {
        let mut who: Vec<&str> = sent.tasks.iter().map(|w| names.text(*w)).collect();
        who.sort_unstable();
        match (who.is_empty(), sent.cgroup) {
            (false, _) => Whose::Tasks(who.join(", ")),
            (true, Some(group)) => Whose::Group(group),
            (true, None) => Whose::Unknown,
        }
    }
}

/// What was sent for a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// How many requests.
    pub requests: u64,
    /// The bytes moved.
    pub bytes: Bytes,
}

/// All operations.
#[derive(Debug, Default)]
pub struct Operations {
    /// By kind, file system and device.
    pub groups: BTreeMap<OpKey, OpStats>,
    /// Time between them.
    pub outside: OutsideStats,
    /// What some tasks sent for others, by the disk, what it was, and for whom.
    pub sent_for: BTreeMap<(DevId, Purpose, Whose), Sent>,
    /// What journals wrote, by the disk and the task whose commit each was.
    pub committed: BTreeMap<(DevId, Box<str>), Bytes>,
    /// Files whose numbers may have been used again.
    pub freed: Freed,
    /// Processes of each task by name, as far as they are known.
    processes: BTreeMap<Box<str>, BTreeMap<Tid, Active>>,
    /// Control groups of these.
    cgroups: BTreeMap<Tid, Box<str>>,
    /// Who started these while recording.
    parents: BTreeMap<Tid, (Tid, Box<str>)>,
    /// Those of these, and of who started them, that have ended.
    ended: BTreeSet<Tid>,
    /// The longest of each group that was over, from the first one on that is not.
    longest_over: Option<BTreeMap<OpKey, u64>>,
    /// Calls that had nothing to do with storage: pipes, sockets, terminals.
    pub not_storage: u64,
    /// Operations of which no group was kept.
    pub left_out: u64,
    /// Their latencies in order, if that was asked for.
    pub(crate) in_order: Option<InOrder>,
    /// Who waited, for what, because of whom.
    pub(crate) waits: Table,
    accounts: Accounts,
    /// Tasks whose slowest operations are kept by themselves, of all groups.
    places: usize,
}

/// Groups that are kept at most; a host has some dozen file systems.
const MAX_GROUPS: usize = 1024;

/// Tasks whose slowest operations are kept by themselves: of each a hundred kilobytes.
const MOST_PLACES: usize = 256;

/// Processes of one name that are remembered; a server has some hundred.
const MOST_PROCESSES: usize = 1024;

/// Processes whose control group is remembered: the largest `pid_max` of small machines.
const MOST_IN_CGROUPS: usize = 1 << 16;

/// What has been out for so many times the longest that was over is more than the next longest.
pub const STUCK: u64 = 2;

impl Operations {
    /// The processes that did operations under a task's name; nothing where they are too many to be told.
    pub fn processes_of(&self, task: &str) -> impl Iterator<Item = Tid> + '_ {
        let known = self.processes.get(task).filter(|all| all.len() < MOST_PROCESSES);
        known.into_iter().flat_map(|all| all.keys().copied())
    }

    /// A process of which two tasks are threads at the same time: whoever stops one stops the other.
    pub fn process_of_both(&self, one: &str, other: &str) -> Option<Tid> {
        active::in_both(self.processes.get(one)?, self.processes.get(other)?)
    }

    /// How long a task's first thread waited for a processor between its operations; of several processes the one that waited longest.
    pub fn kept_from_running(&self, task: &str) -> Nanos {
        self.processes_of(task).map(|process| self.outside.of(process)).max().unwrap_or_default()
    }

    /// Those of these that did operations while the one did that was at it for longest, that one first; none where there are no others.
    pub fn at_once(&self, task: &str) -> Vec<Tid> {
        self.processes.get(task).map_or(vec![], active::at_once)
    }

    /// Names of tasks that did operations, as far as their processes are known.
    pub fn tasks(&self) -> impl Iterator<Item = &str> {
        self.processes.keys().map(|name| &**name)
    }

    /// The control group that a process was in when it did its first operation, by the folder's path below the hierarchy's root.
    pub fn cgroup(&self, process: Tid) -> Option<&str> {
        self.cgroups.get(&process).map(|path| &**path)
    }

    /// The process that started this one while recording, and what it is called.
    pub fn parent(&self, process: Tid) -> Option<(Tid, &str)> {
        self.parents.get(&process).map(|(parent, name)| (*parent, &**name))
    }

    /// Whether a process ended while recording.
    pub fn has_ended(&self, process: Tid) -> bool {
        self.ended.contains(&process)
    }

    /// At the end of a recording.
    pub(crate) fn note_parents(&mut self, tree: &ProcessTree, names: &Names) {
        for process in self.processes.values().flat_map(|all| all.keys().copied()) {
            let parent = tree.parent(process);
            self.ended.extend([Some(process), parent].into_iter().flatten().filter(|p| tree.has_ended(*p)));
            if let Some(parent) = parent {
                self.parents.insert(process, (parent, names.text(names.of(parent)).into()));
            }
        }
    }

    /// Whether an operation that is not over says something all the same: its task has not gone on for most of its time, and for more than
    /// twice as long as any of its kind took that was over, or if there was none, any of any kind that a task waits for. Any recording ends
    /// in the middle of some, of which one may be the longest, and one that goes on is only not done yet.
    fn is_stuck(&mut self, o: &Operation, dev: DevId, asleep: Nanos) -> bool {
        let groups = &self.groups;
        let of_each = || groups.iter().map(|(key, stats)| (*key, stats.latency.max())).collect();
        let over = &*self.longest_over.get_or_insert_with(of_each);
        let longest =
            |is: &dyn Fn(&OpKey) -> bool| over.iter().filter(|(key, _)| is(key)).map(|(_, ns)| *ns).max();
        let of_kind = || longest(&|key| key.kind == o.kind && (key.dev == dev || dev == DevId(0)));
        let of_any = || longest(&|key| key.kind.is_foreground());
        let most = o.total().0 / 2;
        asleep.0 > most && asleep.0 / STUCK > of_kind().or_else(of_any).unwrap_or(0)
    }

    fn note_process(&mut self, o: &Operation, names: &Names, history: &History) {
        let (process, name) = (o.process.unwrap_or(o.tid), names.text(o.task));
        let active = Active { from: o.from, to: o.to };
        let has_room = self.processes.len() < MAX_GROUPS;
        let is_new = match self.processes.get_mut(name) {
            Some(all) => match all.get_mut(&process) {
                Some(known) => {
                    known.to = known.to.max(o.to);
                    false
                }
                None => all.len() < MOST_PROCESSES && all.insert(process, active).is_none(),
            },
            None if has_room => {
                self.processes.insert(name.into(), BTreeMap::from([(process, active)])).is_none()
            }
            None => false,
        };
        // Under another name it may be known already: what it was in first holds.
        let has_room = is_new && self.cgroups.len() < MOST_IN_CGROUPS;
        if let Some(path) = history.cgroups.of(process).filter(|_| has_room) {
            self.cgroups.entry(process).or_insert_with(|| path.into());
        }
    }

    /// Whose data flushers wrote to a device, the most first.
    pub fn writers(&self, dev: DevId) -> Vec<(&str, Bytes)> {
        let mut all: Vec<_> = self
            .sent_for
            .iter()
            .filter_map(|((d, purpose, whose), sent)| match whose {
                Whose::Tasks(who) if (*d, *purpose) == (dev, Purpose::FileData) => {
                    Some((who.as_str(), sent.bytes))
                }
                _ => None,
            })
            .collect();
        all.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        all
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.groups.values().map(|g| g.latency.count()).sum()
    }
}

impl OperationObserver for Operations {
    fn operation(&mut self, o: &Operation, account: Account, names: &Names, history: &History) {
        if !o.is_storage {
            self.not_storage += 1;
            return;
        }
        // Where no file system named the device, the requests that it waited for do. What waited for none stays
        // apart: it may be about any device, also one that was not recorded.
        let named = Some(o.dev).filter(|dev| *dev != DevId(0));
        let dev = named.or_else(|| account.own_device(o.tid)).unwrap_or_default();
        if o.still_out.is_some_and(|asleep| !self.is_stuck(o, dev, asleep)) {
            return;
        }
        self.accounts.add(&mut self.waits, o, dev, &account, names, history);
        self.note_process(o, names, history);
        let key = OpKey { kind: o.kind, fs: o.fs, dev };
        if self.groups.len() >= MAX_GROUPS && !self.groups.contains_key(&key) {
            self.left_out += 1;
            return;
        }
        if let Some(in_order) = &mut self.in_order {
            in_order.operation(key, o.total());
        }
        let group = self.groups.entry(key).or_default();
        if self.places < MOST_PLACES && group.slowest.give_place(o.task) {
            self.places += 1;
        }
        group.record(o, account, names, history);
    }

    fn sent_for(&mut self, request: &Request, sent: &SentFor, bytes: Bytes, names: &Names) {
        let key = (request.dev, sent.purpose, Whose::of(sent, names));
        if self.sent_for.len() < MAX_GROUPS || self.sent_for.contains_key(&key) {
            let sum = self.sent_for.entry(key).or_default();
            sum.requests += 1;
            sum.bytes += bytes;
        }
        let of_journal = request.owner.filter(|owner| owner.journal && sent.purpose == Purpose::Journal);
        let Some(owner) = of_journal.map(|owner| Box::from(names.text(owner.task))) else { return };
        let key = (request.dev, owner);
        if self.committed.len() < MAX_GROUPS || self.committed.contains_key(&key) {
            *self.committed.entry(key).or_default() += bytes;
        }
    }

    fn outside(&mut self, o: &Outside) {
        self.outside.record(o);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{Call, Tid};

    /// A signal or a descriptor that would block is no storage's error.
    #[test]
    fn errors_of_storage_are_counted_by_number() {
        let mut stats = OpStats::default();
        for result in [4096, -28, -4, -28, -11, -5] {
            let (from, to) = (Nanos(1), Nanos(2));
            let o = Operation {
                kind: Kind::Call(Call::Write),
                tid: Tid(7),
                process: None,
                task: life::TaskName(0),
                from,
                to,
                fd: None,
                fs: Fs::Ext4,
                dev: DevId(8 << 20),
                inode: 1,
                result,
                told: false,
                is_storage: true,
                still_out: None,
                begun_before: false,
            };
            let account = Account { from, to, nodes: vec![], hops: vec![] };
            stats.record(&o, account, &Names::default(), &History::default());
        }
        assert_eq!((stats.errors, stats.bytes, stats.latency.count()), (5, 4096, 6));
        assert_eq!(stats.of_storage, BTreeMap::from([(5, 1), (28, 2)]));
    }
}
