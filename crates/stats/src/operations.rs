//! Operations by kind, file system and device: their latencies, and the slowest of them.
//!
//! The table of waits shows where their time went; only the slowest few are kept in full here.

use crate::active::{self, Active};
use crate::blocks::InOrder;
use crate::by_task::ByTask;
use crate::distribution::Distribution;
use crate::failed::{Failed, OF_STORAGE};
use crate::not_over::NotOver;
use crate::op_key::OpKey;
use crate::outside::OutsideStats;
use crate::sampled::SampledOperation;
use crate::whose::{Whose, WrittenBack};
use ledger::Reason;
use life::{Names, Request};
use operation::{
    Account, Freed, History, Operation, OperationObserver, Outside, ProcessTree, Purpose, SentFor,
};
use std::collections::{BTreeMap, BTreeSet};
use trace::{Bytes, DevId, Nanos, Tid};
use waits::{Accounts, Asked, Row, Selection, Table};

/// Statistics of a group of operations.
#[derive(Debug, Default)]
pub struct OpStats {
    /// Latencies in ns.
    pub latency: Distribution,
    /// Bytes that reads and writes moved.
    pub bytes: u64,
    /// Number of operations that failed.
    pub errors: u64,
    /// Operations that failed because of their storage, by errno ([`OF_STORAGE`]).
    pub of_storage: BTreeMap<i64, Failed>,
    /// The slowest operations, by task.
    pub slowest: ByTask,
    /// Their time by the device of the requests they waited for.
    devices: BTreeMap<DevId, Nanos>,
}

impl OpStats {
    fn record(&mut self, o: &Operation, account: Account, names: &Names, history: &History) {
        let total = o.total();
        self.latency.record(total.0);
        if o.result < 0 {
            self.errors += 1;
            if OF_STORAGE.iter().any(|(number, ..)| *number == -o.result) {
                self.of_storage.entry(-o.result).or_default().add(names.text(o.task));
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

    /// The device whose requests they waited for most; `None` if they waited for none.
    pub fn main_device(&self) -> Option<DevId> {
        self.devices.iter().max_by_key(|(_, time)| **time).map(|(dev, _)| *dev)
    }
}

/// Requests that were sent for a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Number of requests.
    pub requests: u64,
    /// Bytes that they moved.
    pub bytes: Bytes,
}

/// The operations of a recording.
#[derive(Debug, Default)]
pub struct Operations {
    /// Statistics by kind, file system and device.
    pub groups: BTreeMap<OpKey, OpStats>,
    /// Time between operations.
    pub outside: OutsideStats,
    /// What tasks sent for others, by disk, kind of data, and owner.
    pub sent_for: BTreeMap<(DevId, Purpose, Whose), Sent>,
    /// Bytes that journals wrote, by disk and the task that owns the commit.
    pub committed: BTreeMap<(DevId, Box<str>), Bytes>,
    /// The longest operation that is not counted because it was not over.
    pub not_over: Option<NotOver>,
    /// Files whose inode numbers may have been reused.
    pub freed: Freed,
    /// Processes of each task by name, if known, with the time in which they were active.
    processes: BTreeMap<Box<str>, BTreeMap<Tid, Active>>,
    /// Control groups of these processes.
    cgroups: BTreeMap<Tid, Box<str>>,
    /// Processes that started these during the recording, with their names.
    parents: BTreeMap<Tid, (Tid, Box<str>)>,
    /// Those of these processes and their parents that have exited.
    ended: BTreeSet<Tid>,
    /// Longest finished operation of each group, computed at the first unfinished one.
    longest_over: Option<BTreeMap<OpKey, u64>>,
    /// Number of calls that had nothing to do with storage: pipes, sockets, terminals.
    pub not_storage: u64,
    /// Number of operations without a group, because there were too many groups.
    pub left_out: u64,
    /// Latencies in order, if [`Analysis::in_order`](crate::Analysis::in_order) was used.
    pub(crate) in_order: Option<InOrder>,
    /// Their table of waits.
    pub(crate) waits: Table,
    accounts: Accounts,
    /// Number of tasks with their own lists of slowest operations, over all groups.
    places: usize,
}

/// Largest number of groups; a host has a few dozen file systems.
const MAX_GROUPS: usize = 1024;

/// Largest number of tasks with their own lists of slowest operations, of about 100 KB each.
const MOST_PLACES: usize = 256;

/// Largest number of processes remembered for one name; a server has a few hundred.
const MOST_PROCESSES: usize = 1024;

/// Largest number of processes whose control group is remembered: the largest `pid_max` of small machines.
const MOST_IN_CGROUPS: usize = 1 << 16;

/// An unfinished operation is stuck if its task slept longer than the longest finished one, times this.
pub const STUCK: u64 = 2;

impl Operations {
    /// Processes that did operations under a task's name; none if there are too many to name them.
    pub fn processes_of(&self, task: &str) -> impl Iterator<Item = Tid> + '_ {
        let known = self.processes.get(task).filter(|all| all.len() < MOST_PROCESSES);
        known.into_iter().flat_map(|all| all.keys().copied())
    }

    /// Time in which any process of a task was active; `None` if there are too many to tell.
    pub fn active(&self, task: &str) -> Option<Nanos> {
        self.processes.get(task).filter(|all| all.len() < MOST_PROCESSES).map(active::in_all)
    }

    /// A process that has threads of both names at the same time: stopping one stops the other.
    pub fn process_of_both(&self, one: &str, other: &str) -> Option<Tid> {
        active::in_both(self.processes.get(one)?, self.processes.get(other)?)
    }

    /// Time that a task's first thread waited for a CPU between its operations; among several processes the longest.
    pub fn kept_from_running(&self, task: &str) -> Nanos {
        self.processes_of(task).map(|process| self.outside.of(process)).max().unwrap_or_default()
    }

    /// The processes with this name that were active together with the longest active one, which is first; empty if there is only one.
    pub fn at_once(&self, task: &str) -> Vec<Tid> {
        self.processes.get(task).map_or(vec![], active::at_once)
    }

    /// Names of tasks that did operations and whose processes are known.
    pub fn tasks(&self) -> impl Iterator<Item = &str> {
        self.processes.keys().map(|name| &**name)
    }

    /// The control group of a process at its first operation, as a path below the hierarchy's root.
    pub fn cgroup(&self, process: Tid) -> Option<&str> {
        self.cgroups.get(&process).map(|path| &**path)
    }

    /// The process that started this one during the recording, and its name.
    pub fn parent(&self, process: Tid) -> Option<(Tid, &str)> {
        self.parents.get(&process).map(|(parent, name)| (*parent, &**name))
    }

    /// Whether a process exited during the recording.
    pub fn has_ended(&self, process: Tid) -> bool {
        self.ended.contains(&process)
    }

    /// Adds parents of processes, at the end of a recording.
    pub(crate) fn note_parents(&mut self, tree: &ProcessTree, names: &Names) {
        for process in self.processes.values().flat_map(|all| all.keys().copied()) {
            let parent = tree.parent(process);
            self.ended.extend([Some(process), parent].into_iter().flatten().filter(|p| tree.has_ended(*p)));
            if let Some(parent) = parent {
                self.parents.insert(process, (parent, names.text(names.of(parent)).into()));
            }
        }
    }

    /// Whether an unfinished operation is evidence: its task slept for more than half of its time, and for more than twice as long as any
    /// finished one of its kind took; if there was none, any finished foreground one. Any recording ends in the middle of some operations,
    /// one of which may be the longest, and an operation that makes progress is just not finished.
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

    /// How long an unfinished sync waited in all: for one thing after another, none of which its caller sees. `None` for other operations,
    /// and if its task has finished no such sync here: then nothing says how long one takes, and it may be the one of a job that writes.
    fn waited(&self, o: &Operation, dev: DevId, account: &Account, names: &Names) -> Option<Nanos> {
        if !o.kind.makes_safe() {
            return None;
        }
        let (asked, task) = (Asked::Operation(o.kind), names.text(o.task));
        let mut finished = self.waits.victims().map(|(_, v, _)| v);
        let has_finished = finished.any(|v| v.asked == asked && v.dev == dev && *v.task == *task);
        let ran = account.of(Reason::OnCpu) + account.of(Reason::WaitCpu);
        has_finished.then(|| o.total().since(ran))
    }

    /// Whether an operation that stood all along was mostly held up by other tasks. How long others took says nothing about it then: no
    /// operation of the recording took longer, and a job that stands behind its own data is not held up.
    fn was_held_up(o: &Operation, dev: DevId, account: &Account, names: &Names, history: &History) -> bool {
        if !o.begun_before {
            return false;
        }
        let mut alone = Table::default();
        Accounts::default().add(&mut alone, o, dev, account, names, history);
        let rows = alone.victims().flat_map(|(victim, ..)| alone.rows_of(victim, Selection::default()));
        let is_other = |row: &Row| alone.culprit_of(row.culprit).is_another_than(names.text(o.task));
        let held_up: Nanos = rows.filter(is_other).map(|row| row.time).sum();
        held_up.0 > o.total().0 / 2
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
        // It may be known under another name: the group it was in first counts.
        let has_room = is_new && self.cgroups.len() < MOST_IN_CGROUPS;
        if let Some(path) = history.cgroups.of(process).filter(|_| has_room) {
            self.cgroups.entry(process).or_insert_with(|| path.into());
        }
    }

    /// Tasks whose data flushers wrote to a device, with bytes, the largest first.
    pub fn writers(&self, dev: DevId) -> Vec<(&str, Bytes)> {
        self.owners(dev, Purpose::FileData)
    }

    /// How much of files' data others sent to a device.
    pub fn written_back(&self, dev: DevId) -> WrittenBack {
        let of_files = self.sent_for.iter().filter(|((d, of, _), _)| (*d, *of) == (dev, Purpose::FileData));
        of_files.fold(WrittenBack::default(), |sum, ((.., whose), sent)| sum.with(whose, sent.bytes))
    }

    /// Tasks for which others sent such requests to a device, with bytes, the largest first.
    pub fn owners(&self, dev: DevId, of: Purpose) -> Vec<(&str, Bytes)> {
        let mut all = BTreeMap::<&str, Bytes>::new();
        for ((d, purpose, whose), sent) in &self.sent_for {
            if let (Whose::Tasks(who) | Whose::Probably(who), true) = (whose, (*d, *purpose) == (dev, of)) {
                *all.entry(who).or_default() += sent.bytes;
            }
        }
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        all
    }

    /// Whether there are no operations.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Number of operations.
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
        // If no file system named the device, the requests that it waited for do. An operation that waited for none
        // stays separate: it may be about any device, including one that was not recorded.
        let named = Some(o.dev).filter(|dev| *dev != DevId(0));
        let dev = named.or_else(|| account.own_device(o.tid)).unwrap_or_default();
        if let Some(asleep) = o.still_out {
            let waited = self.waited(o, dev, &account, names).unwrap_or_default();
            let counts = self.is_stuck(o, dev, asleep.max(waited))
                || Self::was_held_up(o, dev, &account, names, history);
            if !counts {
                self.not_over = NotOver::longer(self.not_over.take(), o, dev, names);
                return;
            }
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
    use operation::Kind;
    use trace::{Call, Fs, Tid};

    /// A signal, or a descriptor that would block, is not an error of storage.
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
        let failed: Vec<(i64, u64)> = stats.of_storage.iter().map(|(number, f)| (*number, f.count)).collect();
        assert_eq!(failed, [(5, 1), (28, 2)]);
    }
}
