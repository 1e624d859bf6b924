//! Turns events of tasks, in order of time, into finished operations, each with its account.
//!
//! Every event goes to the state that it changes. When an event ends an operation, the walk divides its time
//! immediately, while the history that it needs is still kept, and the observer gets the result.

use crate::account::Account;
use crate::async_io::{AsyncIo, RING_CLOSE};
use crate::begun;
use crate::calls::{self, Calls};
use crate::crypt::CRYPT_WORK;
use crate::extents::Direct;
use crate::history::History;
use crate::known::Known;
use crate::observer::OperationObserver;
use crate::operation::Operation;
use crate::sent::Sent;
use crate::sent_below::SentBelow;
use crate::served::{Done, Entry};
use crate::stretch::State;
use crate::thread::Thread;
use crate::throttle;
use crate::untaken::Completed;
use crate::wakers::Wakers;
use crate::walk::Walk;
use crate::writers::SentFor;
use crate::{background, owners};
use life::{Bio, BioNumber, Names, Owner, Request};
use trace::{Action, Batch, Call, Cpu, Detail, DevId, Event, Fs, Nanos, TaskEvent, TextId, Tid, What};

/// Number of batches between two rounds of forgetting old history.
const FORGET_EVERY: u32 = 8;

/// Finds the operations of all tasks.
#[derive(Debug, Default)]
pub struct OperationTracker {
    history: History,
    wakers: Wakers,
    calls: Calls,
    async_io: AsyncIo,
    /// Completed bios that stacked devices sent to the devices below.
    sent_below: SentBelow,
    /// Extents in flight that one task sent for others.
    sent: Sent,
    /// CPU and task of the current block event.
    at: (Cpu, Tid),
    /// The last bio queued: its task and device. `child`: a child of it that is about to be queued.
    queued: (Tid, DevId),
    child: Option<(Tid, DevId)>,
    batches: u32,
    /// Empty between events.
    over: Vec<Completed>,
    /// Time of the last event of a task.
    pub(crate) now: Nanos,
    began: bool,
}

impl OperationTracker {
    /// The history, needed to print an account.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The control group of a task's process; `None` if not known.
    pub(crate) fn group(&self, tid: Tid) -> Option<&str> {
        self.history.cgroups.of(self.calls.processes.of(tid))
    }

    /// Adds facts that the recording does not contain.
    pub fn knows(&mut self, mut known: Known) {
        self.history.file_systems.knows(&known);
        self.history.cgroups.knows(std::mem::take(&mut known.cgroups));
        self.history.below.append(&mut known.below);
        self.history.below.sort_unstable();
        self.calls.knows(known);
    }

    /// Whether no event of a task has been seen yet.
    pub fn is_empty(&self) -> bool {
        !self.began
    }

    /// Takes in a block event, before the block layer's tracker does. Returns the owner of its data, if another task sends it.
    #[inline]
    pub fn block(&mut self, e: &Event, names: &Names) -> Option<Owner> {
        self.at = (e.cpu, e.tid);
        if let Detail::Remap { dev, .. } = e.detail {
            self.child = (self.queued == (e.tid, dev)).then_some((e.tid, e.dev));
        }
        if e.action != Action::Queue || !self.began {
            return None;
        }
        owners::sends(&mut self.history, e);
        let sent_for = owners::owner(&mut self.history, e, names);
        let owner = sent_for.as_ref().and_then(SentFor::owner);
        self.sent.put(self.history.file_systems.disk(e.dev), e.sector, e.bytes, sent_for);
        let is_child = self.child.take() == Some((e.tid, e.dev));
        if let Some(open) = self.history.threads.get_mut(&e.tid).and_then(|t| t.open.as_mut()) {
            open.is_on(e.dev);
            self.async_io.sent(open, e, &self.calls.processes);
        } else if !self.async_io.held.is_empty() && !is_child && throttle::is_worker(&self.history, e.tid) {
            let beside = throttle::anybody_waits(&self.history);
            self.async_io.let_go(e, beside, &self.calls.processes);
        }
        self.queued = (e.tid, e.dev);
        owner
    }

    /// The current block event completed this request.
    pub fn request(&mut self, r: &Request, names: &Names, observer: &mut dyn OperationObserver) {
        let sent = self.sent.take(r.dev, r.start, r.bytes);
        sent.iter().for_each(|(sent_for, bytes)| observer.sent_for(r, sent_for, *bytes, names));
        self.done(Entry::of_request(r, sent.into_iter().next().map(|s| s.0), names));
    }

    /// The current block event completed this bio. Bios of devices without requests wake tasks; bios sent by
    /// `io_submit` are operations; bios sent by a stacked device explain that device's own bio.
    pub fn bio(&mut self, b: &Bio, names: &Names, observer: &mut dyn OperationObserver) {
        let is_stacked = !b.by_request || b.is_child();
        if !is_stacked && !self.async_io.has_sent(b) {
            return;
        }
        let entry =
            Entry { below: self.sent_below.of(b.number), ..Entry::of(Done::Bio(Box::new(b.clone()))) };
        if let Some(parent) = b.parent {
            self.sent_below.add(parent, entry.clone());
        } else if b.orphan {
            self.sent_below.add_orphan(b.number, entry.clone());
        }
        let over = self.async_io.bio(&self.history, b, &entry, names);
        self.tell(over, names, observer);
        if !b.by_request {
            self.done(entry);
        }
    }

    /// The parent of a bio that was completed without a known parent is found.
    pub fn adopted(&mut self, child: BioNumber, parent: BioNumber) {
        self.sent_below.adopted(child, parent);
    }

    fn done(&mut self, entry: Entry) {
        let (cpu, tid) = self.at;
        let (time, sender) = (entry.done.completed(), entry.done.queuer());
        let number = self.history.served.add(entry);
        self.wakers.completed(cpu, tid, time, number, sender);
    }

    /// At the recording's end: the requests in flight, and those that were on their way all along.
    pub fn cut_off(&mut self, requests: &[Request], all_along: &[Request], names: &Names) {
        let mut sent_for = |r: &Request| self.sent.take(r.dev, r.start, r.bytes).into_iter().next();
        let entry = |r| Entry::of_request(r, sent_for(r).map(|s| s.0), names);
        self.history.cut_off = requests.iter().map(entry).collect();
        self.history.all_along = all_along.iter().map(|r| Entry::of_request(r, None, names)).collect();
    }

    /// Ends the recording at `at`: the observer gets what nobody took, and the calls about storage that are not finished.
    pub fn finish(&mut self, at: Nanos, names: &Names, observer: &mut dyn OperationObserver) {
        let open = |(tid, thread): (&Tid, &Thread)| {
            let mut open = thread.open?;
            if open.begun_before && !begun::is_long(&self.history, &open, *tid, at) {
                return None;
            }
            open.is_storage |= thread.slept_uninterruptibly(open.from, at);
            calls::placed(&self.history, &mut open, *tid);
            let o = calls::operation(&self.history, &open, *tid, at, names);
            o.is_storage.then_some(Operation { still_out: Some(thread.asleep_in(&open, at)), ..o })
        };
        let untaken = self.async_io.left_by(None);
        self.tell(untaken, names, observer);
        let mut still: Vec<Operation> = self.history.threads.iter().filter_map(open).collect();
        still.sort_by_key(|o| (o.from, o.tid));
        still.into_iter().for_each(|o| self.end(Some(o), names, observer));
    }

    /// Ends a batch: forgets history that is too old.
    pub fn end_of_batch(&mut self) {
        self.batches = self.batches.wrapping_add(1);
        if !self.began || self.batches % FORGET_EVERY != 0 {
            return;
        }
        let open = self.history.oldest_open().into_iter().chain(self.async_io.oldest());
        let oldest = open.min().unwrap_or(self.now);
        self.history.forget(oldest.min(self.now), self.now);
    }

    /// The first event of a task comes at `at`: nothing is done at later ones.
    pub(crate) fn begin(&mut self, at: Nanos, names: &Names) {
        if !std::mem::replace(&mut self.began, true) {
            (self.history.first_event, self.history.horizon) = (at, at);
            self.calls.begin(&mut self.history, names);
        }
    }

    /// Takes in an event of a task. The observer gets completed operations.
    pub fn task(
        &mut self,
        e: &TaskEvent,
        batch: &Batch,
        names: &Names,
        observer: &mut dyn OperationObserver,
    ) {
        self.begin(e.time, names);
        // A text may be defined at any time, even after the selected part of a recording.
        if !matches!(e.what, What::Text { .. }) {
            self.now = self.now.max(e.time);
        }
        match e.what {
            What::Text { id, text } => self.history.texts.define(id, batch.at(text)),
            What::Lost { since } => {
                self.calls.files.forget_all(e.time);
                self.history.lost(since, e.time);
            }
            What::Stack(id) => {
                self.history.sees_stacks = true;
                let Some(thread) = self.history.thread_mut(e.tid) else { return };
                thread.stood_at(id, e.time);
                if !thread.is_known && thread.asleep_in_io().is_some() {
                    begun::asleep(&mut self.history, e.tid, id);
                }
            }
            _ => {
                let over = self.is_running(e, names);
                self.end(over, names, observer);
                self.dispatch(e, names, observer);
            }
        }
    }

    /// Notes that a task runs: an event of a task outside of interrupts shows it, whatever was seen before. If the switch to it was not
    /// recorded (some kernels record none from a CPU's idle task), a page fault ended when the task was woken.
    fn is_running(&mut self, e: &TaskEvent, names: &Names) -> Option<Operation> {
        if e.context.is_interrupt() {
            return None;
        }
        let thread = self.history.thread_mut(e.tid)?;
        let state = thread.state();
        if state == Some(State::Running) {
            return None;
        }
        thread.becomes(e.time, State::Running, e.cpu);
        match state {
            // One nanosecond later: until the wakeup it slept.
            Some(State::Woken(wake)) => {
                background::page_fault(&self.history, e.tid, wake.time + Nanos(1), names)
            }
            _ => None,
        }
    }

    /// Hands an event to the state that it changes.
    fn dispatch(&mut self, e: &TaskEvent, names: &Names, observer: &mut dyn OperationObserver) {
        let h = &mut self.history;
        match e.what {
            What::Enter { call, args } => {
                self.calls.enter(h, e, call, args).iter().for_each(|outside| observer.outside(outside));
                if call == Call::IoGetevents {
                    let process = self.calls.processes.of(e.tid);
                    h.open_call(e).into_iter().for_each(|open| self.async_io.asked(open, process));
                }
            }
            What::Exit { call, result } => {
                if matches!(call, Call::IoSubmit | Call::IoGetevents) {
                    self.libaio_exits(e, call, result, names, observer);
                }
                let over = self.calls.exit(&mut self.history, e, call, result, names);
                self.end(over, names, observer);
            }
            What::Switch { left, next } => {
                self.wakers.switch(h, e, left, next);
                let over = background::page_fault(&self.history, next, e.time, names);
                self.end(over, names, observer);
            }
            What::Wake(who) => {
                let wake = self.wakers.wakes(e);
                h.thread_mut(who).into_iter().for_each(|thread| thread.woken(wake));
            }
            What::WorkQueued { work, .. } => self.wakers.queue(work, e),
            What::WorkStart { work, function } => self.work_starts(e, work, function),
            What::WorkEnd => {
                if let Some(thread) = h.thread_mut(e.tid) {
                    thread.ends_work(e.time);
                }
            }
            What::File { fs, dev, inode } => self.at_file(e, fs, dev, inode, names),
            What::Direct { dev, inode, at, bytes } => {
                if h.open_call(e).is_some_and(|open| open.call == Call::IoSubmit) {
                    self.async_io.held.begins(e.tid, Direct { dev, inode, at, bytes });
                }
                self.at_file(e, Fs::Unknown, dev, inode, names);
            }
            What::Changes { fs, dev, blocks } => {
                owners::joins(h, e, dev, blocks, names);
                calls::file(h, e, fs, dev, 0);
            }
            What::Dirtied { dev } => calls::dirtied(h, e, dev),
            What::DirtiedFile { disk, inode } => calls::dirtied_file(h, e, disk, inode, names),
            What::Created { dev, inode } => calls::created(h, e, dev, inode),
            What::Freed { dev, inode } => owners::frees(h, e, dev, inode, names),
            What::WaitPage { .. } => h.open_call(e).into_iter().for_each(|open| open.is_storage = true),
            What::Commit { dev, phase } => {
                let over = background::commit(h, e, dev, phase, names);
                self.end(over, names, observer);
            }
            What::Writeback { dev, inode, cgroup } => background::writeback(h, e, dev, inode, cgroup),
            What::WritebackEnd => {
                let over = background::writeback_end(h, e, names);
                self.end(over, names, observer);
            }
            What::RingSubmit { request, opcode } => {
                if opcode == RING_CLOSE {
                    self.calls.closes_any(e.tid);
                }
                self.async_io.submit(request, opcode, e.tid, e.time);
            }
            What::RingComplete { request, result } => {
                let wake = self.wakers.wake(e);
                let over = self.async_io.complete(h, request, result, &wake, names);
                self.tell(over, names, observer);
            }
            What::Born { tid, thread, shares_files } => self.calls.born(h, e, tid, thread, shares_files),
            What::CgroupAttach { tid, hierarchy, path } => self.calls.joins_cgroup(h, tid, hierarchy, path),
            What::Exec => self.calls.exec(e),
            What::Gone => {
                self.calls.gone(h, e);
                let untaken = self.async_io.left_by(Some(e.tid));
                self.tell(untaken, names, observer);
            }
            What::Text { .. } | What::Lost { .. } | What::Stack(_) | What::Completions(_) => {}
        }
    }

    /// A call of libaio submitted or took operations.
    fn libaio_exits(
        &mut self,
        e: &TaskEvent,
        call: Call,
        result: i64,
        names: &Names,
        observer: &mut dyn OperationObserver,
    ) {
        let Some(open) = self.history.open_call(e).filter(|open| open.call == call).copied() else { return };
        let process = self.calls.processes.of(e.tid);
        let mut over = std::mem::take(&mut self.over);
        self.async_io.exits(&self.history, &open, process, e, result, &mut over);
        self.tell(over.drain(..), names, observer);
        self.over = over;
    }

    /// A task is at work on a file.
    fn at_file(&mut self, e: &TaskEvent, fs: Fs, dev: DevId, inode: u64, names: &Names) {
        owners::takes_part(&mut self.history, e, fs, dev, inode, names);
        calls::file(&mut self.history, e, fs, dev, inode);
    }

    fn work_starts(&mut self, e: &TaskEvent, item: u64, function: TextId) {
        let work = self.wakers.start(item, function, e.time);
        self.history.encrypts |= self.history.texts.text(function) == CRYPT_WORK;
        if let Some(thread) = self.history.thread_mut(e.tid) {
            thread.begins(work);
        }
    }

    /// Accounts for a finished operation. Calls that have nothing to do with storage, which most are, need no walk.
    fn end(&self, over: Option<Operation>, names: &Names, observer: &mut dyn OperationObserver) {
        if let Some(o) = over {
            let account = match o.is_storage {
                true => Walk::of_operation(&self.history, &o),
                false => Account::unexplained(o.from, o.to),
            };
            self.tell(Some((o, account)), names, observer);
        }
    }

    /// Passes on operations with their processes. If no event named the file system, it is that of the device that the operation waited
    /// for; but a call that makes data safe may wait for requests of another file system than its own.
    fn tell(
        &self,
        over: impl IntoIterator<Item = Completed>,
        names: &Names,
        observer: &mut dyn OperationObserver,
    ) {
        for (o, account) in over {
            let named = Some(o.dev).filter(|dev| *dev != DevId(0));
            let own = || account.own_device(o.tid).filter(|_| !o.kind.makes_safe());
            let on_device = || self.history.file_systems.kind(named.or_else(own).unwrap_or_default());
            let fs = if o.fs == Fs::Unknown { on_device() } else { o.fs };
            let o = Operation { process: self.calls.processes.known(o.tid), fs, ..o };
            observer.operation(&o, account, names, &self.history);
        }
    }
}
