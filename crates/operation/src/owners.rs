//! Whose data a task sends that sends for others: a flusher, a journal's thread, the worker that writes XFS's
//! log.
//!
//! Of a file it is who wrote to it. Of a journal it is who took part in the transaction that is being
//! committed: first whoever asked for the commit, unless what another changed makes it many times larger.

use crate::history::History;
use crate::stretch::Step;
use crate::texts::Texts;
use crate::thread::Thread;
use crate::writers::{Purpose, SentFor, Tasks, WritingBack};
use life::{Names, TaskName};
use trace::{DevId, Event, Fs, TaskEvent};

/// The work item in which XFS writes gathered changes into its log (fs/xfs/xfs_log_cil.c).
const PUSHES_LOG: &str = "xlog_cil_push_work";

/// A task that sends for others.
enum Sender {
    Flusher(WritingBack),
    /// In this phase of a commit.
    Journal(Step),
    LogWorker,
}

impl Sender {
    /// As which a task sends now; `None`: for itself.
    fn of(thread: &Thread, texts: &Texts) -> Option<Sender> {
        // A device's own pages are the file system's blocks, and nobody's data; their number is the device's
        // (`bdev_add`, block/bdev.c).
        if let Some(back) = thread.writing_back.filter(|b| b.inode != u64::from(b.disk.0)) {
            return Some(Sender::Flusher(back));
        }
        if let Some(step) = thread.steps.back().filter(|_| thread.is_committing()) {
            return Some(Sender::Journal(*step));
        }
        thread.work().filter(|w| texts.text(w.function) == PUSHES_LOG).map(|_| Sender::LogWorker)
    }
}

/// A bio is queued. With the first one of a work item that writes XFS's log, a commit of it begins.
pub(crate) fn sends(h: &mut History, e: &Event) {
    let Some(thread) = h.threads.get_mut(&e.tid).filter(|t| !t.pushes && t.work().is_some()) else { return };
    if matches!(Sender::of(thread, &h.texts), Some(Sender::LogWorker)) {
        thread.pushes = true;
        h.writers.commits(e.dev, TaskName::default(), None);
    }
}

/// The task that the task of an event sends for, if not itself.
pub(crate) fn owner(h: &History, e: &Event) -> Option<SentFor> {
    let thread = h.threads.get(&e.tid)?;
    let (purpose, inode, tasks, cgroup) = match Sender::of(thread, &h.texts)? {
        Sender::Flusher(back) => {
            let dev = h.file_systems.of_bio(back.disk, e.dev);
            let tasks = dev.map_or(&[][..], |dev| h.writers.of(dev, back.inode));
            (Purpose::FileData, Some(back.inode), tasks, back.group())
        }
        Sender::Journal(step) => match thread.flushing {
            Some((dev, inode)) => (Purpose::FileData, Some(inode), h.writers.of(dev, inode), None),
            None => (Purpose::Journal, None, h.writers.committing(step.dev), None),
        },
        Sender::LogWorker => (Purpose::Journal, None, h.writers.committing(e.dev), None),
    };
    Some(SentFor { purpose, inode, tasks: Tasks::from_slice(tasks), cgroup })
}

/// An event of a file system that names no file, or only its journal: the task takes part in the running
/// transaction. The journal's own thread does not: it commits others' changes. Which file it sends the data
/// of while it flushes (data=ordered), the file system's events say.
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

/// A task takes part in the running transaction, with so many blocks that were not in it before. A flusher does so for those who wrote
/// the file; of other work items it is not known for whom. A journal's own thread commits others' changes.
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
