//! Divides dm-crypt's own time: finds the work item that a bio waited for while it had nothing in flight below.
//!
//! By default dm-crypt (drivers/md/dm-crypt.c) gives every bio to a work queue: a write before it goes below, a read
//! after it comes back. A worker runs `kcryptd_crypt` for it. Encrypted data then goes to the thread `dmcrypt_write`,
//! which sends it below.
//!
//! ```text
//!  0 us  fio           Q on dm-0                          in dm itself
//! 14 us  fio           queues an item of kcryptd_crypt    in the queue
//! 80 us  kworker/u4:1  begins with it                     its worker encrypts
//! 300 us kworker/u4:1  is done                            in the queue of dmcrypt_write
//! 350 us dmcrypt_write Q on vda                           in vda
//! ```
//!
//! The item of a bio is found by what queued it: for a write the task that queued the bio, for a read the completion
//! of the request below. An ambiguous item is ignored.

use crate::history::History;
use crate::served::{Done, Entry};
use trace::{Nanos, Tid};

/// The function of dm-crypt's work items, for encryption and decryption (drivers/md/dm-crypt.c).
pub(crate) const CRYPT_WORK: &str = "kcryptd_crypt";

/// A work item of dm-crypt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CryptWork {
    /// Time of `workqueue_queue_work`.
    pub queued: Nanos,
    /// Time of `workqueue_execute_start`.
    pub from: Nanos,
    /// When it ended; the largest time if it has not.
    pub to: Nanos,
    pub worker: Tid,
}

/// The item that a bio waited for from `a` to `b`: its first item that had not ended at `a`. It may have been queued
/// before `a`, because a task falls asleep after queueing it.
pub(crate) fn work_of(history: &History, entry: &Entry, a: Nanos, b: Nanos) -> Option<CryptWork> {
    let Done::Bio(bio) = &entry.done else { return None };
    if !history.encrypts {
        return None;
    }
    let its = |number: u64| {
        let Some(served) = history.served.get(number) else { return false };
        let (dev, from) = (served.done.dev(), served.done.start());
        let below = entry.below.iter().flat_map(|b| b.iter());
        below.filter(|c| c.done.dev() == dev).any(|c| {
            c.done.start() >= from && c.done.start() < from.after(served.done.bytes().max(trace::Bytes(1)))
        })
    };
    let begin = entry.done.timeline().start();
    let mut first: Option<CryptWork> = None;
    for (worker, thread) in history.threads.iter().filter(|(_, t)| !t.works.is_empty()) {
        for work in thread.works_between(begin, b).filter(|w| w.to.is_none_or(|to| to > a)) {
            let Some(queued) = work.queued.filter(|q| q.time >= begin && q.time < b) else { continue };
            let fits = match queued.served {
                Some(number) => its(number),
                None => !queued.context.is_interrupt() && queued.by == bio.tid,
            };
            if !fits || history.texts.text(work.function) != CRYPT_WORK {
                continue;
            }
            if first.is_none_or(|f| queued.time < f.queued) {
                let to = work.to.unwrap_or(Nanos(u64::MAX));
                first = Some(CryptWork { queued: queued.time, from: work.from, to, worker: *worker });
            }
        }
    }
    first
}
