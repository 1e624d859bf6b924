//! kyber: block/kyber-iosched.c of Linux 6.18.
//!
//! Requests wait in one queue per domain (here: reads and writes), and each domain has tokens: the number of requests that may be
//! in the device, initially 256 and 128. Batches of the domains take turns (16 reads, 8 writes); a domain with an empty
//! queue or without tokens is skipped.
//!
//! **The controller** ([`Control`]) checks histograms of latency, in quarters of the target, a tenth of a second after a
//! completion. The device is congested if a tenth of a domain's requests took longer in it than the target. Then
//! each domain's tokens are scaled by the ratio of its p99 of the whole time to the target, so a domain that is better than its
//! target gives tokens up. Otherwise only a domain that misses its target gets more. A percentile is valid from 500 requests on,
//! or after a second.
//!
//! **Invariant**: a domain has at least 1 token and at most its initial number. In the kernel, requests in per-CPU queues may
//! merge; here they do not.

use super::{Queued, Scheduler, Slot};
use serde::Serialize;
use std::collections::VecDeque;

/// `kyber_batch_size` for reads and writes.
const BATCH: [u32; 2] = [16, 8];
/// `kyber_depth` for reads and writes.
const DEPTH: [u32; 2] = [256, 128];
/// `KYBER_LATENCY_SHIFT`, `KYBER_GOOD_BUCKETS`, `KYBER_LATENCY_BUCKETS`: quarters of the target, up to twice the target.
const SHIFT: u32 = 2;
const GOOD: usize = 1 << SHIFT;
const BUCKETS: usize = 2 << SHIFT;
/// `HZ / 10`: nanoseconds after a completion until the controller checks.
const LOOKS: u64 = 100_000_000;
/// Number of samples that are enough (`calculate_percentile`), or the maximal wait for them.
const ENOUGH: u32 = 500;
const PATIENCE: u64 = 1_000_000_000;

/// Latency targets, in nanoseconds (`read_lat_nsec`, `write_lat_nsec`; `kyber_latency_targets`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Targets {
    /// The target of reads.
    pub read: u64,
    /// The target of writes.
    pub write: u64,
}

impl Default for Targets {
    fn default() -> Targets {
        Targets { read: 2_000_000, write: 10_000_000 }
    }
}

/// Latencies of a domain since the last valid percentile, by quarters of the target.
#[derive(Default)]
struct Histogram {
    buckets: [u32; BUCKETS],
}

impl Histogram {
    fn add(&mut self, latency: u64, target: u64) {
        let bucket = latency.saturating_sub(1) / (target >> SHIFT).max(1);
        self.buckets[(bucket as usize).min(BUCKETS - 1)] += 1;
    }

    /// The bucket that contains a percentile, and clears the histogram; `None` while there are too few samples.
    fn percentile(&mut self, percent: u32, now: u64, deadline: &mut Option<u64>) -> Option<usize> {
        let samples: u32 = self.buckets.iter().sum();
        if samples == 0 {
            return None;
        }
        let until = *deadline.get_or_insert(now + PATIENCE);
        if samples < ENOUGH && now < until {
            return None;
        }
        *deadline = None;
        let mut left = (samples * percent).div_ceil(100);
        let mut found = BUCKETS - 1;
        for (i, n) in self.buckets.iter().enumerate().take(BUCKETS - 1) {
            if *n >= left {
                found = i;
                break;
            }
            left -= n;
        }
        self.buckets = [0; BUCKETS];
        Some(found)
    }
}

/// The controller (`kyber_timer_fn`).
struct Control {
    targets: [u64; 2],
    depth: [u32; 2],
    in_device: [Histogram; 2],
    total: [Histogram; 2],
    deadline: [Option<u64>; 2],
    /// `domain_p99`: found in an earlier check and not used yet.
    kept: [Option<usize>; 2],
    looks_at: Option<u64>,
}

impl Control {
    fn look(&mut self, now: u64) {
        let mut congested = false;
        for d in 0..2 {
            let p90 = self.in_device[d].percentile(90, now, &mut self.deadline[d]);
            congested |= p90.is_some_and(|p| p >= GOOD);
        }
        for (d, begun) in DEPTH.iter().enumerate() {
            let mut p99 = self.total[d].percentile(99, now, &mut self.deadline[d]);
            if congested {
                p99 = p99.or(self.kept[d]);
                self.kept[d] = None;
            } else if p99.is_some() {
                self.kept[d] = p99;
            }
            let Some(p99) = p99 else { continue };
            if congested || p99 >= GOOD {
                let depth = (self.depth[d] * (p99 as u32 + 1)) >> SHIFT;
                self.depth[d] = depth.clamp(1, *begun);
            }
        }
    }
}

/// The state of kyber (`struct kyber_hctx_data`, `struct kyber_queue_data`).
pub struct Kyber {
    rows: [VecDeque<Slot>; 2],
    in_device: [u32; 2],
    domain: usize,
    batching: u32,
    control: Control,
}

impl Kyber {
    /// An empty scheduler.
    pub fn new(targets: Targets) -> Kyber {
        let control = Control {
            targets: [targets.read, targets.write],
            depth: DEPTH,
            in_device: Default::default(),
            total: Default::default(),
            deadline: [None; 2],
            kept: [None; 2],
            looks_at: None,
        };
        Kyber { rows: Default::default(), in_device: [0; 2], domain: 0, batching: 0, control }
    }

    fn from(&mut self, domain: usize) -> Option<Slot> {
        if self.in_device[domain] >= self.control.depth[domain] {
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

    fn completed(&mut self, now: u64, request: Queued, total: u64, device: u64) {
        let (d, control) = (request.write as usize, &mut self.control);
        self.in_device[d] = self.in_device[d].saturating_sub(1);
        // The timer fires at the next completion after its time: completions are frequent while requests wait.
        if control.looks_at.is_some_and(|at| now >= at) {
            control.looks_at = None;
            control.look(now);
        }
        control.in_device[d].add(device, control.targets[d]);
        control.total[d].add(total, control.targets[d]);
        control.looks_at.get_or_insert(now + LOOKS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn write(slot: Slot) -> Queued {
        Queued { slot, sector: 0, write: true, sync: false, priority: 1 }
    }

    /// Reads take 3 ms with a target of 2 ms (bucket 5), all of it in the device: congested. Writes take 4 of 10 ms (bucket 1). After 600 of
    /// each: reads keep their 256 (256 * 6 / 4, at most the initial number), writes get 128 * 2 / 4 = 64, then 32.
    #[test]
    fn who_is_better_off_than_its_target_gives_tokens_up() {
        let mut k = Kyber::new(Targets::default());
        let mut at = 0;
        for round in [64, 32] {
            for slot in 0..1200 {
                at += 90_000;
                let (write, took) = if slot % 2 == 0 { (false, 3 * MS) } else { (true, 4 * MS) };
                k.completed(at, Queued { write, ..self::write(slot) }, took, took);
            }
            assert_eq!(k.control.depth, [256, round]);
        }
        // Then the device answers fast. Samples that were not checked yet count once more; after that no domain gives tokens up, and
        // one with too few gets no more.
        for slot in 0..2400 {
            at += 90_000;
            k.completed(at, Queued { write: slot % 2 == 1, ..write(slot) }, MS, MS);
        }
        assert_eq!(k.control.depth, [256, 16]);
    }

    #[test]
    fn few_samples_are_waited_for() {
        let (mut h, mut deadline) = (Histogram::default(), None);
        (0..99).for_each(|_| h.add(MS, 2 * MS));
        h.add(5 * MS, 2 * MS);
        assert_eq!(h.percentile(99, 0, &mut deadline), None);
        assert_eq!(h.percentile(99, PATIENCE - 1, &mut deadline), None);
        assert_eq!(h.percentile(99, PATIENCE, &mut deadline), Some(1));
        assert_eq!(h.percentile(99, PATIENCE, &mut deadline), None);
    }

    #[test]
    fn batches_take_turns() {
        let mut k = Kyber::new(Targets::default());
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
        let mut k = Kyber::new(Targets::default());
        for slot in 0..200 {
            k.insert(0, Queued { slot, sector: 0, write: true, sync: false, priority: 1 });
        }
        assert_eq!(std::iter::from_fn(|| k.dispatch(0)).count(), 128);
        k.completed(0, write(0), 1, 1);
        assert!(k.dispatch(0).is_some() && k.dispatch(0).is_none());
    }
}
