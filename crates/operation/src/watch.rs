//! From what tasks did, in order of time, to operations that are over, each with its account.

use crate::account::Account;
use crate::crypt::CRYPT_WORK;
use crate::descriptors::RING_CLOSE;
use crate::files::{Files, OnExec, OnFile};
use crate::history::History;
use crate::known::Known;
use crate::operation::Operation;
use crate::over::Over;
use crate::rings::{Aio, Ring};
use crate::sent::Sent;
use crate::sent_below::SentBelow;
use crate::served::{Done, Entry};
use crate::thread::{State, Wake, Work};
use crate::walk::Walk;
use crate::writers::{SentFor, WritingBack};
use crate::Kind;
use life::{Bio, BioNumber, Names, Owner, Request};
use rustc_hash::FxHashMap;
use trace::{Action, Batch, CommitPhase, Cpu, DevId, Event, Fs, Left, Nanos, Sector, TaskEvent, Tid, What};

/// A wake-up belongs to a completion on the same processor if the same task was interrupted and no more time passed.
/// Completions of a whole batch take microseconds each; a softirq may run for 2 ms (`MAX_SOFTIRQ_TIME`).
const SAME_INTERRUPT: Nanos = Nanos(2_000_000);

/// A stack is recorded right behind the switch it belongs to; in a virtual machine whose processor was taken away in
/// between, 5 ms later (measured with QEMU).
const STACK_BEHIND: Nanos = Nanos(20_000_000);

/// Work items, io_uring operations, files and extents that are remembered at most, each.
pub(crate) const MAX_PENDING: usize = 1 << 16;

/// How many batches pass between two looks at what can be forgotten.
const FORGET_EVERY: u32 = 8;

/// The last completion on a processor.
#[derive(Clone, Copy, Debug)]
struct Completion {
    time: Nanos,
    tid: Tid,
    number: u64,
}

/// Follows all tasks.
#[derive(Debug, Default)]
pub struct Watch {
    pub(crate) history: History,
    completions: FxHashMap<Cpu, Completion>,
    queued: FxHashMap<u64, Wake>,
    pub(crate) rings: FxHashMap<u64, Ring>,
    pub(crate) aios: FxHashMap<(DevId, Sector), Aio>,
    /// What is known of file descriptors.
    pub(crate) files: Files,
    /// Which process a task is of.
    pub(crate) processes: FxHashMap<Tid, Tid>,
    /// Which file system is on a device.
    pub(crate) kinds: FxHashMap<DevId, Fs>,
    /// Completed bios that stacked devices sent to those below them.
    sent_below: SentBelow,
    /// Extents on their way that were sent for others.
    sent: Sent,
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

    /// Tells what the recording does not say.
    pub fn knows(&mut self, known: Known) {
        self.history.writers.knows(&known);
        self.history.below.extend(known.below);
        self.history.below.sort_unstable();
        self.processes.extend(known.processes);
        for f in &known.files {
            let file = OnFile { fs: f.fs, dev: f.dev, inode: f.inode, told: true };
            let on_exec = f.closed_on_exec.map_or(OnExec::Unknown, OnExec::closed);
            self.files.opened(f.process, f.fd, Some(file), on_exec, Nanos(0));
        }
    }

    /// The process that a task is a thread of; where that is not known, as if it were one of its own.
    pub(crate) fn process_of(&self, tid: Tid) -> Tid {
        self.processes.get(&tid).copied().unwrap_or(tid)
    }

    /// Whether any task was seen.
    pub fn is_empty(&self) -> bool {
        !self.began
    }

    /// A block event is about to be taken in. Of a bio that is queued for another task: whose data it is.
    #[inline]
    pub fn block(&mut self, e: &Event) -> Option<Owner> {
        self.at = (e.cpu, e.tid);
        if e.action != Action::Queue || !self.began {
            return None;
        }
        let sent_for = self.sending(e);
        let owner = sent_for.as_ref().and_then(SentFor::owner);
        self.sent.put(self.history.writers.disk(e.dev), e.sector, e.bytes, sent_for);
        let thread = self.history.threads.get_mut(&e.tid)?;
        if let Some(open) = &mut thread.open {
            open.is_storage = true;
            if open.dev == DevId(0) {
                open.dev = e.dev;
            }
        }
        self.sent(e);
        owner
    }

    /// A request was completed by the block event at hand.
    pub fn request(&mut self, r: &Request, names: &Names, over: &mut dyn Over) {
        let sent = self.sent.take(r.dev, r.start, r.bytes);
        for (sent_for, bytes) in &sent {
            over.sent_for(r, sent_for, *bytes, names);
        }
        let sent_for = sent.into_iter().next().map(|s| s.0);
        self.done(Entry { sent_for, ..Entry::of(Done::Request(*r)) });
    }

    /// A bio was completed by the block event at hand. Those of devices without requests are what tasks are woken by;
    /// those that `io_submit` sent are operations; those that a stacked device sent explain its own bio.
    pub fn bio(&mut self, b: &Bio, names: &Names, over: &mut dyn Over) {
        let is_stacked = !b.by_request || b.is_child();
        if !is_stacked && !self.aios.contains_key(&(b.dev, b.start)) {
            return;
        }
        let entry =
            Entry { below: self.sent_below.of(b.number), ..Entry::of(Done::Bio(Box::new(b.clone()))) };
        if let Some(parent) = b.parent {
            self.sent_below.add(parent, entry.clone());
        } else if b.orphan {
            self.sent_below.add_orphan(b.number, entry.clone());
        }
        self.aio_complete(b, &entry, names, over);
        if !b.by_request {
            self.done(entry);
        }
    }

    /// A bio that was over without a known parent has found it.
    pub fn adopted(&mut self, child: BioNumber, parent: BioNumber) {
        self.sent_below.adopted(child, parent);
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
            call.into_iter().chain(commit).chain(t.writing_back.map(|w| w.from))
        });
        let oldest = open
            .chain(self.rings.values().map(|r| r.from))
            .chain(self.aios.values().map(|a| a.from))
            .min()
            .unwrap_or(self.now);
        self.history.forget(oldest.min(self.now), self.now);
    }

    /// Takes in what a task did. Operations that are over go to `over`.
    pub fn task(&mut self, e: &TaskEvent, batch: &Batch, names: &Names, over: &mut dyn Over) {
        if !self.began {
            self.began = true;
            self.history.horizon = e.time;
        }
        self.now = self.now.max(e.time);
        match e.what {
            What::Text { id, text } => return self.history.texts.define(id, batch.at(text)),
            What::Lost { since } => {
                self.files.forget_all(e.time);
                return self.history.lost(since, e.time);
            }
            _ => {}
        }
        self.is_running(e);
        match e.what {
            What::Enter { call, args } if call.is_of_descriptors() => {
                self.enter_of_descriptors(e.tid, call, args, e.time);
            }
            What::Exit { call, result } if call.is_of_descriptors() => {
                self.exit_of_descriptors(e.tid, call, result, e.time);
            }
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
                match thread.state() {
                    Some(State::Asleep(_)) | None => {
                        let cpu = thread.stretches.back().map_or(e.cpu, |s| s.cpu);
                        thread.becomes(e.time, State::Woken(wake), cpu);
                    }
                    // A task that is woken before it sleeps does not go to sleep, or not for long.
                    Some(State::Running) => thread.early = Some(wake),
                    Some(State::Preempted | State::Woken(_)) => {}
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
                self.history.encrypts |= self.history.texts.text(function) == CRYPT_WORK;
                let Some(thread) = self.history.thread_mut(e.tid) else { return };
                if let Some(last) = thread.works.back_mut() {
                    last.to.get_or_insert(e.time);
                }
                thread.pushes = false;
                thread.works.push_back(Work { from: e.time, to: None, function, queued });
            }
            What::WorkEnd => {
                if let Some(last) = self.history.thread_mut(e.tid).and_then(|t| t.works.back_mut()) {
                    last.to.get_or_insert(e.time);
                }
            }
            What::File { fs, dev, inode } => {
                self.takes_part(e, fs, dev, inode, names);
                self.file(e, fs, dev, inode);
            }
            What::Dirtied { dev } => self.dirtied(e, dev),
            What::DirtiedFile { disk, inode } => self.dirtied_file(e, disk, inode, names),
            What::Created { dev, inode } => self.created(e, dev, inode),
            What::Freed { dev, inode } => self.history.freed.add(dev, inode),
            What::LogReserved { dev } => {
                self.joins(e, dev, names);
                self.file(e, Fs::Xfs, dev, 0);
            }
            What::WaitPage { .. } => {
                if let Some(open) = self.history.thread_mut(e.tid).and_then(|t| t.open.as_mut()) {
                    open.is_storage = true;
                }
            }
            What::Commit { dev, phase } => self.commit(e, dev, phase, names, over),
            What::Writeback { dev, inode, cgroup } => {
                if let Some(thread) = self.history.thread_mut(e.tid) {
                    thread.writing_back = Some(WritingBack { disk: dev, inode, cgroup, from: e.time });
                }
            }
            What::WritebackEnd => self.writeback_end(e, names, over),
            What::RingSubmit { request, opcode } => {
                if self.rings.len() >= MAX_PENDING {
                    self.rings.clear();
                }
                if opcode == RING_CLOSE {
                    self.files.forget(self.process_of(e.tid));
                }
                self.rings.insert(request, Ring { from: e.time, tid: e.tid, kind: Kind::of_ring(opcode) });
            }
            What::RingComplete { request, result } => self.ring_complete(e, request, result, names, over),
            What::Born { tid, thread, shares_files } => {
                if self.processes.len() >= MAX_PENDING {
                    self.processes.clear();
                }
                let process = if thread { self.processes.get(&e.tid).copied() } else { Some(tid) };
                if let Some(process) = process {
                    self.processes.insert(tid, process);
                }
                if !thread {
                    self.files.forked(self.process_of(e.tid), tid, shares_files, e.time);
                }
            }
            What::Exec => self.files.exec(self.process_of(e.tid), e.time),
            What::Gone => {
                self.processes.remove(&e.tid);
                self.files.forget(e.tid);
                if let Some(thread) = self.history.thread_mut(e.tid) {
                    thread.open = None;
                    thread.writing_back = None;
                }
            }
            What::Text { .. } | What::Lost { .. } | What::Completions(_) => {}
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
    pub(crate) fn wake(&self, e: &TaskEvent) -> Wake {
        let same =
            |c: &&Completion| c.tid == e.tid && e.time.since(c.time) <= SAME_INTERRUPT && c.time <= e.time;
        let last = self.completions.get(&e.cpu).filter(same);
        // In a task's own context a completion stands for what the task did itself only while it is being ended.
        let fits = |c: &&Completion| e.context.is_interrupt() || e.time.since(c.time) <= Nanos(50_000);
        let served = last.filter(fits).map(|c| c.number);
        Wake { time: e.time, by: e.tid, context: e.context, cpu: e.cpu, served }
    }

    pub(crate) fn end(&self, o: Operation, names: &Names, over: &mut dyn Over) {
        let account = Walk::of_task(&self.history, o.tid, o.from, o.to);
        self.tell(o, account, names, over);
    }

    /// Tells of an operation, with its process.
    pub(crate) fn tell(&self, o: Operation, account: Account, names: &Names, over: &mut dyn Over) {
        let o = Operation { process: self.processes.get(&o.tid).copied(), ..o };
        over.operation(&o, account, names, &self.history);
    }

    fn switch(&mut self, e: &TaskEvent, left: Left, next: Tid, names: &Names, over: &mut dyn Over) {
        if let Some(thread) = self.history.thread_mut(e.tid) {
            let state = if left == Left::Preempted { State::Preempted } else { State::Asleep(left) };
            thread.becomes(e.time, state, e.cpu);
        }
        let Some(thread) = self.history.thread_mut(next) else { return };
        thread.runs(e.time, e.cpu);
        if thread.open.is_some() {
            return;
        }
        self.page_fault(e, next, names, over);
    }
}
