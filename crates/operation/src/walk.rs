//! The walk: finds where an operation's time went, along its task's stretches, and from each sleep backward through what ended it.
//!
//! A sleep from `a` to `b` ended because something woke the task at `b`. If that was the completion of a request, the sleep is that
//! request's ledger, clipped to it. If it was another task, the sleep is what that task did from `a` to `b`. If that task was a worker that
//! ran a work item, the sleep is how the item came to be queued, the time in its queue, and what the worker did then. The walk goes backward
//! from the wakeup, never forward along a pooled worker, which works for other tasks before and after.
//!
//! It always ends: each step lies within the time of the step before, depth and number of parts are bounded, and what
//! is cut off is `unexplained`. Time with lost events is unexplained as well.

use crate::account::{Account, Part};
use crate::bitmap;
use crate::builder::Builder;
use crate::crypt::{self, CryptWork};
use crate::expected::{self, End};
use crate::getting;
use crate::history::History;
use crate::operation::{Kind, Operation};
use crate::sent_below;
use crate::served::{Done, Entry};
use crate::stretch::{Sleep, State, Wake, Work};
use crate::thread::Thread;
use crate::throttle;
use crate::wait::Wait;
use ledger::{Ledger, Reason, Segment};
use trace::{DevId, Left, Nanos, TextId, Tid};

mod in_flight;

/// The function of the work item that issues requeued requests, including flushes: the interrupt that completes a
/// flush queues it for flushes that came in the meantime (block/blk-flush.c, block/blk-mq.c).
const REQUEUE_WORK: &str = "blk_mq_requeue_work";

/// A walk in progress: the history, and the account so far.
pub(crate) struct Walk<'a> {
    history: &'a History,
    account: Builder,
    /// What a sleep of the operation's own task means if its stack was not recorded.
    unseen: Wait,
    /// The operation's device; 0 if not known.
    dev: DevId,
}

/// The task at the end of the chain, and what its sleep is for.
#[derive(Clone, Copy)]
struct Asleep {
    tid: Tid,
    wait: Wait,
}

impl<'a> Walk<'a> {
    /// The account of a finished operation: what its task did.
    pub fn of_operation(history: &'a History, o: &Operation) -> Account {
        let unseen = if o.kind == Kind::PageFault { Wait::PageFault } else { Wait::Unknown };
        let mut walk = Walk { unseen, dev: o.dev, ..Walk::new(history, o.from, o.to) };
        walk.task(o.tid, o.from, o.to, 0);
        walk.account.finish()
    }

    fn new(history: &'a History, from: Nanos, to: Nanos) -> Walk<'a> {
        Walk { history, account: Builder::new(from, to), unseen: Wait::Unknown, dev: DevId(0) }
    }

    /// Covers the time from `a` to `b` with what a task did.
    fn task(&mut self, tid: Tid, a: Nanos, b: Nanos, depth: u8) {
        if b <= a {
            return;
        }
        let history = self.history;
        let Some(thread) = history.thread(tid).filter(|_| self.account.has_room(depth)) else {
            return self.account.leaf(Reason::Unexplained, a, b, depth);
        };
        let mut now = a;
        let mut steps = thread.steps_between(a, b).peekable();
        while let Some(step) = steps.next() {
            let end = steps.peek().map_or(b, |next| next.from.min(b));
            let begin = step.from.max(now);
            if step.phase == trace::CommitPhase::End || end <= begin {
                continue;
            }
            self.stretches(thread, tid, now, begin, depth);
            self.account.open(Part::Commit(step.phase), begin, end, depth);
            self.stretches(thread, tid, begin, end, depth + 1);
            now = end;
        }
        self.stretches(thread, tid, now, b, depth);
    }

    fn stretches(&mut self, thread: &Thread, tid: Tid, a: Nanos, b: Nanos, depth: u8) {
        let mut now = a;
        let mut all = thread.between(a, b).peekable();
        while let Some((stretch, end)) = all.next() {
            let (from, to) = (stretch.from.max(now), end.min(b));
            // Time before the task was first seen.
            self.account.leaf(Reason::Unexplained, now, from, depth);
            now = from;
            if to <= from {
                continue;
            }
            match stretch.state {
                State::Running => self.unless_lost(Reason::OnCpu, from, to, depth),
                State::Preempted => self.unless_lost(Reason::WaitCpu, from, to, depth),
                State::Woken(wake) => {
                    let next = all.peek().map(|(next, _)| *next);
                    if let Some(ran) = next.filter(|n| n.state == State::Running) {
                        self.account.wakeup(&wake, tid, to.since(wake.time), wake.cpu != ran.cpu);
                    }
                    self.unless_lost(Reason::WaitCpu, from, to, depth);
                }
                State::Asleep(left) => {
                    let wake = all.peek().and_then(|(next, _)| next.wake());
                    self.sleep(&Sleep { tid, left, stack: stretch.stack, wake, from, to }, depth);
                }
            }
            now = to;
        }
        self.account.leaf(Reason::Unexplained, now, b, depth);
    }

    /// Adds a leaf, but time with lost events is unexplained: the task may have done anything then.
    fn unless_lost(&mut self, reason: Reason, a: Nanos, b: Nanos, depth: u8) {
        let mut now = a;
        while now < b {
            let Some((from, to)) = self.history.loss(now, b) else { break };
            self.account.leaf(reason, now, from.max(now), depth);
            self.account.leaf(Reason::Unexplained, from.max(now), to.min(b), depth);
            now = to.min(b).max(now);
        }
        self.account.leaf(reason, now, b, depth);
    }

    fn sleep(&mut self, sleep: &Sleep, depth: u8) {
        let Sleep { tid, left, stack, wake, from: a, to: b } = *sleep;
        let unseen = if depth == 0 { self.unseen } else { Wait::Unknown };
        let mut wait = stack.map_or(unseen, |id| self.history.texts.wait(id));
        let followed = wake.is_some_and(|w| w.served.is_some()) || depth > 0;
        if left == Left::Interruptible && stack.is_none() {
            wait = Wait::Input;
        }
        self.account.open(Part::Wait { wait, stack }, a, b, depth);
        let depth = depth + 1;
        if let Some(reason) = wait.reason() {
            return self.account.leaf(reason, a, b, depth);
        }
        if left == Left::Interruptible && !followed {
            return self.account.leaf(Reason::Sleep, a, b, depth);
        }
        match wake {
            _ if self.history.loss(a, b).is_some() => self.account.leaf(Reason::Unexplained, a, b, depth),
            Some(wake) => self.ended_by(&wake, tid, Asleep { tid, wait }, a, b, depth),
            None if left == Left::Interruptible => self.account.leaf(Reason::Sleep, a, b, depth),
            None => match expected::end(self.history, sleep, wait, self.dev) {
                Some(End::Task(by)) => self.done_by(by, Asleep { tid, wait }, a, b, depth),
                Some(End::Request(entry)) => self.request(entry, a, b, depth),
                None => self.account.leaf(Reason::Unexplained, a, b, depth),
            },
        }
    }

    /// Covers the time from `a` to `b`, which `wake` ended for `who`: the sleeper, or a worker on the way to it.
    fn ended_by(&mut self, wake: &Wake, who: Tid, asleep: Asleep, a: Nanos, b: Nanos, depth: u8) {
        if b <= a {
            return;
        }
        if !self.account.has_room(depth) {
            return self.account.leaf(Reason::Unexplained, a, b, depth);
        }
        let history = self.history;
        let entry = wake.served.and_then(|n| history.served.get(n)).filter(|e| e.done.completed() > a);
        if let Some(entry) = entry {
            if asleep.wait == Wait::DirectIo && history.is_anothers(entry, asleep.tid) {
                return self.account.leaf(Reason::Unexplained, a, b, depth);
            }
            return self.request(entry, a, b, depth);
        }
        if wake.context.is_interrupt() || wake.by == Tid(0) {
            let reason = if asleep.wait.is_lock() { Reason::Lock } else { Reason::Timer };
            return self.account.leaf(reason, a, b, depth);
        }
        if wake.by == who {
            return self.account.leaf(Reason::Unexplained, a, b, depth);
        }
        self.done_by(wake.by, asleep, a, b, depth);
    }

    /// Covers the time from `a` to `b` with what task `by` did that led to `b`. For a worker that is its work item:
    /// how it came to be queued, the time in the queue, and what the worker did then.
    fn done_by(&mut self, by: Tid, asleep: Asleep, a: Nanos, b: Nanos, depth: u8) {
        let work = self.history.thread(by).and_then(|t| t.work_before(b)).copied();
        let Some(work) = work else {
            self.account.open(Part::Task(by), a, b, depth);
            // What it did before its idle sleep was for other tasks.
            let given = self.history.thread(by).and_then(|t| t.given_before(b)).filter(|w| w.time > a);
            let from = given.map_or(a, |w| w.time);
            if let Some(wake) = given {
                self.ended_by(&wake, by, asleep, a, from, depth + 1);
            }
            return self.task(by, from, b, depth + 1);
        };
        let Work { function, queued, .. } = work;
        self.account.open(Part::Work { function, worker: by, queued }, a, b, depth);
        let start = work.from.max(a);
        let queued = work.queued.filter(|q| q.time > a && q.time <= start);
        let in_queue_from = queued.map_or(a, |q| q.time);
        if let Some(q) = queued {
            self.until_queued(&q, function, by, asleep, a, depth + 1);
        }
        if let Some(q) = work.queued {
            self.account.wakeup(&q, by, work.from.since(q.time), false);
        }
        // If the queueing of the item was not seen, the time before it is not known.
        let reason = if work.queued.is_some() { Reason::WorkQueue } else { Reason::Unexplained };
        self.account.leaf(reason, in_queue_from, start, depth + 1);
        self.task(by, start, b, depth + 1);
    }

    /// Covers the time from `a` until `queued` put a work item of `function` into the queue of `worker`.
    fn until_queued(
        &mut self,
        queued: &Wake,
        function: TextId,
        worker: Tid,
        asleep: Asleep,
        a: Nanos,
        depth: u8,
    ) {
        let (by_interrupt, b) = (queued.context.is_interrupt(), queued.time);
        let by_worker = queued.by == worker && !by_interrupt && queued.served.is_none();
        match self.history.texts.text(function) {
            throttle::WORK => self.account.leaf(Reason::CgroupLimit, a, b, depth),
            REQUEUE_WORK if by_interrupt && asleep.wait == Wait::Flush => {
                self.account.leaf(Reason::FlushQueue, a, b, depth)
            }
            // Another item of the same worker queued it.
            _ if by_worker && self.account.has_room(depth) => self.done_by(worker, asleep, a, b, depth),
            _ => self.ended_by(queued, worker, asleep, a, b, depth),
        }
    }

    /// Covers the time from `a` to `b` with the life of the request whose completion ended it.
    fn request(&mut self, entry: &Entry, a: Nanos, b: Nanos, depth: u8) {
        if b <= a {
            return;
        }
        self.account.open(Part::Request(Box::new(Entry { below: None, ..entry.clone() })), a, b, depth);
        let depth = depth + 1;
        let ledger = match &entry.done {
            Done::Request(r) => Ledger::of(&r.time),
            Done::Bio(bio) => Ledger::of_bio(bio),
        };
        let begin = ledger.from.clamp(a, b);
        self.before_queued(entry, a, begin, depth);
        let mut now = begin;
        for Segment { reason, from, to } in ledger.segments {
            let (from, to) = (from.max(now), to.min(b));
            if to > from {
                self.in_device(entry, reason, from, to, depth);
                now = to;
            }
        }
        self.account.leaf(Reason::WakeUp, now, b, depth);
    }

    /// Adds a part of a request's own ledger. The device time of a loop device is that of the device below its file; a
    /// bio of dm or md waits for the bios that it sent below. If a write waits for reads (RAID with parity), the
    /// phases of these reads are not shown: what matters is that they are needed at all.
    fn in_device(&mut self, entry: &Entry, reason: Reason, from: Nanos, to: Nanos, depth: u8) {
        if !self.account.has_room(depth) {
            return self.account.leaf(reason, from, to, depth);
        }
        match (reason, &entry.below) {
            (Reason::LowerRead | Reason::LowerWrite, Some(below)) => {
                let mut now = from;
                for step in sent_below::critical(below, from, to) {
                    self.account.leaf(reason, now, step.from, depth);
                    now = step.to;
                    if reason == Reason::LowerRead && !entry.done.is_read() {
                        let part = Part::Request(Box::new(Entry { below: None, ..step.entry.clone() }));
                        self.account.open(part, step.from, step.to, depth);
                        self.account.leaf(reason, step.from, step.to, depth + 1);
                    } else {
                        self.request(step.entry, step.from, step.to, depth);
                    }
                }
                self.account.leaf(reason, now, to, depth);
            }
            (Reason::Device, _) if !self.history.below.is_empty() => {
                let history = self.history;
                match history.request_below(&entry.done, from, to) {
                    Some(lower) => self.request(lower, from, to, depth),
                    None => self.account.leaf(reason, from, to, depth),
                }
            }
            (Reason::GetRequest, _) if throttle::held_between_pieces(self.history, entry, from, to) => {
                self.account.leaf(Reason::CgroupLimit, from, to, depth)
            }
            (Reason::GetRequest, _) => {
                self.around(getting::sleeps(self.history, entry, from, to), reason, from, to, depth)
            }
            (Reason::Stacking, _) => match crypt::work_of(self.history, entry, from, to) {
                Some(work) => self.in_crypt(work, from, to, depth),
                None => self.around(bitmap::sleeps(self.history, entry, from, to), reason, from, to, depth),
            },
            _ => self.account.leaf(reason, from, to, depth),
        }
    }

    /// Covers the time from `a` to `b` that a bio spent in dm-crypt: until it was queued, in the queue, in its worker,
    /// and from the worker's end until another thread sent it below.
    fn in_crypt(&mut self, work: CryptWork, a: Nanos, b: Nanos, depth: u8) {
        let queued = work.queued.clamp(a, b);
        let (from, to) = (work.from.clamp(queued, b), work.to.clamp(queued, b));
        self.account.leaf(Reason::Stacking, a, queued, depth);
        self.account.open(Part::Wait { wait: Wait::Crypt, stack: None }, queued, b, depth);
        self.account.leaf(Reason::WorkQueue, queued, from, depth + 1);
        self.task(work.worker, from, to, depth + 1);
        self.account.leaf(Reason::WorkQueue, to, b, depth + 1);
    }

    /// Covers the time from `a` to `b` with these sleeps of another task, and the time between them with `reason`.
    fn around(&mut self, sleeps: Vec<Sleep>, reason: Reason, a: Nanos, b: Nanos, depth: u8) {
        let mut now = a;
        for sleep in sleeps {
            self.account.leaf(reason, now, sleep.from, depth);
            self.sleep(&sleep, depth);
            now = sleep.to;
        }
        self.account.leaf(reason, now, b, depth);
    }

    /// Covers the time in which the sleeper waited before its request was queued: the task that queued it was busy, or
    /// its cgroup held it back (from Linux 5.17 on `block_bio_queue` comes after that).
    fn before_queued(&mut self, entry: &Entry, a: Nanos, b: Nanos, depth: u8) {
        if b <= a {
            return;
        }
        let by = entry.done.queuer();
        let work = self.history.thread(by).and_then(|t| t.work_at(b)).copied();
        let is_throttle = |w: Work| self.history.texts.text(w.function) == throttle::WORK;
        if work.map_or_else(|| throttle::held_for_a_timer(self.history, entry, a, b), is_throttle) {
            return self.account.leaf(Reason::CgroupLimit, a, b, depth);
        }
        if by == Tid(0) {
            return self.account.leaf(Reason::Unexplained, a, b, depth);
        }
        let wait = if entry.done.is_flush() { Wait::Flush } else { Wait::Unknown };
        self.done_by(by, Asleep { tid: by, wait }, a, b, depth);
    }
}
