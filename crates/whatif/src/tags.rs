//! Tags: a request waits until one is free.
//!
//! Modelled after lib/sbitmap.c of Linux 6.18: a task that finds all tags in use sleeps. Sleepers are woken in the order of their
//! arrival, several at a time, after as many tags were freed (`sbq_calc_wake_batch`: an eighth of the tags that the most limited task
//! may use, 1 to 8). A task that arrives meanwhile may take a free tag before them. mq-deadline declares that a task may be limited
//! to one tag (`dd_depth_updated`), so with mq-deadline they are woken one by one.
//!
//! **Invariant**: never more tags in use than there are; waiters are woken while others free tags.

use std::collections::VecDeque;

/// `SBQ_WAIT_QUEUES` and `SBQ_WAKE_BATCH` in include/linux/sbitmap.h.
const WAIT_QUEUES: u32 = 8;
const MOST_WOKEN: u32 = 8;
/// `BITS_PER_LONG`.
const LONG: u32 = 64;

/// The tags of a queue and the requests that wait for one.
///
/// A limited request (`async_depth`) finds a tag only in a part of the bitmap; other requests mostly have theirs elsewhere
/// (`sbitmap_get_shallow`), so the limit applies to limited requests only.
pub struct Tags {
    depth: u32,
    in_use: u32,
    /// Number of tags in use by limited requests.
    limited: u32,
    freed: u32,
    batch: u32,
    waiting: VecDeque<(u32, u32)>,
}

/// Number of waiters that are woken at a time if the most limited task may use `fewest` tags.
pub fn wake_batch(fewest: u32) -> u32 {
    (fewest / WAIT_QUEUES).clamp(1, MOST_WOKEN)
}

/// Bits per word of a bitmap of this many tags: at least four words, if there are four tags (`sbitmap_calculate_shift` in
/// include/linux/sbitmap.h of Linux 6.1).
pub fn word_of(tags: u32) -> u32 {
    1 << (tags / 4).clamp(1, LONG).ilog2()
}

impl Tags {
    /// `depth`: number of tags; `batch`: number of waiters that are woken at a time.
    pub fn new(depth: u32, batch: u32) -> Tags {
        let waiting = VecDeque::new();
        Tags { depth: depth.max(1), in_use: 0, limited: 0, freed: 0, batch: batch.max(1), waiting }
    }

    /// Takes a tag, if one is free and limited requests use fewer than `limit`.
    pub fn take(&mut self, limit: u32) -> bool {
        let is_limited = limit < self.depth;
        let free = self.in_use < self.depth && !(is_limited && self.limited >= limit.max(1));
        self.in_use += u32::from(free);
        self.limited += u32::from(free && is_limited);
        free
    }

    /// `who` got no tag and waits for one.
    pub fn wait(&mut self, who: u32, limit: u32) {
        self.waiting.push_back((who, limit));
    }

    /// Frees a tag that was taken with `limit`. Calls `woken` for each waiter that gets a tag now.
    pub fn give(&mut self, limit: u32, mut woken: impl FnMut(u32)) {
        self.in_use = self.in_use.saturating_sub(1);
        self.limited = self.limited.saturating_sub(u32::from(limit < self.depth));
        if self.waiting.is_empty() {
            self.freed = 0;
            return;
        }
        self.freed += 1;
        if self.freed < self.batch && self.in_use > 0 {
            return;
        }
        self.freed = 0;
        for _ in 0..self.batch {
            // A waiter that is woken and finds no tag sleeps again; the next one is woken.
            let Some(at) = (0..self.waiting.len()).find(|i| self.take(self.waiting[*i].1)) else { return };
            if let Some((who, _)) = self.waiting.remove(at) {
                woken(who);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_tags_wake_one_by_one() {
        let mut t = Tags::new(4, wake_batch(4));
        assert!((0..4).all(|_| t.take(4)));
        assert!(!t.take(4));
        t.wait(7, 4);
        t.wait(8, 4);
        let mut woken = Vec::new();
        t.give(64, |w| woken.push(w));
        assert_eq!(woken, [7]);
        t.give(64, |w| woken.push(w));
        assert_eq!(woken, [7, 8]);
    }

    #[test]
    fn many_tags_wake_eight_at_a_time_and_who_comes_first_has_it() {
        let mut t = Tags::new(64, wake_batch(64));
        assert!((0..64).all(|_| t.take(64)));
        (0..9).for_each(|w| t.wait(w, 64));
        let mut woken = Vec::new();
        (0..7).for_each(|_| t.give(64, |w| woken.push(w)));
        assert!(woken.is_empty());
        assert!(t.take(64));
        t.give(64, |w| woken.push(w));
        assert_eq!(woken, [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_limit_leaves_tags_to_others() {
        let mut t = Tags::new(4, wake_batch(4));
        assert!(t.take(2) && t.take(2) && !t.take(2));
        assert!(t.take(4) && t.take(4) && !t.take(4));
        // An unlimited request ends: a tag is free, but not for a limited request.
        t.wait(7, 2);
        t.wait(8, 4);
        let mut woken = Vec::new();
        t.give(4, |w| woken.push(w));
        assert_eq!(woken, [8]);
        t.give(2, |w| woken.push(w));
        assert_eq!(woken, [8, 7]);
    }

    #[test]
    fn words_of_bitmaps() {
        assert_eq!([4, 16, 32, 40, 255, 256, 2048].map(word_of), [1, 4, 8, 8, 32, 64, 64]);
    }
}
