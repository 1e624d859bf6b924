//! From what tasks did, in order of time, to operations that are over, each with its account.

use crate::account::Account;
use crate::history::{Below, History};
use crate::operation::{Kind, Open, Operation};
use crate::served::{Done, Entry};
use crate::thread::{State, Step, Wake, Work};
use crate::wait::Wait;
use crate::walk::Walk;
use life::{Bio, Names, Op, Request, TaskName};
use rustc_hash::FxHashMap;
use trace::{
    Action, Batch, Call, CommitPhase, Cpu, DevId, Event, Fs, Left, Nanos, Sector, TaskEvent, Tid, What,
};

/// A wake-up belongs to a completion on the same processor if the same task was interrupted and no more time passed.
/// Completions of a whole batch take microseconds each; a softirq may run for 2 ms (`MAX_SOFTIRQ_TIME`).
const SAME_INTERRUPT: Nanos = Nanos(2_000_000);

/// A stack is recorded right behind the switch it belongs to.
const STACK_BEHIND: Nanos = Nanos(1_000_000);

/// Work items, io_uring operations, files and extents that are remembered at most, each.
const MAX_PENDING: usize = 1 << 16;

/// How many batches pass between two looks at what can be forgotten.
const FORGET_EVERY: u32 = 8;

/// The last completion on a processor.
#[derive(Clone, Copy, Debug)]
struct Completion {
    time: Nanos,
    tid: Tid,
    number: u64,
}

/// An operation in io_uring.
#[derive(Clone, Copy, Debug)]
struct Ring {
    from: Nanos,
    tid: Tid,
    kind: Kind,
}

/// The time between two operations of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside {
    /// Whose.
    pub tid: Tid,
    /// The end of the one.
    pub from: Nanos,
    /// The beginning of the other.
    pub to: Nanos,
    /// The part of it in which the task waited for a processor.
    pub wait_cpu: Nanos,
}

/// Who wants to know.
pub trait Over {
    /// An operation is over.
    fn operation(&mut self, o: &Operation, account: Account, names: &Names, history: &History);
    /// A request for a file's data was completed that the flusher had sent; `writers` wrote the data (none: before the
    /// recording).
    fn written_back(&mut self, _request: &Request, _writers: &[TaskName], _names: &Names) {}
    /// A task was between two operations.
    fn outside(&mut self, _outside: &Outside) {}
}

/// A bio that `io_submit` sent.
#[derive(Clone, Copy, Debug)]
struct Aio {
    /// When its turn in the call came.
    from: Nanos,
    fd: Option<i32>,
    fs: Fs,
    dev: DevId,
    inode: u64,
}

/// Follows all tasks.
#[derive(Debug, Default)]
pub struct Watch {
    history: History,
    completions: FxHashMap<Cpu, Completion>,
    queued: FxHashMap<u64, Wake>,
    rings: FxHashMap<u64, Ring>,
    aios: FxHashMap<(DevId, Sector), Aio>,
    /// What is known of file descriptors, from operations on them before.
    files: FxHashMap<(Tid, i32), (Fs, DevId, u64)>,
    /// Which file system is on a device.
    kinds: FxHashMap<DevId, Fs>,
    /// For which file an extent on its way to the device was written back.
    written_back: FxHashMap<(DevId, Sector), u64>,
    /// The processor and task of the block event at hand.
    at: (Cpu, Tid),
    batches: u32,
    now: Nanos,
    began: bool,
}

impl Watch {
    /// The past, for whoever prints an account.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Tells where devices lie on others.
    pub fn lies_below(&mut self, below: impl IntoIterator<Item = Below>) {
        self.history.below.extend(below);
        self.history.below.sort_unstable();
    }

    /// Whether any task was seen.
    pub fn is_empty(&self) -> bool {
        !self.began
    }

    /// A block event is about to be taken in.
    #[inline]
    pub fn block(&mut self, e: &Event) {
        self.at = (e.cpu, e.tid);
        if e.action != Action::Queue || !self.began {
            return;
        }
        let Some(thread) = self.history.threads.get_mut(&e.tid) else { return };
        if let Some((_, inode, _)) = thread.writing_back {
            if self.written_back.len() >= MAX_PENDING {
                self.written_back.clear();
            }
            self.written_back.insert((e.dev, e.sector), inode);
        }
        if let Some(open) = &mut thread.open {
            open.is_storage = true;
            if open.dev == DevId(0) {
                open.dev = e.dev;
            }
            if open.call == Call::IoSubmit {
                let Open { fd, fs, dev, inode, .. } = *open;
                let aio =
                    Aio { from: open.last_sent.replace(e.time).unwrap_or(open.from), fd, fs, dev, inode };
                if self.aios.len() >= MAX_PENDING {
                    self.aios.clear();
                }
                self.aios.insert((e.dev, e.sector), aio);
            }
        }
    }

    /// A request was completed by the block event at hand.
    pub fn request(&mut self, r: &Request, names: &Names, over: &mut impl Over) {
        let inode = self.written_back.remove(&(r.dev, r.start));
        if let Some(inode) = inode {
            over.written_back(r, self.history.writers(inode).unwrap_or_default(), names);
        }
        self.done(Entry { done: Done::Request(*r), inode });
    }

    /// A bio was completed by the block event at hand. Those of devices without requests are what tasks are woken by;
    /// those that `io_submit` sent are operations.
    pub fn bio(&mut self, b: &Bio, names: &Names, over: &mut impl Over) {
        if let Some(aio) = self.aios.remove(&(b.dev, b.start)) {
            let account = Walk::of_bio(&self.history, b, aio.from);
            let operation = Operation {
                kind: if b.op == Op::Read { Kind::AioRead } else { Kind::AioWrite },
                tid: b.tid,
                task: names.of(b.tid),
                from: account.from,
                to: account.to,
                fd: aio.fd,
                fs: aio.fs,
                dev: aio.dev,
                inode: aio.inode,
                result: b.bytes.0 as i64,
                is_storage: true,
            };
            over.operation(&operation, account, names, &self.history);
        }
        if !b.by_request {
            self.done(Entry { done: Done::Bio(Box::new(b.clone())), inode: None });
        }
    }

    fn done(&mut self, entry: Entry) {
        let (cpu, tid) = self.at;
        let time = entry.done.completed();
        let number = self.history.served.add(entry);
        self.completions.insert(cpu, Completion { time, tid, number });
    }

    /// A batch was taken in: forgets what is too old.
    pub fn end_of_batch(&mut self) {
        self.batches = self.batches.wrapping_add(1);
        if !self.began || self.batches % FORGET_EVERY != 0 {
            return;
        }
        let open = self.history.threads.values().flat_map(|t| {
            // Who waits for input (a pipe, a terminal) may wait for ever; others' past is not kept for that.
            let waits_for_input = t.state() == Some(State::Asleep(Left::Interruptible));
            let call = t.open.map(|o| o.from).filter(|_| !waits_for_input);
            let commit = t.steps.iter().rev().take(5).find(|s| s.phase == CommitPhase::Start).map(|s| s.from);
            call.into_iter().chain(commit).chain(t.writing_back.map(|w| w.2))
        });
        let oldest = open
            .chain(self.rings.values().map(|r| r.from))
            .chain(self.aios.values().map(|a| a.from))
            .min()
            .unwrap_or(self.now);
        self.history.forget(oldest.min(self.now), self.now);
    }

    /// Takes in what a task did. Operations that are over go to `over`.
    pub fn task(&mut self, e: &TaskEvent, batch: &Batch, names: &Names, over: &mut impl Over) {
        if !self.began {
            self.began = true;
            self.history.horizon = e.time;
        }
        self.now = self.now.max(e.time);
        match e.what {
            What::Text { id, text } => return self.history.texts.define(id, batch.at(text)),
            What::Lost { since } => return self.lost(since, e.time),
            _ => {}
        }
        self.is_running(e);
        match e.what {
            What::Enter { call, args } => self.enter(e, call, args, over),
            What::Exit { call, result } => self.exit(e, call, result, names, over),
            What::Switch { left, next } => self.switch(e, left, next, names, over),
            What::Stack(id) => {
                let Some(thread) = self.history.thread_mut(e.tid) else { return };
                let last = thread.stretches.iter_mut().rev().take(2);
                let mut asleep = last.filter(|s| !matches!(s.state, State::Running | State::Woken(_)));
                if let Some(s) = asleep.next().filter(|s| e.time.since(s.from) <= STACK_BEHIND) {
                    s.stack.get_or_insert(id);
                }
            }
            What::Wake(who) => {
                let wake = self.wake(e);
                let Some(thread) = self.history.thread_mut(who) else { return };
                // A task that is woken before it sleeps does not go to sleep: nothing ends here.
                if matches!(thread.state(), Some(State::Asleep(_)) | None) {
                    let cpu = thread.stretches.back().map_or(e.cpu, |s| s.cpu);
                    thread.becomes(e.time, State::Woken(wake), cpu);
                }
            }
            What::WorkQueued { work, .. } => {
                if self.queued.len() >= MAX_PENDING {
                    self.queued.clear();
                }
                let wake = self.wake(e);
                self.queued.insert(work, wake);
            }
            What::WorkStart { work, function } => {
                let queued = self.queued.remove(&work);
                let Some(thread) = self.history.thread_mut(e.tid) else { return };
                if let Some(last) = thread.works.back_mut() {
                    last.to.get_or_insert(e.time);
                }
                thread.works.push_back(Work { from: e.time, to: None, function, queued });
            }
            What::WorkEnd => {
                if let Some(last) = self.history.thread_mut(e.tid).and_then(|t| t.works.back_mut()) {
                    last.to.get_or_insert(e.time);
                }
            }
            What::File { fs, dev, inode } => self.file(e, fs, dev, inode),
            What::WaitPage { .. } | What::Throttled => {
                if let Some(open) = self.history.thread_mut(e.tid).and_then(|t| t.open.as_mut()) {
                    open.is_storage = true;
                }
            }
            What::Commit { dev, phase } => self.commit(e, dev, phase, names, over),
            What::Writeback { dev, inode } => {
                if let Some(thread) = self.history.thread_mut(e.tid) {
                    thread.writing_back = Some((dev, inode, e.time));
                }
            }
            What::WritebackEnd => self.writeback_end(e, names, over),
            What::RingSubmit { request, opcode } => {
                if self.rings.len() >= MAX_PENDING {
                    self.rings.clear();
                }
                self.rings.insert(request, Ring { from: e.time, tid: e.tid, kind: Kind::of_ring(opcode) });
            }
            What::RingComplete { request, result } => self.ring_complete(e, request, result, names, over),
            What::Gone => {
                if let Some(thread) = self.history.thread_mut(e.tid) {
                    thread.open = None;
                    thread.writing_back = None;
                }
            }
            What::Text { .. } | What::Lost { .. } => {}
        }
    }

    fn lost(&mut self, since: Nanos, until: Nanos) {
        self.history.losses.push_back((since, until));
        if self.history.losses.len() > MAX_PENDING {
            self.history.losses.pop_front();
        }
    }

    /// An event of a task that is not in an interrupt says that the task runs, whatever was seen of it before.
    fn is_running(&mut self, e: &TaskEvent) {
        if e.context.is_interrupt() || matches!(e.what, What::Stack(_)) {
            return;
        }
        let Some(thread) = self.history.thread_mut(e.tid) else { return };
        if thread.state() != Some(State::Running) {
            thread.becomes(e.time, State::Running, e.cpu);
        }
    }

    /// The event as what woke somebody, with the completion that it belongs to.
    fn wake(&self, e: &TaskEvent) -> Wake {
        let same =
            |c: &&Completion| c.tid == e.tid && e.time.since(c.time) <= SAME_INTERRUPT && c.time <= e.time;
        let last = self.completions.get(&e.cpu).filter(same);
        // In a task's own context a completion stands for what the task did itself only while it is being ended.
        let fits = |c: &&Completion| e.context.is_interrupt() || e.time.since(c.time) <= Nanos(50_000);
        let served = last.filter(fits).map(|c| c.number);
        Wake { time: e.time, by: e.tid, context: e.context, cpu: e.cpu, served }
    }

    fn enter(&mut self, e: &TaskEvent, call: Call, args: [u64; 4], over: &mut impl Over) {
        let fd = call.has_fd().then_some(args[0] as i32);
        let known = fd.and_then(|fd| self.files.get(&(e.tid, fd)).copied());
        if let (Call::Close, Some(fd)) = (call, fd) {
            self.files.remove(&(e.tid, fd));
        }
        let Some(thread) = self.history.thread_mut(e.tid) else { return };
        let (fs, dev, inode) = known.unwrap_or_default();
        if let Some(from) = thread.left_io.take().filter(|_| known.is_some()) {
            let waiting = |s: &crate::thread::Stretch| matches!(s.state, State::Preempted | State::Woken(_));
            let between = thread.between(from, e.time).filter(|(s, _)| waiting(s));
            let wait_cpu = between.map(|(s, to)| to.min(e.time).since(s.from.max(from))).sum();
            over.outside(&Outside { tid: e.tid, from, to: e.time, wait_cpu });
        }
        let is_storage = known.is_some() || call.is_sync();
        thread.open = (call != Call::Other).then_some(Open {
            call,
            from: e.time,
            fd,
            fs,
            dev,
            inode,
            is_storage,
            last_sent: None,
        });
    }

    fn exit(&mut self, e: &TaskEvent, call: Call, result: i64, names: &Names, over: &mut impl Over) {
        let Some(thread) = self.history.thread_mut(e.tid) else { return };
        // Of another call than the one that began: what lies between was lost.
        let Some(mut open) = thread.open.take().filter(|o| o.call == call) else { return };
        open.is_storage |= thread
            .between(open.from, e.time)
            .any(|(s, _)| s.from >= open.from && s.state == State::Asleep(Left::Uninterruptible));
        thread.left_io = open.is_storage.then_some(e.time);
        if matches!(
            open.call,
            Call::Write | Call::Fallocate | Call::Truncate | Call::CopyFileRange | Call::Sendfile
        ) {
            self.history.wrote(open.inode, names.of(e.tid));
        }
        if open.fs == Fs::Unknown {
            open.fs = self.kinds.get(&open.dev).copied().unwrap_or_default();
        }
        if let Some(fd) =
            open.fd.filter(|_| open.is_storage && open.dev != DevId(0) && open.call != Call::Close)
        {
            if self.files.len() >= MAX_PENDING {
                self.files.clear();
            }
            self.files.insert((e.tid, fd), (open.fs, open.dev, open.inode));
        }
        let operation = Operation {
            kind: Kind::Call(open.call),
            tid: e.tid,
            task: names.of(e.tid),
            from: open.from,
            to: e.time.max(open.from),
            fd: open.fd,
            fs: open.fs,
            dev: open.dev,
            inode: open.inode,
            result,
            is_storage: open.is_storage,
        };
        self.end(operation, names, over);
    }

    fn end(&self, o: Operation, names: &Names, over: &mut impl Over) {
        let account = Walk::of_task(&self.history, o.tid, o.from, o.to);
        over.operation(&o, account, names, &self.history);
    }

    fn switch(&mut self, e: &TaskEvent, left: Left, next: Tid, names: &Names, over: &mut impl Over) {
        if let Some(thread) = self.history.thread_mut(e.tid) {
            let state = if left == Left::Preempted { State::Preempted } else { State::Asleep(left) };
            thread.becomes(e.time, state, e.cpu);
        }
        let Some(thread) = self.history.thread_mut(next) else { return };
        thread.becomes(e.time, State::Running, e.cpu);
        if thread.open.is_some() {
            return;
        }
        // A task that slept for a page outside of any system call: a page fault.
        let asleep =
            thread.stretches.iter().rev().skip(1).take(2).find(|s| matches!(s.state, State::Asleep(_)));
        let Some((from, Some(stack))) = asleep.map(|s| (s.from, s.stack)) else { return };
        if !matches!(self.history.texts.wait(stack), Wait::PageFault | Wait::Swap) {
            return;
        }
        let operation = Operation {
            kind: Kind::PageFault,
            tid: next,
            task: names.of(next),
            from,
            to: e.time,
            fd: None,
            fs: Fs::Unknown,
            dev: DevId(0),
            inode: 0,
            result: 0,
            is_storage: true,
        };
        self.end(operation, names, over);
    }

    fn file(&mut self, e: &TaskEvent, fs: Fs, dev: DevId, inode: u64) {
        if fs != Fs::Unknown && dev != DevId(0) && self.kinds.len() < MAX_PENDING {
            self.kinds.insert(dev, fs);
        }
        if e.context.is_interrupt() {
            return;
        }
        let Some(open) = self.history.thread_mut(e.tid).and_then(|t| t.open.as_mut()) else { return };
        open.is_storage = true;
        if fs != Fs::Unknown {
            open.fs = fs;
        }
        if dev != DevId(0) {
            open.dev = dev;
        }
        if inode != 0 {
            open.inode = inode;
        }
    }

    fn commit(&mut self, e: &TaskEvent, dev: DevId, phase: CommitPhase, names: &Names, over: &mut impl Over) {
        self.kinds.insert(dev, Fs::Ext4);
        let Some(thread) = self.history.thread_mut(e.tid) else { return };
        let start = thread.steps.iter().rev().take(5).find(|s| s.phase == CommitPhase::Start).map(|s| s.from);
        thread.steps.push_back(Step { from: e.time, phase, dev });
        let (CommitPhase::End, Some(from)) = (phase, start) else { return };
        let operation = Operation {
            kind: Kind::JournalCommit,
            tid: e.tid,
            task: names.of(e.tid),
            from,
            to: e.time.max(from),
            fd: None,
            fs: Fs::Ext4,
            dev,
            inode: 0,
            result: 0,
            is_storage: true,
        };
        self.end(operation, names, over);
    }

    fn writeback_end(&mut self, e: &TaskEvent, names: &Names, over: &mut impl Over) {
        let Some(thread) = self.history.thread_mut(e.tid) else { return };
        let Some((dev, inode, from)) = thread.writing_back.take() else { return };
        let operation = Operation {
            kind: Kind::Writeback,
            tid: e.tid,
            task: names.of(e.tid),
            from,
            to: e.time.max(from),
            fd: None,
            fs: self.kinds.get(&dev).copied().unwrap_or_default(),
            dev,
            inode,
            result: 0,
            is_storage: true,
        };
        self.end(operation, names, over);
    }

    fn ring_complete(
        &mut self,
        e: &TaskEvent,
        request: u64,
        result: i64,
        names: &Names,
        over: &mut impl Over,
    ) {
        let Some(ring) = self.rings.remove(&request) else { return };
        let wake = self.wake(e);
        let account = Walk::of_event(&self.history, &wake, ring.tid, ring.from);
        let operation = Operation {
            kind: ring.kind,
            tid: ring.tid,
            task: names.of(ring.tid),
            from: ring.from,
            to: account.to,
            fd: None,
            fs: Fs::Unknown,
            dev: DevId(0),
            inode: 0,
            result,
            is_storage: true,
        };
        over.operation(&operation, account, names, &self.history);
    }
}
