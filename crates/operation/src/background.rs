//! Operations that no system call begins: page faults, journal commits, and writeback of a file.

use crate::history::History;
use crate::operation::{Kind, Operation};
use crate::served::Entry;
use crate::stretch::{State, Step, Stretch};
use crate::thread::Thread;
use crate::throttle::held_for_a_timer;
use crate::wait::Wait;
use crate::writers::WritingBack;
use life::{Names, TaskName};
use trace::{CommitPhase, DevId, Fs, Left, Nanos, TaskEvent, Tid};

/// Finds the page fault that ended at `to`, when a task runs again that slept for a page outside of any system call.
pub(crate) fn page_fault(h: &History, task: Tid, to: Nanos, names: &Names) -> Option<Operation> {
    let thread = h.thread(task).filter(|t| t.open.is_none())?;
    // A task woken on its way to sleep has the stack, but no sleep.
    let slept = |s: &&Stretch| match s.state {
        State::Asleep(_) => true,
        State::Woken(_) => s.stack.is_some(),
        State::Running | State::Preempted => false,
    };
    let asleep = thread.stretches.iter().rev().skip(1).take(2).find(slept)?;
    let is_one = match asleep.stack {
        Some(stack) => matches!(h.texts.wait(stack), Wait::PageFault | Wait::Swap),
        None => is_one_without_stack(h, thread, task),
    };
    is_one.then(|| Operation::of(Kind::PageFault, task, names.of(task), asleep.from, to))
}

/// Whether a task that runs again slept for a page, in a recording without stacks. It was in no call, all calls are
/// recorded, and it slept uninterruptibly until a read that it had sent itself was completed, or was held by its
/// control group's limit. A worker may process the data before it wakes the task (btrfs, whose data has checksums).
fn is_one_without_stack(h: &History, thread: &Thread, tid: Tid) -> bool {
    if h.sees_stacks || !h.sees_all_calls || !thread.is_outside {
        return false;
    }
    let mut before = thread.stretches.iter().rev().skip(1);
    let woken = before.next().and_then(Stretch::wake);
    let asleep = before.next().filter(|s| s.state == State::Asleep(Left::Uninterruptible));
    let Some((woken, asleep)) = woken.zip(asleep) else { return false };
    let at_once = woken.served.and_then(|number| h.served.get(number));
    let own = |e: &&Entry| e.done.queuer() == tid && e.done.is_read();
    let before = || h.served.between(asleep.from, woken.time).rev().find(own);
    let Some(entry) = at_once.or_else(before).filter(|entry| entry.done.is_read()) else { return false };
    entry.done.queuer() == tid || held_for_a_timer(h, entry, asleep.from, entry.done.queued())
}

/// A phase of a journal's commit begins. The last phase ends the commit.
pub(crate) fn commit(
    h: &mut History,
    e: &TaskEvent,
    dev: DevId,
    phase: CommitPhase,
    names: &Names,
) -> Option<Operation> {
    h.file_systems.seen(dev, Fs::Ext4);
    if phase == CommitPhase::Start {
        h.writers.commits(dev, names.of(e.tid), who_asked(h, e.tid, dev, names));
    }
    let thread = h.thread_mut(e.tid)?;
    let began = thread.commit_began();
    thread.steps.push_back(Step { from: e.time, phase, dev });
    thread.flushing = None;
    let from = began.filter(|_| phase == CommitPhase::End)?;
    let operation = Operation::of(Kind::JournalCommit, e.tid, names.of(e.tid), from, e.time);
    Some(Operation { fs: Fs::Ext4, dev, ..operation })
}

/// The task that asked for a journal's commit: of those with changes the one that woke its thread (`jbd2_log_start_commit`,
/// fs/jbd2/journal.c). If none did (it had not slept since the last commit, or an interrupt woke it), one in a call that makes data safe.
fn who_asked(h: &History, journal: Tid, dev: DevId, names: &Names) -> Option<TaskName> {
    let wake = h.thread(journal)?.stretches.iter().rev().nth(1).and_then(Stretch::wake);
    let woke = wake.filter(|wake| !wake.context.is_interrupt()).map(|wake| names.of(wake.by));
    let makes_safe =
        |tid| h.thread(tid).and_then(|t| t.open).is_some_and(|open| Kind::Call(open.call).makes_safe());
    h.writers
        .most_of(dev, |task, _| Some(task) == woke)
        .or_else(|| h.writers.most_of(dev, |_, tid| makes_safe(tid)))
}

/// A flusher begins a file.
pub(crate) fn writeback(h: &mut History, e: &TaskEvent, disk: DevId, inode: u64, cgroup: u64) {
    if let Some(thread) = h.thread_mut(e.tid) {
        thread.writing_back = Some(WritingBack { disk, inode, cgroup, from: e.time });
    }
}

/// A flusher ends a file. `None` if it began before the recording.
pub(crate) fn writeback_end(h: &mut History, e: &TaskEvent, names: &Names) -> Option<Operation> {
    let WritingBack { disk, inode, from, .. } = h.thread_mut(e.tid)?.writing_back.take()?;
    if from <= h.first_event {
        return None;
    }
    let dev = h.file_systems.of_disk(disk).unwrap_or(disk);
    let operation = Operation::of(Kind::Writeback, e.tid, names.of(e.tid), from, e.time);
    Some(Operation { fs: h.file_systems.kind(dev), dev, inode, ..operation })
}
