//! What all tasks did and which requests were completed, as far back as anybody may ask.
//!
//! Memory: what happened since the oldest operation that is not over began, and never more than [`MAX`] stretches;
//! an operation older than that has the rest of its time `unexplained`.

use crate::known::Below;
use crate::served::{Done, Entry, Served};
use crate::thread::Thread;
use crate::wait::Wait;
use crate::writers::Writers;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::VecDeque;
use trace::{DevId, Nanos, TextId, Tid};

/// Stretches and works that are kept at most; 48 MB.
const MAX: usize = 1 << 20;

/// Threads that are kept at most: the largest `pid_max` of small machines.
pub(crate) const MAX_THREADS: usize = 1 << 16;

/// Files that are no more, remembered at most; beyond that any number may have been used again.
const MAX_FREED: usize = 1 << 16;

/// Losses that are kept at most; 1 MB.
const MAX_LOSSES: usize = 1 << 16;

/// Files that are no more: another one may have had the number, before or after.
#[derive(Clone, Debug, Default)]
pub struct Freed(FxHashSet<(DevId, u64)>);

impl Freed {
    pub(crate) fn add(&mut self, dev: DevId, inode: u64) {
        if self.0.len() < MAX_FREED {
            self.0.insert((dev, inode));
        }
    }

    /// Whether a number may have been that of more than one file during the recording.
    pub fn has(&self, dev: DevId, inode: u64) -> bool {
        self.0.len() >= MAX_FREED || self.0.contains(&(dev, inode))
    }
}

/// Kernel functions or stacks.
#[derive(Debug, Default)]
pub struct Texts {
    texts: Vec<(Box<str>, Wait)>,
}

impl Texts {
    /// Longest text that is kept: a stack of 64 functions.
    const MAX_BYTES: usize = 8192;
    const MAX_TEXTS: usize = 1 << 16;

    pub(crate) fn define(&mut self, id: TextId, text: &[u8]) {
        let at = id.0 as usize;
        if at >= Self::MAX_TEXTS {
            return;
        }
        if at >= self.texts.len() {
            self.texts.resize(at + 1, (Box::from("?"), Wait::Unknown));
        }
        let text = String::from_utf8_lossy(&text[..text.len().min(Self::MAX_BYTES)]);
        self.texts[at] = (text.as_ref().into(), Wait::of_stack(&text));
    }

    /// The function, or the functions of a stack with the innermost first and `\n` between.
    pub fn text(&self, id: TextId) -> &str {
        self.texts.get(id.0 as usize).map_or("?", |t| &t.0)
    }

    /// What a stack means.
    pub fn wait(&self, id: TextId) -> Wait {
        self.texts.get(id.0 as usize).map_or(Wait::Unknown, |t| t.1)
    }
}

/// The past.
#[derive(Debug, Default)]
pub struct History {
    pub(crate) threads: FxHashMap<Tid, Thread>,
    /// Completed requests.
    pub served: Served,
    /// Stretches of time in which events of some processor are missing.
    pub(crate) losses: VecDeque<(Nanos, Nanos)>,
    /// Functions and stacks.
    pub texts: Texts,
    /// Where devices lie on others, where the recording itself does not say (loop devices): sorted by device and place.
    pub(crate) below: Vec<Below>,
    /// Who wrote to files and changed what journals commit.
    pub writers: Writers,
    /// Files that are no more.
    pub freed: Freed,
    /// Whether dm-crypt's workers were seen at work.
    pub(crate) encrypts: bool,
    /// Nothing before this is kept but what still goes on.
    pub(crate) horizon: Nanos,
}

impl History {
    /// A task.
    pub fn thread(&self, tid: Tid) -> Option<&Thread> {
        self.threads.get(&tid)
    }

    /// A task, made if it is new. The idle task is another one on each processor and is none.
    pub(crate) fn thread_mut(&mut self, tid: Tid) -> Option<&mut Thread> {
        if tid == Tid(0) || (self.threads.len() >= MAX_THREADS && !self.threads.contains_key(&tid)) {
            return None;
        }
        Some(self.threads.entry(tid).or_default())
    }

    /// The request below that served the end of an upper request, from `a` to `b`: of those that touch the place where
    /// the upper one lies, the one completed last.
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

    /// Events of some processor are missing. Losses are kept in the order of their ends; one that ends before the one
    /// in front of it (pages out of order) is taken to last as long.
    pub(crate) fn lost(&mut self, from: Nanos, to: Nanos) {
        if self.losses.len() >= MAX_LOSSES {
            self.losses.pop_front();
        }
        let to = self.losses.back().map_or(to, |last| to.max(last.1));
        self.losses.push_back((from.min(to), to));
    }

    /// Of the losses that touch the time from `a` to `b`, the one that begins first: processors lose at the same time,
    /// and the loss of an idle one may begin long before that of a busy one which ends earlier.
    pub(crate) fn loss(&self, a: Nanos, b: Nanos) -> Option<(Nanos, Nanos)> {
        let after = self.losses.partition_point(|(_, to)| *to <= a);
        self.losses.range(after..).copied().filter(|(from, _)| *from < b).min()
    }

    /// Forgets what nobody may ask for any more: all before the oldest open operation, which began at `oldest`; and
    /// where that is too much, the older half, until it is little enough.
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

    /// How much is kept.
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
        // Out of order: it is not known where it ends, so it lasts as long as the one before.
        h.lost(n(90), n(80));
        assert_eq!(h.loss(n(99), n(200)), Some((n(10), n(100))));
    }
}
