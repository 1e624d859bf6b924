//! What delayed a bio until it had its request: sleeps of the task that queued it, for a tag or in writeback throttling.
//!
//! The kernel's events show only when a bio was queued and when it had a request (`block_bio_queue`, `block_getrq`). In between `rq_qos_throttle`
//! and `blk_mq_get_tag` put its task to sleep (block/blk-mq.c). If that is the operation's own task, its stretches show the sleep; this module
//! covers requests that a worker or an io_uring sent for the operation.

use crate::history::History;
use crate::served::Entry;
use crate::stretch::Sleep;
use trace::Nanos;

/// Sleeps from `a` to `b` of the task that queued a bio, if the place where it slept gives a reason.
pub(crate) fn sleeps(history: &History, entry: &Entry, a: Nanos, b: Nanos) -> Vec<Sleep> {
    let tid = entry.done.queuer();
    let Some(thread) = history.thread(tid) else { return vec![] };
    let is_told = |s: &Sleep| s.stack.is_some_and(|id| history.texts.wait(id).reason().is_some());
    thread.sleeps_between(tid, a, b).filter(is_told).collect()
}
