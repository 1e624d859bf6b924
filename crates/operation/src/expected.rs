//! Finds what will end a sleep which nothing had ended when the recording did: the task, if the sleep's stack shows it (the journal's thread
//! that commits, or the flusher that writes back), or else a request in flight.

use crate::history::History;
use crate::served::Entry;
use crate::stretch::Sleep;
use crate::thread::Thread;
use crate::wait::Wait;
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
    waker(h, sleep, dev).map(End::Task).or_else(|| request(h, sleep, wait).map(End::Request))
}

/// The task that the sleeper waits for; if there are several, the one for device `dev`.
fn waker(h: &History, sleep: &Sleep, dev: DevId) -> Option<Tid> {
    let stack = sleep.stack?;
    let is_in = |function| h.texts.text(stack).split('\n').any(|of| of == function);
    let works = |t: &Thread| match () {
        () if is_in(WAITS_FOR_COMMIT) => commits(h, t),
        () if is_in(WAITS_FOR_FLUSHER) => flushes(h, t),
        () => None,
    };
    let all = || h.threads.iter().filter_map(|(tid, t)| works(t).map(|on| (*tid, on)));
    let only = |all: &mut dyn Iterator<Item = (Tid, DevId)>| all.next().filter(|_| all.next().is_none());
    let of_device = only(&mut all().filter(|(_, on)| *on == dev || *on == h.file_systems.disk(dev)));
    of_device.or_else(|| only(&mut all())).map(|(tid, _)| tid)
}

/// The request in flight that the sleeper waits for: of those that it sent itself, or that carry pages of its file, the one sent first.
fn request<'a>(h: &'a History, sleep: &Sleep, wait: Wait) -> Option<&'a Entry> {
    if !is_for_requests(wait) {
        return None;
    }
    let file = h.thread(sleep.tid)?.open.map(|open| (h.file_systems.disk(open.dev), open.inode));
    let has_pages = |e: &&Entry| {
        let inode = e.sent_for.as_ref().and_then(|s| s.inode);
        inode.map(|inode| (h.file_systems.disk(e.done.dev()), inode)) == file && inode.is_some()
    };
    let is_own = |e: &&Entry| e.done.queuer() == sleep.tid;
    h.cut_off.iter().find(is_own).or_else(|| h.cut_off.iter().find(has_pages))
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
            | Wait::JournalBuffer
            | Wait::OrderedData
            | Wait::JournalBlocks
            | Wait::JournalSuperblock
            | Wait::Metadata
            | Wait::Swap
            | Wait::Flush
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
