//! Times when a device held as many requests as it ever does: an estimate of when all tags are taken.
//!
//! A request holds a tag from allocation to completion, and no setting gives the number of tags reliably
//! (`queue/nr_requests` may show another number). What can be observed is the largest number of requests that were in
//! the device at once. An I/O that is queued while so many are there and then waits for its request waits for a tag.
//!
//! Invariant: the intervals kept do not overlap, are in order, and in each of them the device held [`Tags::most`].
//!
//! Example: with four tags, requests are issued at 1, 2, 3 and 4, and the first is completed at 9: full from 4 to 9.
//! An I/O queued at 5 that got its request at 10 found no free tag and waited 4 of its 5 in a full device; the last
//! one was its own way back to a CPU.

use std::collections::VecDeque;
use trace::Nanos;

/// Largest number of intervals kept: a wait of a second in a device that completes 4,000 requests in that time.
const MOST_SPANS: usize = 4096;
/// Requests allocated just before may not be in the device yet when an I/O finds no tag: the kernel sends what a task
/// has plugged only when the task goes to sleep.
const ON_THE_WAY: Nanos = Nanos(100_000);

/// The intervals in which one device was full.
#[derive(Clone, Debug, Default)]
pub struct Tags {
    most: u64,
    since: Option<Nanos>,
    full: VecDeque<(Nanos, Nanos)>,
}

/// An I/O's wait for its request in a full device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagWait {
    /// Part of the wait in which the device was full.
    pub full: Nanos,
}

impl Tags {
    /// The largest number of requests that were in the device at once.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// The device holds `depth` requests from `now` on.
    #[inline]
    pub fn set(&mut self, now: Nanos, depth: u64) {
        if depth > self.most {
            // The device was not full before.
            self.most = depth;
            self.full.clear();
            self.since = Some(now);
        } else if depth == self.most {
            self.since.get_or_insert(now);
        } else if let Some(since) = self.since.take() {
            if self.full.len() == MOST_SPANS {
                self.full.pop_front();
            }
            self.full.push_back((since, now.max(since)));
        }
    }

    /// The wait of an I/O from being queued to getting its request; `None` if it did not find the device full.
    pub fn wait(&self, queued: Nanos, got: Nanos) -> Option<TagWait> {
        let now = self.since.map(|s| (s, Nanos(u64::MAX)));
        let first = self.full.partition_point(|&(_, end)| end <= queued);
        let mut spans = self.full.range(first..).copied().chain(now).peekable();
        spans.peek().filter(|&&(begin, _)| begin <= queued + ON_THE_WAY && begin < got)?;
        let inside = spans.take_while(|&(begin, _)| begin < got);
        Some(TagWait { full: inside.map(|(begin, end)| end.min(got).since(begin.max(queued))).sum() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn four() -> Tags {
        let mut t = Tags::default();
        for (at, depth) in [(1, 1), (2, 2), (3, 3), (4, 4), (9, 3), (10, 4), (20, 3)] {
            t.set(Nanos(at * 1_000_000), depth);
        }
        t
    }

    fn wait(t: &Tags, queued: u64, got: u64) -> Option<u64> {
        t.wait(Nanos(queued * 1_000_000), Nanos(got * 1_000_000)).map(|w| w.full.0 / 1_000_000)
    }

    #[test]
    fn the_wait_in_a_full_device() {
        let t = four();
        assert_eq!(t.most(), 4);
        assert_eq!(wait(&t, 5, 10), Some(4));
        assert_eq!(wait(&t, 5, 12), Some(6));
        assert_eq!(wait(&t, 3, 12), None, "it was not full when the I/O came");
        assert_eq!(wait(&t, 20, 30), None);
    }

    #[test]
    fn plugged_requests_are_as_good_as_there() {
        let t = four();
        assert!(t.wait(Nanos(3_950_000), Nanos(8_000_000)).is_some());
        assert!(t.wait(Nanos(3_950_000), Nanos(3_990_000)).is_none());
    }

    #[test]
    fn a_deeper_queue_shows_that_it_was_not_full() {
        let mut t = four();
        t.set(Nanos(30_000_000), 5);
        assert_eq!((t.most(), wait(&t, 5, 10)), (5, None));
        assert_eq!(wait(&t, 31, 40), Some(9), "still full");
    }

    #[test]
    fn bounded() {
        let mut t = Tags::default();
        for i in 0..100_000 {
            t.set(Nanos(2 * i), 1);
            t.set(Nanos(2 * i + 1), 0);
        }
        assert_eq!(t.full.len(), MOST_SPANS);
    }
}
