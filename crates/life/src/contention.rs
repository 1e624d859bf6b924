//! Contention at a device: what an I/O had to share it with.
//!
//! Each device keeps running totals: requests issued and completed so far, per class, and the time it was flooded. A
//! request notes the totals when it enters a stage and subtracts them when it leaves. So counting the others in flight
//! costs a few additions, however many there are.
//!
//! Example: 100 background writes were issued before a read entered the scheduler, 116 when it left: 16 were
//! issued while it waited.

use crate::op::Class;
use device::Split;
use serde::Serialize;
use trace::{Bytes, Nanos};

/// Number of background writes in flight at which a device is flooded. It is half of SATA's queue depth (32) and 1/16
/// of virtio's 256: at this depth a read waits behind writes on any of them.
pub const FLOOD_DEPTH: u32 = 16;

/// Bytes of background writes in flight at which a device is flooded, because a few large writes occupy it as long as
/// many small ones: 4 MiB take a rotating disk about 30 ms, a SATA SSD 8 ms.
pub const FLOOD_BYTES: Bytes = Bytes(4 << 20);

/// A flood ends when both values are below 1/4 of their thresholds: I/O that came during the flood still waits behind
/// what remains of it.
const EBB: u64 = 4;

/// One value per class, indexed by [`Class::index`].
pub type ByClass<T> = [T; Class::COUNT];

/// What one request competed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Contention {
    /// Requests in flight when it was issued, without itself.
    pub beside: ByClass<u32>,
    /// Bytes of these requests, over all classes.
    pub beside_bytes: Bytes,
    /// Whether the device was flooded with background writes when it was issued, without itself.
    pub into_flood: bool,
    /// Requests issued while it waited in the scheduler (I2D).
    pub overtaken_by: ByClass<u32>,
    /// Part of its I2D in which the driver took nothing: from a requeue of some request until a requeued one was issued again.
    pub refused: Nanos,
    /// Requests completed while it was in the device (D2C).
    pub served: ByClass<u32>,
    /// Bytes completed while it was in the device, of all classes.
    pub served_bytes: Bytes,
    /// Part of its D2C in which the device was flooded with background writes.
    pub flooded: Nanos,
    /// Last part of its D2C: the device was done, but no CPU had processed the completion yet. Zero unless softirqs
    /// were recorded.
    pub late: Nanos,
    /// Its D2C, split by what the device was doing.
    pub split: Split,
}

/// A device's totals when a request enters a stage: of what was issued ([`DeviceLoad::issued`]) or of what was
/// completed ([`DeviceLoad::completed`]). The counts wrap around; only differences are used, and nothing stays in
/// flight for four billion requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    requests: ByClass<u32>,
    bytes: u64,
    flooded: u64,
    refused: u64,
}

/// Running totals of one device.
#[derive(Debug, Default)]
pub struct DeviceLoad {
    in_flight: ByClass<u32>,
    bytes: u64,
    background_bytes: u64,
    issued: ByClass<u32>,
    completed: Reading,
    flooded_since: Option<Nanos>,
    refusing_since: Option<Nanos>,
    refused: u64,
}

impl DeviceLoad {
    /// Adds a request of `bytes` that is issued to the device.
    pub fn enter(&mut self, class: Class, bytes: Bytes, now: Nanos) {
        let issued = &mut self.issued[class.index()];
        *issued = issued.wrapping_add(1);
        self.in_flight[class.index()] += 1;
        self.bytes = self.bytes.saturating_add(bytes.0);
        if class == Class::Background {
            self.background_bytes = self.background_bytes.saturating_add(bytes.0);
            let (count, bytes) = (self.in_flight[class.index()], self.background_bytes);
            if count >= FLOOD_DEPTH || bytes >= FLOOD_BYTES.0 {
                self.flooded_since.get_or_insert(now);
            }
        }
    }

    /// Removes a request of `bytes` from the device: `completed`, or else requeued.
    pub fn leave(&mut self, class: Class, bytes: Bytes, completed: bool, now: Nanos) {
        let i = class.index();
        if completed {
            self.completed.requests[i] = self.completed.requests[i].wrapping_add(1);
            self.completed.bytes = self.completed.bytes.wrapping_add(bytes.0);
        }
        self.in_flight[i] = self.in_flight[i].saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes.0);
        if class == Class::Background {
            self.background_bytes = self.background_bytes.saturating_sub(bytes.0);
            let (count, bytes) = (self.in_flight[i] as u64, self.background_bytes);
            if count < FLOOD_DEPTH as u64 / EBB && bytes < FLOOD_BYTES.0 / EBB {
                if let Some(since) = self.flooded_since.take() {
                    self.completed.flooded = self.completed.flooded.saturating_add(now.since(since).0);
                }
            }
        }
    }

    /// Notes that the driver requeued a request: it takes no more for now.
    pub fn refuse(&mut self, now: Nanos) {
        self.refusing_since.get_or_insert(now);
    }

    /// Notes that a requeued request is issued again: the driver takes requests, or will requeue anew.
    pub fn take_again(&mut self, now: Nanos) {
        if let Some(since) = self.refusing_since.take() {
            self.refused = self.refused.saturating_add(now.since(since).0);
        }
    }

    /// Requests in flight in the device now.
    pub fn in_flight(&self) -> &ByClass<u32> {
        &self.in_flight
    }

    /// Totals of what was issued until `now`, with the time in which the driver took nothing.
    pub fn issued(&self, now: Nanos) -> Reading {
        let refusing = self.refusing_since.map_or(0, |since| now.since(since).0);
        Reading {
            requests: self.issued,
            refused: self.refused.saturating_add(refusing),
            ..Reading::default()
        }
    }

    /// Totals of what was completed until `now`, with the time of floods.
    pub fn completed(&self, now: Nanos) -> Reading {
        let mut r = self.completed;
        if let Some(since) = self.flooded_since {
            r.flooded = r.flooded.saturating_add(now.since(since).0);
        }
        r
    }
}

impl Contention {
    /// Fills in what is in the device already.
    pub fn meet(&mut self, load: &DeviceLoad) {
        self.beside = load.in_flight;
        self.beside_bytes = Bytes(load.bytes);
        self.into_flood = load.flooded_since.is_some();
    }

    /// Number of other requests in the device when it was issued.
    pub fn ahead(&self) -> u64 {
        self.beside.iter().map(|n| *n as u64).sum()
    }

    /// Number of other requests completed while it was in the device.
    pub fn served(&self) -> u64 {
        self.served.iter().map(|n| *n as u64).sum()
    }

    /// Part of `in_device` spent on requests that were in the device first, at the pace of completions in that time.
    /// If N others were completed, each took 1/(N + 1) of it, because the request itself is one more; at most as many
    /// as were ahead count.
    ///
    /// Example: 7 were ahead and 7 completed in 8 ms: 7 ms were queueing. If 31 were ahead and 10,000 were completed
    /// in 5 ms, it was overtaken, and 16 us were queueing.
    pub fn queued_behind(&self, in_device: Nanos) -> Nanos {
        let served = self.served();
        let part = in_device.0 as u128 * served.min(self.ahead()) as u128 / (served as u128 + 1);
        Nanos(part as u64)
    }

    /// Fills in what was issued between two readings.
    pub fn waited(&mut self, from: &Reading, to: &Reading) {
        for c in 0..Class::COUNT {
            self.overtaken_by[c] = to.requests[c].wrapping_sub(from.requests[c]);
        }
        self.refused = Nanos(to.refused.saturating_sub(from.refused));
    }

    /// Fills in what was completed between two readings.
    pub fn shared(&mut self, from: &Reading, to: &Reading) {
        for c in 0..Class::COUNT {
            self.served[c] = to.requests[c].wrapping_sub(from.requests[c]);
        }
        self.served_bytes = Bytes(to.bytes.wrapping_sub(from.bytes));
        self.flooded = Nanos(to.flooded.saturating_sub(from.flooded));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_flood_begins_with_much_and_lasts_until_little_is_left() {
        let mut load = DeviceLoad::default();
        let flooded = |load: &DeviceLoad| {
            let mut c = Contention::default();
            c.meet(load);
            c.into_flood
        };
        for at in 0..3 {
            load.enter(Class::Background, Bytes(MIB), Nanos(at));
        }
        assert!(!flooded(&load));
        load.enter(Class::Background, Bytes(MIB), Nanos(10));
        assert!(flooded(&load));
        for at in [20, 30, 40] {
            load.leave(Class::Background, Bytes(MIB), true, Nanos(at));
            assert!(flooded(&load), "at {at}");
        }
        load.leave(Class::Background, Bytes(MIB), true, Nanos(50));
        assert!(!flooded(&load));
        assert_eq!(load.completed(Nanos(60)).flooded, 40);
    }

    #[test]
    fn the_bytes_of_those_beside() {
        let mut load = DeviceLoad::default();
        let beside = |load: &DeviceLoad| {
            let mut c = Contention::default();
            c.meet(load);
            c.beside_bytes.0
        };
        load.enter(Class::Read, Bytes(MIB), Nanos(0));
        load.enter(Class::Background, Bytes(4096), Nanos(1));
        assert_eq!(beside(&load), MIB + 4096);
        load.leave(Class::Read, Bytes(MIB), false, Nanos(2));
        assert_eq!(beside(&load), 4096);
        load.leave(Class::Background, Bytes(4096), true, Nanos(3));
        load.leave(Class::Background, Bytes(4096), true, Nanos(4));
        assert_eq!(beside(&load), 0);
    }

    #[test]
    fn a_refusal_lasts_until_a_request_is_taken_again() {
        let mut load = DeviceLoad::default();
        let waited = |from: &Reading, to: &Reading| {
            let mut c = Contention::default();
            c.waited(from, to);
            c.refused.0
        };
        let before = load.issued(Nanos(5));
        load.refuse(Nanos(10));
        load.refuse(Nanos(15));
        // Half of it is over.
        assert_eq!(waited(&before, &load.issued(Nanos(20))), 10);
        load.take_again(Nanos(30));
        load.take_again(Nanos(40));
        assert_eq!(waited(&before, &load.issued(Nanos(50))), 20);
        assert_eq!(waited(&load.issued(Nanos(35)), &load.issued(Nanos(50))), 0);
    }

    #[test]
    fn the_queue_is_those_ahead_at_the_pace_of_that_time() {
        let contention = |ahead: u32, served: u32| Contention {
            beside: [ahead, 0, 0, 0, 0],
            served: [0, served, 0, 0, 0],
            ..Contention::default()
        };
        let ms = |n: u64| Nanos(n * 1_000_000);
        assert_eq!(contention(7, 7).queued_behind(ms(8)), ms(7));
        assert_eq!(contention(0, 7).queued_behind(ms(8)), ms(0));
        assert_eq!(contention(7, 0).queued_behind(ms(8)), ms(0));
        assert!(contention(31, 10_000).queued_behind(ms(5)) < Nanos(16_000));
        assert!(contention(u32::MAX, u32::MAX).queued_behind(Nanos(u64::MAX)) < Nanos(u64::MAX));
    }
}
