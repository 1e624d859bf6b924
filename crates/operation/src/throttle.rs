//! What a control group's limit holds back before the block layer queues it, or between the pieces of a bio (block/blk-throttle.c).

use crate::history::History;
use crate::served::{Done, Entry};
use crate::stretch::State;
use crate::thread::Thread;
use life::{Class, Request};
use trace::{Call, Left, Nanos, Tid};

/// The function of the work item by which the limit releases bios.
pub(crate) const WORK: &str = "blk_throtl_dispatch_work_fn";

/// Shortest wait that can be a limit's. A free tag is allocated in microseconds.
const NO_TAG_AT_ONCE: Nanos = Nanos(100_000);

/// Whether a task is a worker that releases bios held by a control group's limit.
pub(crate) fn is_worker(history: &History, tid: Tid) -> bool {
    let work = history.thread(tid).and_then(Thread::work);
    work.is_some_and(|work| history.texts.text(work.function) == WORK)
}

/// Whether some task sleeps in a call about storage (not libaio's) that has sent nothing: a throttle may hold its bio.
pub(crate) fn anybody_waits(history: &History) -> bool {
    let aio = |call| matches!(call, Call::IoSubmit | Call::IoGetevents);
    let waits = |t: &Thread| {
        let asleep = t.state() == Some(State::Asleep(Left::Uninterruptible));
        asleep && t.open.is_some_and(|open| open.is_storage && !aio(open.call))
    };
    history.threads.values().any(waits)
}

/// Whether a piece waited for its request because its cgroup held it back: the rest of a split bio is submitted again, after its first
/// `block_bio_queue`, and counted again (`submit_bio_noacct`, block/blk-core.c). Proof: a throttle's worker got the request.
pub(crate) fn held_between_pieces(history: &History, entry: &Entry, from: Nanos, to: Nanos) -> bool {
    let is_piece = matches!(&entry.done, Done::Request(r) if r.split);
    let throttle = |t: &Thread| {
        let work = t.work_at(to).filter(|w| w.from > from);
        work.is_some_and(|w| history.texts.text(w.function) == WORK)
    };
    is_piece && to.since(from) >= NO_TAG_AT_ONCE && history.threads.values().any(throttle)
}

/// Whether a read or a synchronous write was held from `a` until it was queued at `b`, if work items were not
/// recorded: a CPU's worker sent it, and a timer had woken that worker in between. A task that needs I/O sends it, or
/// gives it to a worker at once; only a limit makes it wait for a timer (`throtl_pending_timer_fn`).
pub(crate) fn held_for_a_timer(history: &History, entry: &Entry, a: Nanos, b: Nanos) -> bool {
    let by = entry.done.queuer();
    let woken = |t: &Thread| {
        let last = t.sleeps_between(by, a, b).last().and_then(|sleep| sleep.wake);
        last.is_some_and(|wake| wake.context.is_interrupt() && wake.served.is_none())
    };
    let is_wanted = |r: &Request| matches!(Class::of(r.op, r.flags), Class::Read | Class::SyncWrite);
    let is_wanted = matches!(&entry.done, Done::Request(r) if is_wanted(r));
    is_wanted && entry.by_worker && history.thread(by).is_some_and(woken)
}
