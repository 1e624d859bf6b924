//! Tags: who submits a request waits until one is free.
//!
//! As lib/sbitmap.c of Linux 6.18 hands them out: a task that finds all in use sleeps; sleepers are woken in the order in
//! which they came, several at a time, after as many tags were freed (`wake_batch`: an eighth of the tags, 1 to 8), and
//! who comes meanwhile may take a free tag before them.
//!
//! **Invariant**: never more tags in use than there are; whoever waits is woken while others give tags back.

use std::collections::VecDeque;

/// `SBQ_WAIT_QUEUES` and `SBQ_WAKE_BATCH` in include/linux/sbitmap.h.
const WAIT_QUEUES: u32 = 8;
const MOST_WOKEN: u32 = 8;

/// The tags of a queue, and who waits for one.
pub struct Tags {
    depth: u32,
    in_use: u32,
    freed: u32,
    waiting: VecDeque<(u32, u32)>,
}

impl Tags {
    /// So many.
    pub fn new(depth: u32) -> Tags {
        Tags { depth: depth.max(1), in_use: 0, freed: 0, waiting: VecDeque::new() }
    }

    /// Takes a tag if fewer than `limit` (`async_depth`) are in use.
    pub fn take(&mut self, limit: u32) -> bool {
        let free = self.in_use < self.depth.min(limit);
        self.in_use += u32::from(free);
        free
    }

    /// `who`, for whom there was none, waits.
    pub fn wait(&mut self, who: u32, limit: u32) {
        self.waiting.push_back((who, limit.max(1)));
    }

    /// Gives a tag back. Who gets one now is told to `woken`.
    pub fn give(&mut self, mut woken: impl FnMut(u32)) {
        self.in_use = self.in_use.saturating_sub(1);
        if self.waiting.is_empty() {
            self.freed = 0;
            return;
        }
        self.freed += 1;
        let batch = (self.depth / WAIT_QUEUES).clamp(1, MOST_WOKEN);
        if self.freed < batch && self.in_use > 0 {
            return;
        }
        self.freed = 0;
        for _ in 0..batch {
            let Some(&(who, limit)) = self.waiting.front() else { return };
            if !self.take(limit) {
                return;
            }
            self.waiting.pop_front();
            woken(who);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_tags_wake_one_by_one() {
        let mut t = Tags::new(4);
        assert!((0..4).all(|_| t.take(4)));
        assert!(!t.take(4));
        t.wait(7, 4);
        t.wait(8, 4);
        let mut woken = Vec::new();
        t.give(|w| woken.push(w));
        assert_eq!(woken, [7]);
        t.give(|w| woken.push(w));
        assert_eq!(woken, [7, 8]);
    }

    #[test]
    fn many_tags_wake_eight_at_a_time_and_who_comes_first_has_it() {
        let mut t = Tags::new(64);
        assert!((0..64).all(|_| t.take(64)));
        (0..9).for_each(|w| t.wait(w, 64));
        let mut woken = Vec::new();
        (0..7).for_each(|_| t.give(|w| woken.push(w)));
        assert!(woken.is_empty());
        assert!(t.take(64));
        t.give(|w| woken.push(w));
        assert_eq!(woken, [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_limit_leaves_tags_to_others() {
        let mut t = Tags::new(4);
        assert!(t.take(2) && t.take(2) && !t.take(2));
        assert!(t.take(4));
    }
}
