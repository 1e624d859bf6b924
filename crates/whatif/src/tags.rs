//! Tags: who submits a request waits until one is free.
//!
//! As lib/sbitmap.c of Linux 6.18 hands them out: a task that finds all in use sleeps; sleepers are woken in the order in
//! which they came, several at a time, after as many tags were freed (`sbq_calc_wake_batch`: an eighth of the tags that the
//! most limited task may use, 1 to 8), and who comes meanwhile may take a free tag before them. mq-deadline says that a task
//! may be limited to one tag (`dd_depth_updated`), so there they are woken one by one.
//!
//! **Invariant**: never more tags in use than there are; waiters are woken while others free tags.

use std::collections::VecDeque;

/// `SBQ_WAIT_QUEUES` and `SBQ_WAKE_BATCH` in include/linux/sbitmap.h.
const WAIT_QUEUES: u32 = 8;
const MOST_WOKEN: u32 = 8;

/// The tags of a queue, and who waits for one.
///
/// Who is limited (`async_depth`) finds a tag only among so many places of the bitmap; others mostly have theirs elsewhere
/// (`sbitmap_get_shallow`), so the limit is one on the limited.
pub struct Tags {
    depth: u32,
    in_use: u32,
    /// Those in use by who is limited.
    limited: u32,
    freed: u32,
    batch: u32,
    waiting: VecDeque<(u32, u32)>,
}

/// How many are woken at a time where the most limited task may use `fewest` tags.
pub fn wake_batch(fewest: u32) -> u32 {
    (fewest / WAIT_QUEUES).clamp(1, MOST_WOKEN)
}

impl Tags {
    /// So many, and so many tasks woken at a time.
    pub fn new(depth: u32, batch: u32) -> Tags {
        let waiting = VecDeque::new();
        Tags { depth: depth.max(1), in_use: 0, limited: 0, freed: 0, batch: batch.max(1), waiting }
    }

    /// Takes a tag if there is one, and fewer than `limit` are in use by the limited.
    pub fn take(&mut self, limit: u32) -> bool {
        let is_limited = limit < self.depth;
        let free = self.in_use < self.depth && !(is_limited && self.limited >= limit.max(1));
        self.in_use += u32::from(free);
        self.limited += u32::from(free && is_limited);
        free
    }

    /// `who`, which got none, waits.
    pub fn wait(&mut self, who: u32, limit: u32) {
        self.waiting.push_back((who, limit));
    }

    /// Gives a tag back that was taken with `limit`. Who gets one now is told to `woken`.
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
            // Who is woken and finds none sleeps again; the next one is woken.
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
        // One of the unlimited ends: there is a tag, but not for who is limited.
        t.wait(7, 2);
        t.wait(8, 4);
        let mut woken = Vec::new();
        t.give(4, |w| woken.push(w));
        assert_eq!(woken, [8]);
        t.give(2, |w| woken.push(w));
        assert_eq!(woken, [8, 7]);
    }
}
