//! What goes on behind the back of applications, and page faults: operations that no system call begins.

use crate::operation::{Kind, Operation};
use crate::over::Over;
use crate::thread::{State, Step, Stretch};
use crate::wait::Wait;
use crate::watch::Watch;
use life::Names;
use trace::{CommitPhase, DevId, Fs, TaskEvent, Tid};

impl Watch {
    /// A task that slept for a page outside of any system call runs again: a page fault is over.
    pub(crate) fn page_fault(&mut self, e: &TaskEvent, next: Tid, names: &Names, over: &mut impl Over) {
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

    /// An event of a journal in a task's context: the task takes part in the running transaction. The journal's own
    /// thread does not: it commits others' changes.
    pub(crate) fn takes_part(&mut self, e: &TaskEvent, fs: Fs, dev: DevId, inode: u64, names: &Names) {
        let commits = |tid| self.history.thread(tid).is_some_and(|t| !t.steps.is_empty());
        if fs == Fs::Ext4 && inode == 0 && dev != DevId(0) && !e.context.is_interrupt() && !commits(e.tid) {
            self.history.changed(dev, names.of(e.tid));
        }
    }

    pub(crate) fn commit(
        &mut self,
        e: &TaskEvent,
        dev: DevId,
        phase: CommitPhase,
        names: &Names,
        over: &mut impl Over,
    ) {
        self.kinds.insert(dev, Fs::Ext4);
        if phase == CommitPhase::Start {
            self.history.commits(dev);
        }
        let Some(thread) = self.history.thread_mut(e.tid) else { return };
        let start = thread.steps.iter().rev().take(5).find(|s| s.phase == CommitPhase::Start).map(|s| s.from);
        thread.steps.push_back(Step { from: e.time, phase, dev });
        let (CommitPhase::End, Some(from)) = (phase, start) else { return };
        let operation = Operation {
            fs: Fs::Ext4,
            dev,
            ..Operation::of(Kind::JournalCommit, e.tid, names.of(e.tid), from, e.time.max(from))
        };
        self.end(operation, names, over);
    }

    pub(crate) fn writeback_end(&mut self, e: &TaskEvent, names: &Names, over: &mut impl Over) {
        let Some(thread) = self.history.thread_mut(e.tid) else { return };
        let Some((dev, inode, from)) = thread.writing_back.take() else { return };
        let operation = Operation {
            fs: self.kinds.get(&dev).copied().unwrap_or_default(),
            dev,
            inode,
            ..Operation::of(Kind::Writeback, e.tid, names.of(e.tid), from, e.time.max(from))
        };
        self.end(operation, names, over);
    }
}
