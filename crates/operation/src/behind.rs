//! What goes on behind the back of applications, and page faults: operations that no system call begins.

use crate::operation::{Kind, Operation};
use crate::over::Over;
use crate::thread::{State, Step, Stretch};
use crate::wait::Wait;
use crate::watch::Watch;
use crate::writers::{Purpose, SentFor, Tasks, WritingBack};
use life::{Names, TaskName};
use trace::{CommitPhase, DevId, Event, Fs, TaskEvent, Tid};

/// The work item in which XFS writes gathered changes into its log (fs/xfs/xfs_log_cil.c).
const PUSHES_LOG: &str = "xlog_cil_push_work";

impl Watch {
    /// A task that slept for a page outside of any system call runs again: a page fault is over.
    pub(crate) fn page_fault(&mut self, e: &TaskEvent, next: Tid, names: &Names, over: &mut dyn Over) {
        let Some(thread) = self.history.thread(next) else { return };
        // Who was woken on its way to sleep has the stack, but no sleep.
        let slept = |s: &&Stretch| match s.state {
            State::Asleep(_) => true,
            State::Woken(_) => s.stack.is_some(),
            State::Running | State::Preempted => false,
        };
        let asleep = thread.stretches.iter().rev().skip(1).take(2).find(slept);
        let Some((from, Some(stack))) = asleep.map(|s| (s.from, s.stack)) else { return };
        if !matches!(self.history.texts.wait(stack), Wait::PageFault | Wait::Swap) {
            return;
        }
        let operation = Operation::of(Kind::PageFault, next, names.of(next), from, e.time);
        self.end(operation, names, over);
    }

    /// An event of a file system that names no file, or only its journal: the task takes part in the running transaction.
    /// The journal's own thread does not: it commits others' changes. Which file it sends the data of while it flushes
    /// (data=ordered), the file system's events say.
    pub(crate) fn takes_part(&mut self, e: &TaskEvent, fs: Fs, dev: DevId, inode: u64, names: &Names) {
        if fs != Fs::Ext4 || dev == DevId(0) || e.context.is_interrupt() {
            return;
        }
        let Some(thread) = self.history.thread_mut(e.tid) else { return };
        match (thread.is_committing(), inode) {
            (true, 0) => {}
            (true, inode) => thread.flushing = Some((dev, inode)),
            (false, 0) if thread.steps.is_empty() => self.joins(e, dev, names),
            (false, _) => {}
        }
    }

    /// A task takes part in the running transaction. A flusher does so for those who wrote the file; of other work items
    /// nobody knows for whom they are.
    pub(crate) fn joins(&mut self, e: &TaskEvent, dev: DevId, names: &Names) {
        if dev == DevId(0) || e.context.is_interrupt() {
            return;
        }
        let thread = self.history.thread(e.tid);
        let tasks = match thread.and_then(|t| t.writing_back) {
            Some(back) => Tasks::from_slice(self.history.writers.of(dev, back.inode)),
            None if thread.is_some_and(|t| t.works.back().is_some_and(|w| w.to.is_none())) => Tasks::new(),
            None => Tasks::from_slice(&[names.of(e.tid)]),
        };
        tasks.into_iter().for_each(|task| self.history.writers.changed(dev, task));
    }

    /// A bio was queued: for whom, if not for its own task.
    pub(crate) fn sending(&mut self, e: &Event) -> Option<SentFor> {
        let history = &mut self.history;
        let thread = history.threads.get_mut(&e.tid)?;
        // A device's own pages are the file system's blocks, and nobody's data; their number is the device's (`bdev_add`,
        // block/bdev.c).
        if let Some(back) = thread.writing_back.filter(|b| b.inode != u64::from(b.disk.0)) {
            let tasks = history.writers.on_disk(back.disk, back.inode, e.dev);
            return Some(SentFor {
                purpose: Purpose::FileData,
                inode: Some(back.inode),
                tasks: Tasks::from_slice(tasks),
                cgroup: back.group(),
            });
        }
        if let Some(step) = thread.steps.back().copied().filter(|_| thread.is_committing()) {
            let (purpose, inode, tasks) = match thread.flushing {
                Some((dev, inode)) => (Purpose::FileData, Some(inode), history.writers.of(dev, inode)),
                None => (Purpose::Journal, None, history.writers.committing(step.dev)),
            };
            return Some(SentFor { purpose, inode, tasks: Tasks::from_slice(tasks), cgroup: None });
        }
        let work = thread.works.back().filter(|w| w.to.is_none())?;
        if history.texts.text(work.function) != PUSHES_LOG {
            return None;
        }
        if !std::mem::replace(&mut thread.pushes, true) {
            history.writers.commits(e.dev, TaskName::default());
        }
        let tasks = Tasks::from_slice(history.writers.committing(e.dev));
        Some(SentFor { purpose: Purpose::Journal, inode: None, tasks, cgroup: None })
    }

    pub(crate) fn commit(
        &mut self,
        e: &TaskEvent,
        dev: DevId,
        phase: CommitPhase,
        names: &Names,
        over: &mut dyn Over,
    ) {
        self.kinds.insert(dev, Fs::Ext4);
        if phase == CommitPhase::Start {
            self.history.writers.commits(dev, names.of(e.tid));
        }
        let Some(thread) = self.history.thread_mut(e.tid) else { return };
        let start = thread.steps.iter().rev().take(5).find(|s| s.phase == CommitPhase::Start).map(|s| s.from);
        thread.steps.push_back(Step { from: e.time, phase, dev });
        thread.flushing = None;
        let (CommitPhase::End, Some(from)) = (phase, start) else { return };
        let operation = Operation {
            fs: Fs::Ext4,
            dev,
            ..Operation::of(Kind::JournalCommit, e.tid, names.of(e.tid), from, e.time.max(from))
        };
        self.end(operation, names, over);
    }

    pub(crate) fn writeback_end(&mut self, e: &TaskEvent, names: &Names, over: &mut dyn Over) {
        let Some(thread) = self.history.thread_mut(e.tid) else { return };
        let Some(WritingBack { disk, inode, from, .. }) = thread.writing_back.take() else { return };
        let dev = self.history.writers.place(disk).unwrap_or(disk);
        let operation = Operation {
            fs: self.kinds.get(&dev).copied().unwrap_or_default(),
            dev,
            inode,
            ..Operation::of(Kind::Writeback, e.tid, names.of(e.tid), from, e.time.max(from))
        };
        self.end(operation, names, over);
    }
}
