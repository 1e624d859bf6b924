//! mq-deadline, as in block/mq-deadline.c of Linux 6.18 (6.1 chooses the same for requests without zones).
//!
//! Requests wait in two orders, by sector and by arrival with an expiry, for each direction of each
//! priority. `__dd_dispatch_request` continues in sector order while a batch lasts. A new batch takes reads, unless writes
//! wait and were passed over `writes_starved` times. A batch begins with the oldest request if that has expired or no
//! request lies at or beyond the last position, else where the last one of that direction ended.
//!
//! **Invariant**: a request that was inserted is dispatched once.
//!
//! Example, `fifo_batch=2`, `writes_starved=1`, nothing expired: reads at 10, 20, 30, 40, 50 and a write at 5. R10 R20
//! (the first batch), R30 R40 (the write is passed over, once), W5 (it would be the second time), R50.

use super::{Queued, Scheduler, Slot, Tunables};
use std::collections::{BTreeSet, VecDeque};

/// `enum dd_prio`: real-time, best-effort, idle.
pub const PRIORITIES: usize = 3;

/// The waiting requests of one direction and one priority.
#[derive(Default)]
struct Side {
    /// `sort_list`.
    sorted: BTreeSet<(u64, Slot)>,
    /// `fifo_list`: (expiry, slot, insertion number). Requests that left in sector order are removed when they reach the front.
    fifo: VecDeque<(u64, Slot, u64)>,
    /// `latest_pos`.
    latest: u64,
}

/// The scheduler's state (`struct deadline_data`).
pub struct Deadline {
    tunables: Tunables,
    sides: [[Side; 2]; PRIORITIES],
    /// The waiting requests by slot; insertion number 0: not waiting.
    here: Vec<Here>,
    numbers: u64,
    queued: [usize; PRIORITIES],
    last_write: bool,
    batching: u32,
    starved: u32,
}

#[derive(Clone, Copy, Default)]
struct Here {
    sector: u64,
    inserted: u64,
    number: u64,
}

impl Deadline {
    /// An empty scheduler.
    pub fn new(tunables: Tunables) -> Deadline {
        Deadline {
            tunables,
            sides: Default::default(),
            here: Vec::new(),
            numbers: 0,
            queued: [0; PRIORITIES],
            last_write: false,
            batching: 0,
            starved: 0,
        }
    }

    fn expire(&self, write: bool) -> u64 {
        if write {
            self.tunables.write_expire
        } else {
            self.tunables.read_expire
        }
    }

    /// `deadline_fifo_request`: the oldest request that still waits.
    fn oldest(&mut self, prio: usize, write: bool) -> Option<(u64, Slot)> {
        let side = &mut self.sides[prio][write as usize];
        while let Some(&(expiry, slot, number)) = side.fifo.front() {
            if self.here.get(slot as usize).is_some_and(|h| h.number == number) {
                return Some((expiry, slot));
            }
            side.fifo.pop_front();
        }
        None
    }

    /// `deadline_from_pos`: the first request at or beyond the last position of its direction.
    fn next(&self, prio: usize, write: bool) -> Option<Slot> {
        let side = &self.sides[prio][write as usize];
        side.sorted.range((side.latest, 0)..).next().map(|(_, slot)| *slot)
    }

    fn take(&mut self, prio: usize, write: bool, slot: Slot) -> Slot {
        let here = std::mem::take(&mut self.here[slot as usize]);
        let side = &mut self.sides[prio][write as usize];
        side.sorted.remove(&(here.sector, slot));
        side.latest = here.sector;
        self.queued[prio] -= 1;
        slot
    }

    /// `__dd_dispatch_request`. With `before`, only a request that was inserted by then (`started_after`).
    fn dispatch_prio(&mut self, now: u64, prio: usize, before: Option<u64>) -> Option<Slot> {
        let late = |me: &Deadline, slot: Slot| before.is_some_and(|t| me.here[slot as usize].inserted > t);
        if self.batching < self.tunables.fifo_batch {
            if let Some(slot) = self.next(prio, self.last_write) {
                if late(self, slot) {
                    return None;
                }
                self.batching += 1;
                return Some(self.take(prio, self.last_write, slot));
            }
        }
        let reads = self.oldest(prio, false);
        let writes = self.oldest(prio, true);
        let write = match (reads, writes) {
            (None, None) => return None,
            (Some(_), Some(_)) => {
                let starved = self.starved >= self.tunables.writes_starved;
                self.starved = self.starved.saturating_add(1);
                starved
            }
            (reads, _) => reads.is_none(),
        };
        if write {
            self.starved = 0;
        }
        let (expiry, oldest) = if write { writes? } else { reads? };
        let slot = match self.next(prio, write) {
            // `deadline_check_fifo`: expired from its deadline on.
            Some(next) if now < expiry => next,
            _ => oldest,
        };
        self.last_write = write;
        self.batching = 0;
        if late(self, slot) {
            return None;
        }
        self.batching = 1;
        Some(self.take(prio, write, slot))
    }

    /// `dd_dispatch_prio_aged_requests`: lower priorities that have waited for `prio_aging_expire`.
    fn dispatch_aged(&mut self, now: u64) -> Option<Slot> {
        if (0..PRIORITIES).filter(|p| self.queued[*p] > 0).count() < 2 {
            return None;
        }
        let before = now.checked_sub(self.tunables.prio_aging_expire)?;
        (1..PRIORITIES).find_map(|prio| self.dispatch_prio(now, prio, Some(before)))
    }
}

impl Scheduler for Deadline {
    fn insert(&mut self, now: u64, request: Queued) {
        let at = request.slot as usize;
        if self.here.len() <= at {
            self.here.resize(at + 1, Here::default());
        }
        self.numbers += 1;
        let number = self.numbers;
        self.here[at] = Here { sector: request.sector, inserted: now, number };
        let expiry = now.saturating_add(self.expire(request.write));
        let prio = usize::from(request.priority).min(PRIORITIES - 1);
        let side = &mut self.sides[prio][request.write as usize];
        side.sorted.insert((request.sector, request.slot));
        side.fifo.push_back((expiry, request.slot, number));
        self.queued[prio] += 1;
    }

    fn dispatch(&mut self, now: u64) -> Option<Slot> {
        if let Some(aged) = self.dispatch_aged(now) {
            return Some(aged);
        }
        for prio in 0..PRIORITIES {
            if self.queued[prio] > 0 {
                return self.dispatch_prio(now, prio, None);
            }
        }
        None
    }

    fn moved(&mut self, request: Queued, from: u64) {
        let prio = usize::from(request.priority).min(PRIORITIES - 1);
        let side = &mut self.sides[prio][request.write as usize];
        side.sorted.remove(&(from, request.slot));
        side.sorted.insert((request.sector, request.slot));
        self.here[request.slot as usize].sector = request.sector;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn put(d: &mut Deadline, now: u64, slot: Slot, sector: u64, write: bool) {
        d.insert(now, Queued { slot, sector, write, sync: !write, priority: 1 });
    }

    fn all(d: &mut Deadline, now: u64) -> Vec<Slot> {
        std::iter::from_fn(|| d.dispatch(now)).collect()
    }

    fn with(change: impl FnOnce(&mut Tunables)) -> Deadline {
        let mut t = Tunables::default();
        change(&mut t);
        Deadline::new(t)
    }

    #[test]
    fn sector_order_from_where_the_last_one_was() {
        let mut d = with(|_| {});
        for (slot, sector) in [(0, 50), (1, 10), (2, 30)] {
            put(&mut d, 0, slot, sector, false);
        }
        assert_eq!(all(&mut d, 0), [1, 2, 0]);
        // First from 50 on; the oldest request leads to those below.
        put(&mut d, 1, 3, 20, false);
        put(&mut d, 1, 4, 60, false);
        assert_eq!(all(&mut d, 1), [4, 3]);
    }

    #[test]
    fn an_expired_request_begins_the_next_batch_but_does_not_break_one() {
        let mut d = with(|t| (t.fifo_batch, t.read_expire) = (2, 10 * MS));
        put(&mut d, 0, 0, 90, false);
        for slot in 1..4 {
            put(&mut d, 5 * MS, slot, slot as u64, false);
        }
        // At 9 ms nothing has expired: from sector 0 on. Then 0 expires, but the batch of two continues.
        assert_eq!(d.dispatch(9 * MS), Some(1));
        assert_eq!(d.dispatch(11 * MS), Some(2));
        assert_eq!(d.dispatch(11 * MS), Some(0));
        assert_eq!(d.dispatch(11 * MS), Some(3));
    }

    #[test]
    fn writes_go_after_they_were_passed_over() {
        let mut d = with(|t| (t.fifo_batch, t.writes_starved) = (1, 2));
        for slot in 0..4 {
            put(&mut d, 0, slot, 10 + slot as u64, false);
        }
        for slot in 4..6 {
            put(&mut d, 0, slot, 100 + slot as u64, true);
        }
        // The first read continues a batch that was never begun; two reads pass the writes over; a write; the last read.
        assert_eq!(all(&mut d, 0), [0, 1, 2, 4, 3, 5]);
    }

    #[test]
    fn the_example_above() {
        let mut d = with(|t| (t.fifo_batch, t.writes_starved) = (2, 1));
        for slot in 0..5 {
            put(&mut d, 0, slot, 10 + 10 * slot as u64, false);
        }
        put(&mut d, 0, 5, 5, true);
        assert_eq!(all(&mut d, 0), [0, 1, 2, 3, 5, 4]);
    }

    #[test]
    fn higher_priorities_first_until_a_lower_one_is_aged() {
        let mut d = with(|t| (t.prio_aging_expire, t.fifo_batch) = (100 * MS, 1));
        d.insert(0, Queued { slot: 0, sector: 1, write: false, sync: true, priority: 2 });
        for slot in 1..4 {
            d.insert(50 * MS, Queued { slot, sector: slot as u64, write: false, sync: true, priority: 1 });
        }
        assert_eq!(d.dispatch(60 * MS), Some(1));
        assert_eq!(d.dispatch(101 * MS), Some(0));
        assert_eq!(d.dispatch(101 * MS), Some(2));
    }
}
