//! What all tasks did and which requests were completed, as far back as needed.
//!
//! Memory: it keeps what happened since the beginning of the oldest operation in progress, and never more than [`MAX`]
//! stretches. The earlier time of an older operation is `unexplained`.

use crate::cgroups::Cgroups;
use crate::dirtied::Dirtied;
use crate::file_systems::FileSystems;
use crate::freed::Freed;
use crate::known::Below;
use crate::open_call::OpenCall;
use crate::process_tree::ProcessTree;
use crate::served::{Done, Entry, Served};
use crate::texts::Texts;
use crate::thread::Thread;
use crate::threads::Threads;
use crate::writers::Writers;
use life::TaskName;
use smallvec::SmallVec;
use std::collections::VecDeque;
use trace::{DevId, Nanos, TaskEvent, Tid};

/// Largest number of stretches and work items kept; 48 MB.
const MAX: usize = 1 << 20;

/// Largest number of threads kept: the largest `pid_max` of small machines.
pub(crate) const MAX_THREADS: usize = 1 << 16;

/// Largest number of losses kept; 1 MB.
const MAX_LOSSES: usize = 1 << 16;

/// The past of all tasks and devices.
#[derive(Debug, Default)]
pub struct History {
    pub(crate) threads: Threads,
    /// Completed requests, and completed bios of md and dm.
    pub served: Served,
    /// Requests that the end of the recording cut off, in the order in which they began; empty before the end.
    pub(crate) cut_off: Vec<Entry>,
    /// For each device a request without events, on its way from the recording's beginning to its end; empty before the end.
    pub(crate) all_along: Vec<Entry>,
    /// Intervals in which events of some CPU are missing.
    pub(crate) losses: VecDeque<(Nanos, Nanos)>,
    /// Texts that stretches and work items refer to.
    pub texts: Texts,
    /// Where devices are on other devices, if the recording itself does not show it (loop devices): sorted by device
    /// and sector.
    pub(crate) below: Vec<Below>,
    pub(crate) file_systems: FileSystems,
    /// Tasks that wrote to files, and tasks that changed what journals commit.
    pub writers: Writers,
    /// What tasks leave in the page cache.
    pub(crate) dirtied: Dirtied,
    /// Files whose inode numbers may have been reused.
    pub freed: Freed,
    /// Control groups of processes.
    pub cgroups: Cgroups,
    /// Which process started which, and which have exited.
    pub process_tree: ProcessTree,
    /// Whether calls that have nothing to do with storage were seen: then all calls are recorded.
    pub(crate) sees_all_calls: bool,
    /// Whether the recording has kernel stacks of sleeping tasks.
    pub(crate) sees_stacks: bool,
    /// Whether system calls are recorded.
    pub(crate) sees_calls: bool,
    /// Whether any context switch was seen.
    pub(crate) sees_switches: bool,
    /// Whether dm-crypt's workers were seen to encrypt or decrypt.
    pub(crate) encrypts: bool,
    /// Time of the first event of a task.
    pub(crate) first_event: Nanos,
    /// Nothing before this time is kept, except what is still in progress.
    pub(crate) horizon: Nanos,
}

impl History {
    /// The past of a task; `None` for one that was never seen, and for the idle task.
    pub fn thread(&self, tid: Tid) -> Option<&Thread> {
        self.threads.get(&tid)
    }

    /// A task wrote to a file.
    pub(crate) fn wrote(&mut self, dev: DevId, inode: u64, task: TaskName) {
        if self.writers.wrote(dev, inode, task) {
            self.dirtied.new_file(dev, task);
        }
    }

    /// A file was deleted or forgotten: its inode number may be reused from now on.
    pub(crate) fn is_gone(&mut self, dev: DevId, inode: u64) {
        self.freed.add(dev, inode);
        self.writers.freed(dev, inode);
    }

    /// A task, added if it is new; `None` for the idle task, which differs on each CPU.
    pub(crate) fn thread_mut(&mut self, tid: Tid) -> Option<&mut Thread> {
        if tid == Tid(0) {
            return None;
        }
        self.threads.get_or_add(tid, MAX_THREADS)
    }

    /// The call that an event's task is in; `None` for an event in an interrupt.
    pub(crate) fn open_call(&mut self, e: &TaskEvent) -> Option<&mut OpenCall> {
        if e.context.is_interrupt() {
            return None;
        }
        self.thread_mut(e.tid)?.open.as_mut()
    }

    /// When the oldest operation in progress of any task began.
    pub(crate) fn oldest_open(&self) -> Option<Nanos> {
        self.threads.values().filter_map(Thread::oldest_open).min()
    }

    /// The request below that served the end of an upper request, from `a` to `b`: among those that overlap the upper
    /// request's place, the one completed last.
    pub(crate) fn request_below(&self, upper: &Done, a: Nanos, b: Nanos) -> Option<&Entry> {
        let (dev, first) = (upper.dev(), upper.start());
        let end = first.after(upper.bytes());
        let from = self.below.partition_point(|p| (p.upper, p.at.after(p.len)) <= (dev, first));
        let places = self.below[from..].iter().take_while(|p| p.upper == dev && p.at < end);
        let on_disk = places.map(|p| {
            let skip = first.0.saturating_sub(p.at.0);
            let len = end.0.min(p.at.after(p.len).0).saturating_sub(first.0.max(p.at.0));
            (p.lower, p.lies.0 + skip, p.lies.0 + skip + len)
        });
        let on_disk: SmallVec<[(DevId, u64, u64); 4]> = on_disk.take(16).collect();
        let touches = |e: &&Entry| {
            let (dev, start) = (e.done.dev(), e.done.start().0);
            let end = e.done.start().after(e.done.bytes()).0;
            on_disk.iter().any(|(d, from, to)| *d == dev && start < *to && end > *from)
        };
        self.served.between(a, b).rev().find(touches)
    }

    /// Whether a request cannot be what a task's direct I/O waits for: another task sent it, alone and for itself. It
    /// was only the last one completed before the wakeup; the sleeper's own request went to a device that was not
    /// recorded. Requests of workers do not count, because they may be for any task (a cgroup's limit, a queue below).
    pub(crate) fn is_anothers(&self, entry: &Entry, who: Tid) -> bool {
        let Done::Request(r) = &entry.done else { return false };
        let works = |t: &Thread| !t.works.is_empty();
        let alone = r.bios <= 1 && r.merges == 0 && r.tid != Tid(0);
        alone && r.tid != who && self.thread(r.tid).is_some_and(|t| !works(t))
    }

    /// Notes that events of some CPU are missing. Losses are kept in the order of their ends; if one ends before the
    /// previous one (pages out of order), its end is moved to that of the previous one.
    pub(crate) fn lost(&mut self, from: Nanos, to: Nanos) {
        if self.losses.len() >= MAX_LOSSES {
            self.losses.pop_front();
        }
        let to = self.losses.back().map_or(to, |last| to.max(last.1));
        self.losses.push_back((from.min(to), to));
    }

    /// Of the losses that overlap the time from `a` to `b`, the one that begins first. CPUs lose events at the same
    /// time, and the loss of an idle CPU may begin long before that of a busy CPU which ends earlier.
    pub(crate) fn loss(&self, a: Nanos, b: Nanos) -> Option<(Nanos, Nanos)> {
        let after = self.losses.partition_point(|(_, to)| *to <= a);
        self.losses.range(after..).copied().filter(|(from, _)| *from < b).min()
    }

    /// Forgets what is not needed any more: all before the oldest operation in progress, which began at `oldest`.
    /// While that leaves too much, the older half is forgotten as well.
    pub(crate) fn forget(&mut self, oldest: Nanos, now: Nanos) {
        self.forget_before(oldest.max(self.horizon));
        while self.len() > MAX && self.horizon < now {
            let half = Nanos(self.horizon.0 + now.since(self.horizon).0.div_ceil(2));
            self.forget_before(half);
        }
    }

    fn forget_before(&mut self, horizon: Nanos) {
        self.horizon = horizon;
        self.threads.values_mut().for_each(|t| t.forget(horizon));
        self.served.forget(horizon);
        while self.losses.front().is_some_and(|(_, to)| *to < horizon) {
            self.losses.pop_front();
        }
    }

    /// Number of stretches, work items, steps, requests and losses kept.
    pub fn len(&self) -> usize {
        self.threads.values().map(Thread::len).sum::<usize>() + self.served.len() + self.losses.len()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_losses_the_one_that_begins_first() {
        let mut h = History::default();
        let n = Nanos;
        h.lost(n(50), n(60));
        h.lost(n(10), n(100));
        assert_eq!(h.loss(n(0), n(200)), Some((n(10), n(100))));
        assert_eq!(h.loss(n(0), n(5)), None);
        assert_eq!(h.loss(n(100), n(200)), None);
        // Out of order: its end is not known, so it lasts as long as the one before.
        h.lost(n(90), n(80));
        assert_eq!(h.loss(n(99), n(200)), Some((n(10), n(100))));
    }
}
