//! Builds operations by hand, for tests of causes that are about what operations waited for.
//!
//! Each operation is described by what it slept for and where that time passed, in ms; the rest of it is on a processor.
//! Example: `built.slow(fsync, 10, &[(Wait::JournalCommit, Reason::Device, 8)])` is an fsync of 10 ms, 8 of them in the device.

use crate::case::Case;
use crate::trace_builder::TraceBuilder;
use crate::verdict::Verdict;
use device::{Behind, Holder, Split};
use evidence::{Interval, Samples, System};
use ledger::Reason;
use life::{Class, Contention, Holding, Io, Names, Op, Request, Timeline};
use operation::{
    Account, Done, Entry, History, Kind, Node, Operation, OperationObserver, Outside, Part, Purpose, Wait,
};
use stats::{Facts, Focus, Interfering, Operations, SampledOperation, Sent, Whose};
use std::collections::BTreeMap;
use trace::{Bytes, Cpu, DevId, Flags, Fs, Nanos, Quality, TextId, Tid};

/// The device number of sda.
const DISK: DevId = DevId(8 << 20);
const MS: u64 = 1_000_000;
/// The default name of the task that waits; no remedy can use it.
pub const READER: &str = "(reader)";
/// The ID of the only stack.
const STACK: TextId = TextId(0);

/// A recording of operations that is being built.
#[derive(Default)]
pub struct OpBuilder {
    pub facts: Facts,
    names: Names,
    tasks: Vec<String>,
    built: Vec<(Operation, Account)>,
    system: System,
    samples: Samples,
    now: u64,
    /// What operations sleep for while a request of theirs is in flight; direct I/O if not set.
    wait: Option<Wait>,
    /// The file system of the next operations; ext4 if not set.
    fs: Option<Fs>,
    /// The task of the next operations; the reader if not set.
    by: Option<String>,
}

impl OpBuilder {
    /// Adds this many operations of 0.1 ms, so that slow ones stand out.
    pub fn quick(&mut self, kind: Kind, count: u64) -> &mut Self {
        for _ in 0..count {
            self.add(kind, MS / 10, &[], None);
        }
        self
    }

    /// Adds an operation of `ms` milliseconds, with its sleeps: wait, reason, milliseconds.
    pub fn slow(&mut self, kind: Kind, ms: u64, sleeps: &[(Wait, Reason, u64)]) -> &mut Self {
        self.add(kind, ms * MS, sleeps, None);
        self
    }

    /// Adds an operation of `ms`, of which `work_ms` pass in a work item that it waits for.
    pub fn slow_by_worker(
        &mut self,
        kind: Kind,
        ms: u64,
        wait: Wait,
        reason: Reason,
        work_ms: u64,
    ) -> &mut Self {
        let (from, to) = (Nanos(self.now), Nanos(self.now + ms * MS));
        let done = from + Nanos(work_ms * MS);
        let node = |part, depth, from, to| Node { part, depth, from, to };
        let work = Part::Work { function: STACK, worker: Tid(7), queued: None };
        let nodes = vec![
            node(Part::Wait { wait, stack: None }, 0, from, done),
            node(work, 1, from, done),
            node(Part::Leaf(reason), 2, from, done),
            node(Part::Leaf(Reason::Sleep), 0, done, to),
        ];
        self.now = to.0 + MS;
        let account = Account { from, to, nodes, hops: vec![] };
        assert_eq!(account.imbalance(), None);
        let operation = self.operation(kind, from, to);
        self.tell(operation, account);
        self
    }

    /// Like `slow`, with this stack in each sleep: functions, the innermost first.
    pub fn slow_in(&mut self, kind: Kind, ms: u64, sleeps: &[(Wait, Reason, u64)], stack: &str) -> &mut Self {
        // The recording's own texts are not available here: the operation is sampled once more, with its text.
        let mut sampled = self.add(kind, ms * MS, sleeps, Some(STACK));
        sampled.texts = BTreeMap::from([(STACK, stack.to_string())]);
        self.keep(sampled)
    }

    /// Like `slow`, sampled once more with what a recording would know besides: who ran meanwhile, who woke it.
    pub fn slow_with(
        &mut self,
        kind: Kind,
        ms: u64,
        sleeps: &[(Wait, Reason, u64)],
        know: impl FnOnce(&mut SampledOperation),
    ) -> &mut Self {
        let mut sampled = self.add(kind, ms * MS, sleeps, None);
        know(&mut sampled);
        self.keep(sampled)
    }

    fn keep(&mut self, sampled: SampledOperation) -> &mut Self {
        let mut groups = self.facts.operations.groups.iter_mut();
        let group = groups.find(|(key, _)| key.kind == sampled.operation.kind);
        group.expect("added before").1.slowest.add(sampled);
        self
    }

    fn add(
        &mut self,
        kind: Kind,
        total: u64,
        sleeps: &[(Wait, Reason, u64)],
        stack: Option<TextId>,
    ) -> SampledOperation {
        let (from, mut at, mut nodes) = (self.now, self.now, vec![]);
        for (wait, reason, ms) in sleeps.iter().filter(|(.., ms)| *ms > 0) {
            let to = at + ms * MS;
            let node = |part, depth| Node { part, depth, from: Nanos(at), to: Nanos(to) };
            nodes.push(node(Part::Wait { wait: *wait, stack }, 0));
            nodes.push(node(Part::Leaf(*reason), 1));
            at = to;
        }
        let to = (from + total).max(at);
        if to > at {
            nodes.push(Node { part: Part::Leaf(Reason::OnCpu), depth: 0, from: Nanos(at), to: Nanos(to) });
        }
        self.now = to + MS;
        let account = Account { from: Nanos(from), to: Nanos(to), nodes, hops: vec![] };
        assert_eq!(account.imbalance(), None);
        let operation = self.operation(kind, Nanos(from), Nanos(to));
        let history = History::default();
        self.tell(operation, account.clone());
        SampledOperation::new(operation, account, &self.names, &history)
    }

    fn tell(&mut self, operation: Operation, account: Account) {
        self.facts.operations.operation(&operation, account.clone(), &self.names, &History::default());
        self.built.push((operation, account));
    }

    /// The next operations sleep for this while a request of theirs is in flight.
    pub fn waiting_for(&mut self, wait: Wait) -> &mut Self {
        self.wait = Some(wait);
        self
    }

    /// The thread ID of the task of this name.
    fn task(&mut self, name: &str) -> Tid {
        let at = self.tasks.iter().position(|known| known == name).unwrap_or_else(|| {
            self.tasks.push(name.to_string());
            self.tasks.len() - 1
        });
        let tid = Tid(1000 + at as u32);
        self.names.rename(tid, name.as_bytes());
        tid
    }

    /// The ID by which devices know a task's requests of a kind.
    pub fn holder(&mut self, task: &str, io: Io) -> Holder {
        let tid = self.task(task);
        let name = self.names.of(tid);
        self.names.holder(Holding { task: name, owner: name, io })
    }

    /// One request to sda of another task is for this much of somebody's.
    pub fn sent_for(&mut self, whose: Whose, purpose: Purpose, bytes: Bytes) -> &mut Self {
        let key = (DISK, purpose, whose);
        self.facts.operations.sent_for.insert(key, Sent { requests: 1, bytes });
        self
    }

    /// Between two operations, their task waits for a processor for this many milliseconds.
    pub fn kept_from_running(&mut self, ms: u64) -> &mut Self {
        let (from, wait_cpu) = (Nanos(self.now), Nanos(ms * MS));
        self.now += wait_cpu.0;
        self.facts.operations.outside(&Outside { tid: Tid(100), from, to: Nanos(self.now), wait_cpu });
        self
    }

    /// Adds an operation whose time is that of a read on sda, with `ahead` requests of `task` ahead of it, `each` bytes
    /// large and all completed before it.
    pub fn behind(&mut self, kind: Kind, ms: u64, ahead: u32, task: &str, each: Bytes) -> &mut Self {
        self.behind_all(READER, kind, ms, &[(task, ahead)], each)
    }

    /// The same by the task `by`, behind requests of several tasks in turn.
    pub fn behind_all(
        &mut self,
        by: &str,
        kind: Kind,
        ms: u64,
        these: &[(&str, u32)],
        each: Bytes,
    ) -> &mut Self {
        let ahead: u32 = these.iter().map(|(_, n)| n).sum();
        let turn = ms * MS / u64::from(ahead + 1);
        let mut split = Split { known: true, ..Split::default() };
        for (place, (task, n)) in split.behind.iter_mut().zip(these) {
            *place = Behind { holder: self.holder(task, Io::Read), time: Nanos(turn * u64::from(*n)) };
        }
        split.own = Nanos(ms * MS).since(split.total());
        let (beside, served) = ([ahead, 0, 0, 0, 0], [ahead, 0, 0, 0, 0]);
        let contention = Contention { beside, served, split, ..Contention::default() };
        let account = self.read_on_disk(by, ms * MS, |read| read.contention = contention);
        assert_eq!(account.imbalance(), None);
        let mut operation = self.operation(kind, account.from, account.to);
        let tid = self.task(by);
        (operation.tid, operation.task) = (tid, self.names.of(tid));
        let history = History::default();
        self.tell(operation, account.clone());
        let mut sampled = SampledOperation::new(operation, account, &self.names, &history);
        let met = |(task, n): &(&str, u32)| Interfering {
            task: task.to_string(),
            class: Class::Read,
            requests: u64::from(*n),
            bytes: Bytes(each.0 * u64::from(*n)),
        };
        sampled.met.insert(2, these.iter().map(met).collect());
        self.keep(sampled)
    }

    /// Like `inside`, half of the time behind a task's I/O of some kind.
    pub fn behind_io(&mut self, kind: Kind, ms: u64, task: &str, io: Io) -> &mut Self {
        let half = Nanos(ms * MS / 2);
        let mut split = Split { known: true, own: half, ..Split::default() };
        split.behind[0] = Behind { holder: self.holder(task, io), time: half };
        self.inside(kind, split)
    }

    /// Like `inside`, half of the time behind what the journal writes of a task's changes.
    pub fn behind_journal(&mut self, kind: Kind, ms: u64, task: &str) -> &mut Self {
        self.behind_io(kind, ms, task, Io::Journal)
    }

    /// Like `inside`, all of the time behind a task's reads, where the device's own service time is not known.
    pub fn behind_unknown(&mut self, kind: Kind, ms: u64, task: &str) -> &mut Self {
        let mut split = Split::default();
        split.behind[0] = Behind { holder: self.holder(task, Io::Read), time: Nanos(ms * MS) };
        self.inside(kind, split)
    }

    /// Adds an operation whose time is that of a read on sda, split in the device like this.
    pub fn inside(&mut self, kind: Kind, split: Split) -> &mut Self {
        self.on_disk(kind, split.total().0 / 1000, |read| read.contention.split = split)
    }

    /// Adds an operation whose time is that of a synchronous write of the task `sender`, split in the device like this.
    pub fn inside_of(&mut self, kind: Kind, sender: &str, split: Split) -> &mut Self {
        let tid = self.task(sender);
        let task = self.names.of(tid);
        self.on_disk(kind, split.total().0 / 1000, |r| {
            (r.tid, r.task, r.op, r.contention.split) = (tid, task, Op::Write, split);
            r.flags = Flags::SYNC;
        })
    }

    /// Adds an operation of a read on sda that the device finished `late_us` earlier: processor 1 was late to complete it.
    pub fn completed_late(&mut self, kind: Kind, us: u64, late_us: u64) -> &mut Self {
        self.completed_late_on(&[1], kind, us, late_us)
    }

    /// The same, completed by each of these processors.
    pub fn completed_late_on(&mut self, cpus: &[u32], kind: Kind, us: u64, late_us: u64) -> &mut Self {
        let late = Nanos(late_us * 1000);
        self.on_disk(kind, us, |read| read.contention.late = late);
        for device in self.facts.devices.iter_mut().filter(|d| d.id == DISK) {
            cpus.iter().for_each(|cpu| device.completed_on.record(Cpu(*cpu), late));
        }
        self
    }

    /// Adds an operation whose time is that of a read on sda, changed by `such`.
    pub fn on_disk(&mut self, kind: Kind, us: u64, such: impl FnOnce(&mut Request)) -> &mut Self {
        let by = self.waiter();
        let account = self.read_on_disk(&by, us * 1000, such);
        let operation = self.operation(kind, account.from, account.to);
        self.tell(operation, account);
        self
    }

    /// The account of an operation that only waits for a read on sda, which is in the device all the time.
    fn read_on_disk(&mut self, by: &str, ns: u64, such: impl FnOnce(&mut Request)) -> Account {
        let (from, to) = (Nanos(self.now), Nanos(self.now + ns));
        self.now = to.0 + MS;
        let time = Timeline {
            queued: Some(from),
            got: Some(from),
            first_issued: Some(from),
            issued: Some(from),
            data_completed: Some(to),
            completed: to,
            ..Timeline::default()
        };
        let tid = self.task(by);
        let task = self.names.of(tid);
        let mut request = Request { dev: DISK, tid, task, time, bytes: Bytes(4096), ..Request::default() };
        such(&mut request);
        let parts = [
            Part::Wait { wait: self.wait.unwrap_or(Wait::DirectIo), stack: None },
            Part::Request(Box::new(Entry::of(Done::Request(request)))),
            Part::Leaf(Reason::Device),
        ];
        let nodes = parts.into_iter().zip(0..).map(|(part, depth)| Node { part, depth, from, to }).collect();
        Account { from, to, nodes, hops: vec![] }
    }

    fn operation(&mut self, kind: Kind, from: Nanos, to: Nanos) -> Operation {
        let tid = self.task(&self.waiter());
        Operation {
            kind,
            tid,
            process: None,
            task: self.names.of(tid),
            from,
            to,
            fd: None,
            fs: self.fs.unwrap_or(Fs::Ext4),
            dev: DISK,
            inode: 12,
            told: false,
            result: 4096,
            is_storage: true,
            still_out: None,
            begun_before: false,
        }
    }

    fn waiter(&self) -> String {
        self.by.clone().unwrap_or_else(|| READER.into())
    }

    /// The next operations are this task's.
    pub fn by(&mut self, task: &str) -> &mut Self {
        self.by = Some(task.into());
        self
    }

    /// The next operations are on this file system; `Unknown` if no event names it.
    pub fn on_fs(&mut self, fs: Fs) -> &mut Self {
        self.fs = Some(fs);
        self
    }

    /// Puts the operations so far into the table of waits.
    fn settle(&mut self) {
        let mut again = Operations::default();
        for (operation, account) in &self.built {
            again.operation(operation, account.clone(), &self.names, &History::default());
        }
        let known = std::mem::take(&mut self.facts.operations);
        self.facts.put_operations(again);
        self.facts.operations = known;
    }

    /// The kinds of the operations in focus.
    pub fn in_focus(&mut self) -> Vec<Kind> {
        self.settle();
        Focus::of(&self.facts).groups.iter().filter_map(|g| Some(g.op?.kind)).collect()
    }

    /// Takes the facts and settings of a recording of block events, beside these operations.
    pub fn over(&mut self, mut recording: TraceBuilder) -> &mut Self {
        let (facts, system) = recording.parts();
        let operations = std::mem::take(&mut self.facts.operations);
        (self.facts, self.system) = (facts, system);
        self.facts.operations = operations;
        self
    }

    /// How often the page cache was dropped during the recording.
    pub fn dropped(&mut self, times: u64) -> &mut Self {
        self.samples.intervals = vec![Interval { dropped: Some(times), ..Interval::default() }];
        self
    }

    /// The verdict of one cause.
    pub fn verdict(&mut self, cause: &str) -> Verdict {
        let verdicts = self.asked(crate::driver::judge);
        verdicts.into_iter().find(|v| v.cause == cause).expect("a known cause")
    }

    /// The answer to a question about the case.
    pub fn asked<T>(&mut self, ask: impl FnOnce(&mut Case) -> T) -> T {
        self.settle();
        let focus = Focus::of(&self.facts);
        // Some events: without any, nothing is claimed.
        let quality = Quality { events: 1000, ..Quality::default() };
        let names = |dev: DevId| if dev == DISK { "sda" } else { "md0" }.to_string();
        let case = Case::new(&self.facts, &focus, &self.system, &quality, &names);
        ask(&mut case.counted(&self.samples))
    }
}
