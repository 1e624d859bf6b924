//! kyber with fixed depths: block/kyber-iosched.c of Linux 6.18 without its controller.
//!
//! Requests wait in a row for each domain (read, write, discard, other), and each domain has tokens: as many requests as
//! may be in the device. `kyber_dispatch_request` takes batches of a domain in turn (`kyber_batch_size`: 16 reads, 8
//! writes), and goes on to the next domain when the row is empty or tokens are out. The controller changes depths ten
//! times a second by histograms of latency; here they stay at the beginning (`kyber_depth`: 256 reads, 128 writes): as
//! long as latencies are below the targets, so do the kernel's. Where the model cannot know better, prediction is
//! refused: see [`crate::settings`].

use super::{Queued, Scheduler, Slot};
use std::collections::VecDeque;

/// `kyber_batch_size` for reads and writes.
const BATCH: [u32; 2] = [16, 8];
/// `kyber_depth` for reads and writes.
const DEPTH: [u32; 2] = [256, 128];

/// The state (`struct kyber_hctx_data`).
#[derive(Default)]
pub struct Kyber {
    rows: [VecDeque<Slot>; 2],
    in_device: [u32; 2],
    domain: usize,
    batching: u32,
}

impl Kyber {
    fn from(&mut self, domain: usize) -> Option<Slot> {
        if self.in_device[domain] >= DEPTH[domain] {
            return None;
        }
        let slot = self.rows[domain].pop_front()?;
        self.in_device[domain] += 1;
        self.batching += 1;
        Some(slot)
    }
}

impl Scheduler for Kyber {
    fn insert(&mut self, _now: u64, request: Queued) {
        self.rows[request.write as usize].push_back(request.slot);
    }

    fn dispatch(&mut self, _now: u64) -> Option<Slot> {
        if self.batching < BATCH[self.domain] {
            if let Some(slot) = self.from(self.domain) {
                return Some(slot);
            }
        }
        self.batching = 0;
        for _ in 0..2 {
            self.domain = 1 - self.domain;
            if let Some(slot) = self.from(self.domain) {
                return Some(slot);
            }
        }
        None
    }

    fn completed(&mut self, write: bool) {
        let n = &mut self.in_device[write as usize];
        *n = n.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_take_turns() {
        let mut k = Kyber::default();
        for slot in 0..40 {
            k.insert(0, Queued { slot, sector: 0, write: slot >= 20, sync: true, priority: 1 });
        }
        let order: Vec<bool> = std::iter::from_fn(|| k.dispatch(0)).map(|slot| slot >= 20).collect();
        let mut runs = vec![(order[0], 0)];
        for write in order {
            match runs.last_mut() {
                Some((w, n)) if *w == write => *n += 1,
                _ => runs.push((write, 1)),
            }
        }
        assert_eq!(runs, [(false, 16), (true, 8), (false, 4), (true, 12)]);
    }

    #[test]
    fn no_more_writes_than_tokens() {
        let mut k = Kyber::default();
        for slot in 0..200 {
            k.insert(0, Queued { slot, sector: 0, write: true, sync: false, priority: 1 });
        }
        assert_eq!(std::iter::from_fn(|| k.dispatch(0)).count(), 128);
        k.completed(true);
        assert!(k.dispatch(0).is_some() && k.dispatch(0).is_none());
    }
}
