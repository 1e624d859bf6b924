//! Finds what will end a sleep which nothing had ended when the recording did: the task, if the sleep's stack shows it (the journal's thread
//! that commits, the flusher that writes back, the only other task at the same file), or else a request in flight.

use crate::history::History;
use crate::open_call::OpenCall;
use crate::served::Entry;
use crate::stretch::Sleep;
use crate::thread::Thread;
use crate::wait::Wait;
use crate::writers::Purpose;
use trace::{DevId, Tid};

/// The function in which `fsync` waits for a commit, and that of the journal's thread that makes one (fs/jbd2/journal.c, fs/jbd2/commit.c).
const WAITS_FOR_COMMIT: &str = "jbd2_log_wait_commit";
const COMMITS: &str = "jbd2_journal_commit_transaction";

/// The function in which `sync` waits for flushers, and that of their work item (fs/fs-writeback.c).
const WAITS_FOR_FLUSHER: &str = "wb_wait_for_completion";
const FLUSHES: &str = "wb_workfn";

/// What will end a sleep.
pub(crate) enum End<'a> {
    /// What this task does.
    Task(Tid),
    /// The completion of this request, which the end of the recording cut off.
    Request(&'a Entry),
}

/// What will end a sleep in an operation on device `dev`. `None` if it is not known, or the sleep has ended.
pub(crate) fn end<'a>(h: &'a History, sleep: &Sleep, wait: Wait, dev: DevId) -> Option<End<'a>> {
    let asleep = h.thread(sleep.tid)?.asleep_in_io();
    if sleep.wake.is_some() || asleep.is_none_or(|from| from > sleep.from) {
        return None;
    }
    let task = || waker(h, sleep, wait, dev).map(End::Task);
    let request = || request(h, sleep, wait).map(End::Request);
    let holder = || holder(h, sleep, wait).map(End::Task);
    task().or_else(request).or_else(holder).or_else(|| all_along(h, sleep, wait, dev).map(End::Request))
}

/// The task that the sleeper waits for; if there are several, the one for device `dev`.
fn waker(h: &History, sleep: &Sleep, wait: Wait, dev: DevId) -> Option<Tid> {
    let stack = sleep.stack?;
    let is_in = |function| h.texts.text(stack).split('\n').any(|of| of == function);
    let works = match () {
        () if is_in(WAITS_FOR_COMMIT) || wait == Wait::JournalHandle => commits,
        () if is_in(WAITS_FOR_FLUSHER) => flushes,
        () => return None,
    };
    let all = || h.threads.iter().filter_map(|(tid, t)| works(h, t).map(|on| (*tid, on)));
    let of_device = only(all().filter(|(_, on)| *on == dev || *on == h.file_systems.disk(dev)));
    of_device.or_else(|| only(all())).map(|(tid, _)| tid)
}

/// The only other task in a call about the same file, if the sleeper waits for its lock, or that syncs on the same device, if it waits
/// for the log; and that does not wait for the same itself.
fn holder(h: &History, sleep: &Sleep, wait: Wait) -> Option<Tid> {
    let own = h.thread(sleep.tid)?.open.filter(|_| matches!(wait, Wait::InodeLock | Wait::LogForce))?;
    let same = |other: OpenCall| match wait {
        Wait::InodeLock => own.inode != 0 && (other.dev, other.inode) == (own.dev, own.inode),
        _ => own.dev != DevId(0) && other.dev == own.dev && other.call.is_sync(),
    };
    let waits_too = |t: &Thread| {
        let stack = t.stretches.back().and_then(|s| s.stack);
        stack.is_some_and(|id| h.texts.wait(id) == wait)
    };
    let holds = |(tid, t): &(&Tid, &Thread)| {
        **tid != sleep.tid && t.open.is_some_and(same) && t.asleep_in_io().is_some() && !waits_too(t)
    };
    only(h.threads.iter().filter(holds)).map(|(tid, _)| *tid)
}

/// The item of an iterator that has one.
fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    all.next().filter(|_| all.next().is_none())
}

/// The request in flight that the sleeper waits for: of those that it sent itself, that carry pages of its file, or that write the journal
/// it waits for, the one sent first.
fn request<'a>(h: &'a History, sleep: &Sleep, wait: Wait) -> Option<&'a Entry> {
    let file = h.thread(sleep.tid)?.open.map(|open| (h.file_systems.disk(open.dev), open.inode));
    let writes_journal = |e: &&Entry| {
        let of_journal = e.sent_for.as_ref().is_some_and(|s| s.purpose == Purpose::Journal);
        of_journal && file.is_some_and(|(disk, _)| disk == h.file_systems.disk(e.done.dev()))
    };
    if matches!(wait, Wait::LogForce | Wait::LogPush | Wait::LogSpace | Wait::JournalBuffer) {
        return h.cut_off.iter().find(writes_journal);
    }
    if !is_for_requests(wait) {
        return None;
    }
    let has_pages = |e: &&Entry| {
        let inode = e.sent_for.as_ref().and_then(|s| s.inode);
        inode.map(|inode| (h.file_systems.disk(e.done.dev()), inode)) == file && inode.is_some()
    };
    let is_own = |e: &&Entry| e.done.queuer() == sleep.tid;
    h.cut_off.iter().find(is_own).or_else(|| h.cut_off.iter().find(has_pages))
}

/// The request of a task that has slept since before the recording began: it is in no event, as it was sent before and is not completed.
fn all_along<'a>(h: &'a History, sleep: &Sleep, wait: Wait, dev: DevId) -> Option<&'a Entry> {
    let is_here = |e: &&Entry| e.done.dev() == h.file_systems.disk(dev);
    let is_for_one = sleep.from <= h.first_event && wait != Wait::Unknown && is_for_requests(wait);
    h.all_along.iter().find(is_here).filter(|_| is_for_one)
}

/// Whether completed requests end such a sleep.
fn is_for_requests(wait: Wait) -> bool {
    matches!(
        wait,
        Wait::Unknown
            | Wait::DirectIo
            | Wait::PageRead
            | Wait::PageFault
            | Wait::OwnData
            | Wait::StablePage
            | Wait::OrderedData
            | Wait::JournalBlocks
            | Wait::JournalSuperblock
            | Wait::Metadata
            | Wait::Swap
            | Wait::Flush
            | Wait::Command
    )
}

/// The device that a journal's thread commits for; 0 if the commit began before the recording.
fn commits(h: &History, t: &Thread) -> Option<DevId> {
    let seen = t.steps.back().filter(|_| t.is_committing()).map(|step| step.dev);
    let stands = || {
        let stack = t.stretches.back()?.stack.filter(|_| t.steps.is_empty())?;
        h.texts.text(stack).split('\n').any(|of| of == COMMITS).then_some(DevId(0))
    };
    seen.or_else(stands)
}

/// The disk that a flusher writes back to; 0 if not known.
fn flushes(h: &History, t: &Thread) -> Option<DevId> {
    let is_flusher = t.work().is_some_and(|work| h.texts.text(work.function) == FLUSHES);
    is_flusher.then(|| t.writing_back.map_or(DevId(0), |file| file.disk))
}
