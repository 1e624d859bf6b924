//! The service time of each operation: a few channels, each serving one operation at a time.
//!
//! An operation goes to the first free channel and occupies it for its service time: a fixed time by kind,
//! plus its bytes at the bandwidth of one channel, plus a seek if it does not start where the previous one ended. A
//! flush waits for all earlier operations and occupies all channels. This models a disk whose latency under
//! load follows from queueing: 1 channel and 1 ms per read is a disk of 1,000 reads/s, at any queue depth.
//!
//! Before the channels there may be a limit on operations per second, as cloud volumes have: operations above it wait, even if
//! channels are idle. A thin disk has not allocated chunks that were never written: a write to them waits for their allocation, one chunk
//! after another, while the channels serve other operations. After the channels there may be a shared link, which transfers served operations
//! one after another. A write of part of a physical block reads the block first. A disk that was idle for a while may sleep; waking takes time.
//!
//! Real disks vary: service times may be multiplied by random factors, one per operation; the limit on operations does not vary.
//!
//! Invariant: a channel never serves two operations at once, so its busy time is the sum of its service times.

use std::collections::HashMap;

/// Nanoseconds since the start of the model.
pub type Nanos = u64;

/// Parameters of the disk. Times are in nanoseconds; zero means no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// Number of operations served at once.
    pub channels: usize,
    /// Service time of a read.
    pub read: Nanos,
    /// Service time of a write.
    pub write: Nanos,
    /// Bytes per second of each channel; 0: no limit.
    pub bandwidth: u64,
    /// Bytes per second of the link that all channels share; 0: no limit.
    pub link: u64,
    /// Time of a flush, after all earlier operations.
    pub flush: Nanos,
    /// Additional time if an operation does not start where the previous one ended.
    pub seek: Nanos,
    /// One in this many operations stalls; 0: none.
    pub stall_every: u64,
    /// Additional time of an operation that stalls.
    pub stall: Nanos,
    /// Operations admitted per second; 0: no limit.
    pub rate: u64,
    /// Number of operations admitted at once after a pause, before the limit applies.
    pub burst: u64,
    /// Idle time after which the disk sleeps; 0: never.
    pub sleep_after: Nanos,
    /// Additional time of the operation that wakes the disk.
    pub wake: Nanos,
    /// Time of a discard; like a flush, it waits for all earlier operations and occupies all channels.
    pub discard: Nanos,
    /// Time to allocate a chunk on its first write; 0: all chunks are allocated.
    pub alloc: Nanos,
    /// Size of a physical block in bytes: a write that starts or ends inside one reads first; 0: no such blocks.
    pub block: u64,
    /// Service times vary uniformly by up to this percentage, up or down; 0: no variation. At most 100.
    pub jitter: u64,
}

/// Kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Reads bytes.
    Read,
    /// Writes bytes.
    Write,
    /// Makes all written data durable.
    Flush,
    /// Frees bytes that are no longer needed.
    Discard,
}

/// The state of the disk.
#[derive(Clone, Debug)]
pub struct Queue {
    model: Model,
    /// Time when each channel becomes free.
    free: Vec<Nanos>,
    /// End offset of the last read or write.
    head: u64,
    count: u64,
    /// Time when the next operation is admitted, without a burst.
    let_in: Nanos,
    /// Thin disk: chunks that are allocated, and when that was done.
    placed: HashMap<u64, Nanos>,
    /// Time when the next allocation can start.
    placing: Nanos,
    /// Time when the link becomes free.
    linked: Nanos,
    /// State of the random generator; its seed is fixed, so that a run can be repeated.
    chance: u64,
}

/// Bytes of a chunk of a thin disk: the unit in which VMFS allocates.
pub const CHUNK: u64 = 1 << 20;

/// Seed of the random generator, any number but zero.
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

impl Queue {
    /// An idle disk. A model with 0 channels gets one.
    pub fn new(model: Model) -> Queue {
        let free = vec![0; model.channels.max(1)];
        let placed = HashMap::new();
        Queue { model, free, head: 0, count: 0, let_in: 0, placed, placing: 0, linked: 0, chance: SEED }
    }

    /// Marks chunks as allocated before the start of the model.
    pub fn holds(&mut self, offset: u64, len: u64) {
        self.placed.extend(chunks(offset, len).map(|chunk| (chunk, 0)));
    }

    /// Number of reads and writes so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Accepts an operation at time `now`; returns the time when it is done.
    pub fn arrive(&mut self, now: Nanos, op: Op, offset: u64, len: u64) -> Nanos {
        let busy_until = self.free.iter().copied().fold(self.placing.max(self.linked), Nanos::max);
        let m = &self.model;
        if matches!(op, Op::Flush | Op::Discard) {
            let time = if op == Op::Flush { m.flush } else { m.discard };
            let done = busy_until.max(now).saturating_add(self.vary(time));
            self.free.fill(done);
            if op == Op::Discard {
                let whole = offset.div_ceil(CHUNK)..offset.saturating_add(len) / CHUNK;
                self.placed.retain(|chunk, _| !whole.contains(chunk));
            }
            return done;
        }
        let mut time = if op == Op::Read { m.read } else { m.write };
        time = time.saturating_add(transfer(len, m.bandwidth));
        let is_part = |at: u64| at.checked_rem(m.block).is_some_and(|within| within > 0);
        if op == Op::Write && (is_part(offset) || is_part(offset.saturating_add(len))) {
            time = time.saturating_add(m.read);
        }
        if offset != self.head {
            time = time.saturating_add(m.seek);
        }
        self.head = offset.saturating_add(len);
        self.count += 1;
        if m.stall_every > 0 && self.count % m.stall_every == 0 {
            time = time.saturating_add(m.stall);
        }
        if m.sleep_after > 0 && now.saturating_sub(busy_until) >= m.sleep_after {
            time = time.saturating_add(m.wake);
        }
        let time = self.vary(time);
        let m = &self.model;
        let mut begin = now;
        if let Some(apart) = 1_000_000_000u64.checked_div(m.rate) {
            // Virtual scheduling (ITU-T I.371, GCRA): each is due `apart` after the previous one; a burst is admitted early.
            let early = apart.saturating_mul(m.burst.saturating_sub(1));
            begin = now.max(self.let_in.saturating_sub(early));
            self.let_in = self.let_in.max(now).saturating_add(apart);
        }
        let placed = if op == Op::Write { self.place(begin, offset, len) } else { begin };
        let Some(channel) = self.free.iter_mut().min() else { return now };
        *channel = (*channel).max(begin).saturating_add(time);
        let served = (*channel).max(placed.saturating_add(time));
        self.carry(served, len)
    }

    /// Time when the link has transferred an operation that is served at `served`; operations follow one another.
    fn carry(&mut self, served: Nanos, len: u64) -> Nanos {
        if self.model.link == 0 {
            return served;
        }
        self.linked = self.linked.max(served).saturating_add(transfer(len, self.model.link));
        self.linked
    }

    /// Time when all chunks of a write are allocated.
    fn place(&mut self, now: Nanos, offset: u64, len: u64) -> Nanos {
        let mut ready = now;
        if self.model.alloc == 0 {
            return ready;
        }
        for chunk in chunks(offset, len) {
            let got = match self.placed.get(&chunk) {
                Some(then) => *then,
                None => {
                    self.placing = self.placing.max(now).saturating_add(self.vary(self.model.alloc));
                    self.placed.insert(chunk, self.placing);
                    self.placing
                }
            };
            ready = ready.max(got);
        }
        ready
    }

    /// A time multiplied by a random factor (Marsaglia, Xorshift RNGs, 2003).
    fn vary(&mut self, time: Nanos) -> Nanos {
        let most = self.model.jitter.min(100);
        if most == 0 {
            return time;
        }
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        let thousandths = 1000 - 10 * most + self.chance % (20 * most + 1);
        Nanos::try_from(u128::from(time) * u128::from(thousandths) / 1000).unwrap_or(Nanos::MAX)
    }
}

/// Time for `len` bytes at `bandwidth` bytes per second; 0 without a limit.
fn transfer(len: u64, bandwidth: u64) -> Nanos {
    let time = (u128::from(len) * 1_000_000_000).checked_div(u128::from(bandwidth)).unwrap_or(0);
    Nanos::try_from(time).unwrap_or(Nanos::MAX)
}

/// The chunks that contain these bytes.
fn chunks(offset: u64, len: u64) -> std::ops::Range<u64> {
    offset / CHUNK..offset.saturating_add(len).div_ceil(CHUNK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: Nanos = 1_000_000;
    const DISK: Model = Model {
        channels: 1,
        read: MS,
        write: 2 * MS,
        bandwidth: 0,
        link: 0,
        flush: 5 * MS,
        seek: 0,
        stall_every: 0,
        stall: 0,
        rate: 0,
        burst: 0,
        sleep_after: 0,
        wake: 0,
        discard: 0,
        alloc: 0,
        block: 0,
        jitter: 0,
    };

    #[test]
    fn one_channel_serves_one_after_the_other() {
        let mut q = Queue::new(DISK);
        assert_eq!(q.arrive(0, Op::Read, 0, 4096), MS);
        assert_eq!(q.arrive(0, Op::Write, 0, 4096), 3 * MS);
        assert_eq!(q.arrive(10 * MS, Op::Read, 0, 4096), 11 * MS);
    }

    #[test]
    fn channels_bandwidth_seeks_and_stalls() {
        let model =
            Model { channels: 2, bandwidth: 1_000_000_000, seek: 7, stall_every: 3, stall: 100, ..DISK };
        let mut q = Queue::new(model);
        assert_eq!(q.arrive(0, Op::Read, 0, 1000), MS + 1000);
        assert_eq!(q.arrive(0, Op::Read, 1000, 1000), MS + 1000);
        assert_eq!(q.arrive(0, Op::Read, 0, 0), 2 * MS + 1000 + 7 + 100);
    }

    #[test]
    fn all_channels_share_the_link_and_flushes_wait_for_it() {
        let mut q = Queue::new(Model { channels: 2, link: 1_000_000_000, ..DISK });
        // Both are served after 1 ms; 1 MB takes 1 ms on the link.
        assert_eq!(q.arrive(0, Op::Read, 0, 1_000_000), 2 * MS);
        assert_eq!(q.arrive(0, Op::Read, 0, 1_000_000), 3 * MS);
        assert_eq!(q.arrive(0, Op::Flush, 0, 0), 8 * MS);
        assert_eq!(q.arrive(20 * MS, Op::Read, 0, 0), 21 * MS);
    }

    #[test]
    fn a_part_of_a_block_is_read_before_it_is_written() {
        let mut q = Queue::new(Model { block: 4096, ..DISK });
        assert_eq!(q.arrive(0, Op::Write, 4096, 8192), 2 * MS);
        assert_eq!(q.arrive(10 * MS, Op::Write, 512, 4096), 13 * MS);
        assert_eq!(q.arrive(20 * MS, Op::Write, 4096, 512), 23 * MS);
        assert_eq!(q.arrive(30 * MS, Op::Read, 512, 512), 31 * MS);
    }

    #[test]
    fn a_thin_disk_makes_places_one_after_another_and_a_discard_takes_whole_ones_away() {
        let mut q = Queue::new(Model { channels: 8, alloc: 10 * MS, ..DISK });
        q.holds(0, 1);
        // Chunks with data are allocated; the others are allocated one after another.
        assert_eq!(q.arrive(0, Op::Write, 4096, 4096), 2 * MS);
        assert_eq!(q.arrive(0, Op::Write, CHUNK, 4096), 12 * MS);
        assert_eq!(q.arrive(0, Op::Write, 3 * CHUNK - 4096, 8192), 32 * MS);
        // A write to a chunk being allocated waits for it; a read waits for none, a flush for all.
        assert_eq!(q.arrive(MS, Op::Write, CHUNK + 4096, 4096), 12 * MS);
        assert_eq!(q.arrive(MS, Op::Read, 9 * CHUNK, 4096), 2 * MS);
        assert_eq!(q.arrive(MS, Op::Flush, 0, 0), 35 * MS);
        assert_eq!(q.arrive(40 * MS, Op::Write, CHUNK, 4096), 42 * MS);
        q.arrive(50 * MS, Op::Discard, CHUNK - 4096, 2 * CHUNK);
        assert_eq!(q.arrive(60 * MS, Op::Write, 2 * CHUNK, 4096), 62 * MS, "a part of it was not discarded");
        assert_eq!(q.arrive(70 * MS, Op::Write, CHUNK, 4096), 82 * MS);
    }

    #[test]
    fn a_flush_waits_for_all_and_holds_all() {
        let mut q = Queue::new(Model { channels: 2, ..DISK });
        q.arrive(0, Op::Write, 0, 1);
        assert_eq!(q.arrive(MS, Op::Flush, 0, 0), 7 * MS);
        assert_eq!(q.arrive(MS, Op::Read, 0, 1), 8 * MS);
    }

    #[test]
    fn a_limit_lets_a_burst_in_and_then_one_after_the_other() {
        let mut q = Queue::new(Model { channels: 8, rate: 100, burst: 2, ..DISK });
        let done: Vec<_> = (0..4).map(|_| q.arrive(0, Op::Read, 0, 4096)).collect();
        assert_eq!(done, [MS, MS, 11 * MS, 21 * MS]);
        // After a pause a burst is admitted again.
        assert_eq!(q.arrive(100 * MS, Op::Read, 0, 4096), 101 * MS);
        assert_eq!(q.arrive(100 * MS, Op::Read, 0, 4096), 101 * MS);
        assert_eq!(q.arrive(100 * MS, Op::Read, 0, 4096), 111 * MS);
    }

    #[test]
    fn service_varies_around_its_mean_and_a_limit_does_not() {
        let times = |model: Model| {
            let mut q = Queue::new(model);
            let alone = |i: u64| q.arrive(i * 100 * MS, Op::Read, 0, 4096) - i * 100 * MS;
            (0..1000).map(alone).collect::<Vec<_>>()
        };
        let varied = times(Model { jitter: 20, ..DISK });
        assert!(varied.iter().all(|t| (MS * 8 / 10..=MS * 12 / 10).contains(t)));
        let mean = varied.iter().sum::<u64>() / 1000;
        assert!(mean.abs_diff(MS) < MS / 50, "{mean}");
        assert!(
            varied.iter().max() > Some(&(MS * 115 / 100)) && varied.iter().min() < Some(&(MS * 85 / 100))
        );
        assert_eq!(varied, times(Model { jitter: 20, ..DISK }), "the same again");
        let mut capped = Queue::new(Model { channels: 8, rate: 100, burst: 1, jitter: 50, ..DISK });
        let done: Vec<_> = (0..50).map(|_| capped.arrive(0, Op::Read, 0, 4096)).collect();
        let late = done.iter().enumerate().map(|(i, t)| t - i as u64 * 10 * MS);
        assert!(late.into_iter().all(|t| (MS / 2..=MS * 3 / 2).contains(&t)));
    }

    #[test]
    fn it_sleeps_and_wakes_and_discards_hold_all() {
        let mut q = Queue::new(Model { sleep_after: 50 * MS, wake: 20 * MS, discard: 9 * MS, ..DISK });
        assert_eq!(q.arrive(10 * MS, Op::Read, 0, 4096), 11 * MS);
        assert_eq!(q.arrive(60 * MS, Op::Read, 0, 4096), 61 * MS);
        assert_eq!(q.arrive(111 * MS, Op::Read, 0, 4096), 132 * MS);
        assert_eq!(q.arrive(140 * MS, Op::Discard, 0, 4096), 149 * MS);
        assert_eq!(q.arrive(141 * MS, Op::Read, 0, 4096), 150 * MS);
    }

    proptest! {
        /// With one channel, the busy time of the disk is the sum of its service times, and answers come in order.
        #[test]
        fn work_is_conserved(arrivals in prop::collection::vec((0u64..3 * MS, any::<bool>()), 1..200)) {
            let mut q = Queue::new(DISK);
            let (mut now, mut last, mut busy, mut idle) = (0, 0u64, 0, 0);
            for (gap, read) in arrivals {
                now += gap;
                idle += now.saturating_sub(last);
                let done = q.arrive(now, if read { Op::Read } else { Op::Write }, 0, 512);
                prop_assert!(done > last && done >= now);
                busy += if read { DISK.read } else { DISK.write };
                last = done;
            }
            prop_assert_eq!(last, busy + idle);
        }

        #[test]
        fn no_overflow(now: u64, offset: u64, len: u64, read: u64, bandwidth: u64) {
            let mut q = Queue::new(Model { read, bandwidth, ..DISK });
            prop_assert!(q.arrive(now, Op::Read, offset, len) >= now);
            prop_assert!(q.arrive(now, Op::Flush, offset, len) >= now);
        }
    }
}
