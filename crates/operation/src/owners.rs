//! Finds the owner of data when its sender works for other tasks: a flusher, a journal's thread, or the worker that writes XFS's log or
//! discards blocks.
//!
//! The owners of file data are the tasks that wrote to the file. The owners of journal blocks are the tasks that took part in the
//! transaction being committed: first the one that asked for the commit, unless changes of others make it many times larger. The owners of
//! discards (ext4 mounted with `discard`) are the tasks that deleted files before the commit.

use crate::history::History;
use crate::stretch::Step;
use crate::texts::Texts;
use crate::thread::Thread;
use crate::writers::{Purpose, SentFor, Tasks, WritingBack};
use life::{Flusher, Names, Op, TaskName};
use trace::{DevId, Event, Fs, TaskEvent};

/// The function of the work item in which XFS writes gathered changes to its log (fs/xfs/xfs_log_cil.c).
const PUSHES_LOG: &str = "xlog_cil_push_work";

/// The function of the work item in which ext4 discards blocks after a commit; before Linux 5.15 the journal's thread did (fs/ext4/mballoc.c).
const DISCARDS: &str = "ext4_discard_work";

/// A task that sends data for others.
enum Sender {
    Flusher(WritingBack),
    /// A journal's thread, in this phase of a commit.
    Journal(Step),
    LogWorker,
}

impl Sender {
    /// The role in which a task sends now; `None`: for itself.
    fn of(thread: &Thread, texts: &Texts) -> Option<Sender> {
        // Pages of a device itself are metadata blocks of the file system, not a task's data. Their inode number is
        // the device number (`bdev_add`, block/bdev.c).
        if let Some(back) = thread.writing_back.filter(|b| b.inode != u64::from(b.disk.0)) {
            return Some(Sender::Flusher(back));
        }
        if let Some(step) = thread.steps.back().filter(|_| thread.is_committing()) {
            return Some(Sender::Journal(*step));
        }
        thread.work().filter(|w| texts.text(w.function) == PUSHES_LOG).map(|_| Sender::LogWorker)
    }
}

/// A bio is queued. The first one of a work item that writes XFS's log begins a commit.
pub(crate) fn sends(h: &mut History, e: &Event) {
    let Some(thread) = h.threads.get_mut(&e.tid).filter(|t| !t.pushes && t.work().is_some()) else { return };
    if matches!(Sender::of(thread, &h.texts), Some(Sender::LogWorker)) {
        thread.pushes = true;
        h.writers.commits(e.dev, TaskName::default(), None);
    }
}

/// The tasks that an event's task sends for; `None` if it sends for itself. For a file to which nobody was seen to write, that is who probably did.
pub(crate) fn owner(h: &mut History, e: &Event, names: &Names) -> Option<SentFor> {
    let mut sent_for = sends_for(h, e);
    let is_before = |s: &SentFor| s.purpose == Purpose::FileData && s.tasks.is_empty() && s.cgroup.is_none();
    let matters = sent_for.as_ref().is_none_or(is_before) && !h.dirtied.is_empty() && Op::of(e) == Op::Write;
    let dev = if matters { h.file_systems.of_bio(h.file_systems.disk(e.dev), e.dev) } else { None };
    match (&mut sent_for, dev) {
        (None, Some(dev)) => h.dirtied.sent(dev, names.of(e.tid), e.bytes),
        (Some(s), Some(dev)) => {
            s.tasks.extend(h.dirtied.of_before(dev, s.inode.unwrap_or(0), e.bytes));
            s.probably = !s.tasks.is_empty();
        }
        _ => {}
    }
    sent_for
}

fn sends_for(h: &History, e: &Event) -> Option<SentFor> {
    let thread = h.threads.get(&e.tid)?;
    if Op::of(e) == Op::Discard {
        let is_worker = thread.work().is_some_and(|w| h.texts.text(w.function) == DISCARDS);
        let tasks =
            h.writers.deleted(h.file_systems.of_disk(e.dev).filter(|_| is_worker || thread.is_committing())?);
        return Some(SentFor {
            purpose: Purpose::Discard,
            inode: None,
            tasks: Tasks::from_slice(tasks),
            probably: false,
            cgroup: None,
        });
    }
    let (purpose, inode, tasks, cgroup) = match Sender::of(thread, &h.texts)? {
        Sender::Flusher(back) => return Some(written_back(h, &back, e.dev)),
        Sender::Journal(step) => match thread.flushing {
            Some((dev, inode)) => (Purpose::FileData, Some(inode), h.writers.of(dev, inode), None),
            None => (Purpose::Journal, None, h.writers.committing(step.dev), None),
        },
        Sender::LogWorker => (Purpose::Journal, None, h.writers.committing(e.dev), None),
    };
    Some(SentFor { purpose, inode, tasks: Tasks::from_slice(tasks), probably: false, cgroup })
}

/// The flusher that writes back a file to the disk `dev` now, with the owner of that file.
pub(crate) fn flusher(h: &History, dev: DevId) -> Option<Flusher> {
    let back = |t: &Thread| t.writing_back.filter(|back| back.disk == dev);
    let (tid, back) = h.threads.iter().find_map(|(tid, t)| Some((*tid, back(t)?)))?;
    Some(Flusher { tid, owner: written_back(h, &back, dev).owner(), throttled: None })
}

/// The tasks that wrote a file that is written back to `dev`.
fn written_back(h: &History, back: &WritingBack, dev: DevId) -> SentFor {
    let dev = h.file_systems.of_bio(back.disk, dev);
    let tasks = Tasks::from_slice(dev.map_or(&[][..], |dev| h.writers.of(dev, back.inode)));
    SentFor {
        purpose: Purpose::FileData,
        inode: Some(back.inode),
        tasks,
        probably: false,
        cgroup: back.group(),
    }
}

/// A file system's event that names no file, or only its journal, shows that the task takes part in the running
/// transaction. The journal's own thread does not: it commits changes of others. While that thread flushes data
/// (data=ordered), the events name the file.
pub(crate) fn takes_part(h: &mut History, e: &TaskEvent, fs: Fs, dev: DevId, inode: u64, names: &Names) {
    if fs != Fs::Ext4 || dev == DevId(0) || e.context.is_interrupt() {
        return;
    }
    let Some(thread) = h.thread_mut(e.tid) else { return };
    match (thread.is_committing(), inode) {
        (true, 0) => {}
        (true, inode) => thread.flushing = Some((dev, inode)),
        (false, 0) => joins(h, e, dev, 0, names),
        (false, _) => {}
    }
}

/// A task deleted a file: its inode number may be reused from now on.
pub(crate) fn frees(h: &mut History, e: &TaskEvent, dev: DevId, inode: u64, names: &Names) {
    h.is_gone(dev, inode);
    if !e.context.is_interrupt() && h.thread(e.tid).is_none_or(|t| t.work().is_none()) {
        h.writers.deletes(dev, names.of(e.tid));
    }
}

/// A task takes part in the running transaction, with `blocks` blocks that were not in it before. A flusher does so for the tasks that
/// wrote the file; for other work items the task is not known. A journal's own thread commits changes of others.
pub(crate) fn joins(h: &mut History, e: &TaskEvent, dev: DevId, blocks: i32, names: &Names) {
    let thread = h.thread(e.tid);
    if dev == DevId(0) || e.context.is_interrupt() || thread.is_some_and(|t| !t.steps.is_empty()) {
        return;
    }
    let tasks = match thread.and_then(|t| t.writing_back) {
        Some(back) => Tasks::from_slice(h.writers.of(dev, back.inode)),
        None if thread.is_some_and(|t| t.work().is_some()) => Tasks::new(),
        None => Tasks::from_slice(&[names.of(e.tid)]),
    };
    tasks.into_iter().for_each(|task| h.writers.changed(dev, task, e.tid, blocks));
}
