//! What passed until a bio had its request: what the task that queued it slept for meanwhile, a tag or writeback throttling.
//!
//! The kernel's events say only when a bio was queued and when it had a request (`block_bio_queue`, `block_getrq`); in between
//! `rq_qos_throttle` and `blk_mq_get_tag` put its task to sleep (block/blk-mq.c). Where that is the operation's own task its stretches tell it; of a
//! request that a worker or a ring sent for the operation only this does.

use crate::history::History;
use crate::served::Entry;
use crate::stretch::Sleep;
use trace::Nanos;

/// The sleeps from `a` to `b`, of the task that queued a bio, whose reason is known from where it slept.
pub(crate) fn sleeps(history: &History, entry: &Entry, a: Nanos, b: Nanos) -> Vec<Sleep> {
    let tid = entry.done.queuer();
    let Some(thread) = history.thread(tid) else { return vec![] };
    let is_told = |s: &Sleep| s.stack.is_some_and(|id| history.texts.wait(id).reason().is_some());
    thread.sleeps_between(tid, a, b).filter(is_told).collect()
}
