//! Accounts of operations in which no task needs to sleep: io_uring and libaio.

use super::Walk;
use crate::account::{Account, Part};
use crate::builder::Builder;
use crate::history::History;
use crate::operation::{Kind, Operation};
use crate::served::Entry;
use crate::stretch::Wake;
use crate::wait::Wait;
use ledger::Reason;
use life::{Bio, Names};
use trace::{DevId, Nanos, Tid};

impl<'a> Walk<'a> {
    /// The account of an io_uring operation that `wake` ended. No task needs to sleep in it.
    pub fn of_ring(history: &'a History, wake: &Wake, o: &Operation, names: &Names) -> Account {
        let (from, to) = (o.from, o.to);
        let mut walk = Walk::new(history, from, to);
        let done = wake.served.and_then(|n| history.served.get(n));
        match done.filter(|e| e.done.completed() >= from) {
            Some(entry) => walk.request(entry, from, to, 0),
            None if wake.by != o.tid && !wake.context.is_interrupt() => walk.task(wake.by, from, to, 0),
            None => walk.own_requests(o, names),
        }
        walk.account.finish()
    }

    /// The account of a libaio bio: its task until the bio had its request (asleep in `blk_mq_get_tag`), then the life of the bio.
    pub fn of_bio(history: &'a History, bio: &Bio, entry: &Entry, from: Nanos) -> Account {
        let to = bio.time.completed.max(from);
        let sent = bio.time.got.unwrap_or(bio.time.start()).clamp(from, to);
        let mut walk = Walk::new(history, from, to);
        walk.task(bio.tid, from, sent, 0);
        walk.request(entry, sent, to, 0);
        walk.account.finish()
    }

    /// The account of a libaio bio that a throttle's worker queued, while its task went on.
    pub fn of_held_bio(history: &'a History, bio: &Bio, entry: &Entry, from: Nanos) -> Account {
        let to = bio.time.completed.max(from);
        let mut walk = Walk::new(history, from, to);
        walk.request(entry, from, to, 0);
        walk.account.finish()
    }

    /// The account of a completed libaio operation of `of`, with what the task `by` that takes it did until it had it.
    pub fn until_taken(history: &'a History, completed: Account, of: Tid, by: Tid, to: Nanos) -> Account {
        let from = completed.to;
        let to = to.max(from);
        let account = Builder::of(Account { to, ..completed });
        let mut walk = Walk { history, account, unseen: Wait::Unknown, dev: DevId(0) };
        let depth = u8::from(by != of && to > from);
        if depth > 0 {
            walk.account.open(Part::Task(by), from, to, 0);
        }
        // If it slept until the completion woke it.
        let done = |n| history.served.get(n).map(|entry| entry.done.completed());
        let wake = history.thread(by).and_then(|thread| thread.wake_after(from));
        let by_this = wake.filter(|w| w.served.and_then(done).is_some_and(|done| done <= from));
        let woken = by_this.map_or(from, |wake| wake.time.clamp(from, to));
        walk.account.leaf(Reason::WakeUp, from, woken, depth);
        walk.task(by, woken, to, depth);
        walk.account.finish()
    }

    /// Uses the last completed request that the submitter had queued, or what an io_uring worker did that then woke
    /// it; then the submitter itself. An io_uring fsync always runs in a worker (io_fsync, io_uring/sync.c).
    fn own_requests(&mut self, o: &Operation, names: &Names) {
        let Operation { tid, from, to, .. } = *o;
        let mine = |e: &&Entry| o.kind != Kind::RingSync && e.done.queuer() == tid;
        let history = self.history;
        if let Some(entry) = history.served.between(from, to).rev().find(mine) {
            let done = entry.done.completed().clamp(from, to);
            self.request(entry, from, done, 0);
            return self.task(tid, done, to, 0);
        }
        let sleeps = history.thread(tid).into_iter().flat_map(|thread| thread.sleeps_between(tid, from, to));
        let wakes = sleeps.filter_map(|sleep| sleep.wake).filter(|wake| names.ring_of(wake.by) == Some(tid));
        let woken = wakes.last().map_or(from, |wake| {
            let at = wake.time.clamp(from, to);
            self.task(wake.by, from, at, 0);
            at
        });
        self.task(tid, woken, to, 0);
    }
}
