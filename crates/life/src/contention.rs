//! Who else is at the device: what an I/O had to share it with.
//!
//! Each device keeps running totals: requests issued and completed so far, per class, and the time it was
//! flooded. A request notes the totals when it enters a stage and subtracts them when it leaves it, so its
//! counting others in flight costs a few additions, however many there are.
//!
//! Example: 100 background writes were issued before a read entered the scheduler, 116 when it left: 16 were
//! issued while it waited.

use crate::op::Class;
use device::Split;
use serde::Serialize;
use trace::{Bytes, Nanos};

/// From how many background writes in flight on a device is flooded. Half of what SATA takes (32), an
/// eighth of virtio's 256: a depth at which a read waits behind writes on any of them.
pub const FLOOD_DEPTH: u32 = 16;

/// The same in bytes, because a few large writes hold a device as long as many small ones: 4 MiB take a disk that
/// turns about 30 ms, a SATA flash disk 8 ms.
pub const FLOOD_BYTES: Bytes = Bytes(4 << 20);

/// A flood is over when both are below this part of where it began: who came while it was high still waits behind
/// what is left of it.
const EBB: u64 = 4;

/// Numbers by class.
pub type ByClass<T> = [T; Class::COUNT];

/// What a request had beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Contention {
    /// Requests in flight when it was issued, itself not counted.
    pub beside: ByClass<u32>,
    /// Their bytes, of all classes.
    pub beside_bytes: Bytes,
    /// Whether the device was flooded with background writes when it was issued, itself not counted.
    pub into_flood: bool,
    /// Requests issued while it waited in the scheduler (I2D).
    pub overtaken_by: ByClass<u32>,
    /// The part of its I2D in which the driver took nothing: it had given a request back, and none of these was issued again.
    pub refused: Nanos,
    /// Requests completed while it was in the device (D2C).
    pub served: ByClass<u32>,
    /// Bytes completed while it was in the device, of all classes.
    pub served_bytes: Bytes,
    /// The part of its D2C in which the device was flooded with background writes.
    pub flooded: Nanos,
    /// The last part of its D2C: the device was done, and no processor had come to complete it yet. Only where software interrupts
    /// were recorded.
    pub late: Nanos,
    /// Its D2C, split by what the device was doing.
    pub split: Split,
}

/// A reading of a device's totals, on entering a stage: of what was issued ([`DeviceLoad::issued`]) or of what was
/// completed ([`DeviceLoad::completed`]). The counts wrap around: only their differences are used, and nothing stays in
/// flight for four billion requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    requests: ByClass<u32>,
    bytes: u64,
    flooded: u64,
    refused: u64,
}

/// The totals of one device.
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
    /// A request of so many bytes goes to the device.
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

    /// A request of so many bytes leaves the device: `completed`, or requeued.
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

    /// The driver gives a request back: it takes no more.
    pub fn refuse(&mut self, now: Nanos) {
        self.refusing_since.get_or_insert(now);
    }

    /// A requeued one is issued again: it takes them once more, or says so anew.
    pub fn take_again(&mut self, now: Nanos) {
        if let Some(since) = self.refusing_since.take() {
            self.refused = self.refused.saturating_add(now.since(since).0);
        }
    }

    /// Requests in the device now.
    pub fn in_flight(&self) -> &ByClass<u32> {
        &self.in_flight
    }

    /// What was issued up to this moment, and how long the driver took nothing.
    pub fn issued(&self, now: Nanos) -> Reading {
        let refusing = self.refusing_since.map_or(0, |since| now.since(since).0);
        Reading {
            requests: self.issued,
            refused: self.refused.saturating_add(refusing),
            ..Reading::default()
        }
    }

    /// What was completed up to this moment, and how long there was a flood.
    pub fn completed(&self, now: Nanos) -> Reading {
        let mut r = self.completed;
        if let Some(since) = self.flooded_since {
            r.flooded = r.flooded.saturating_add(now.since(since).0);
        }
        r
    }
}

impl Contention {
    /// Fills in who is in the device already.
    pub fn meet(&mut self, load: &DeviceLoad) {
        self.beside = load.in_flight;
        self.beside_bytes = Bytes(load.bytes);
        self.into_flood = load.flooded_since.is_some();
    }

    /// Others in the device when it was issued.
    pub fn ahead(&self) -> u64 {
        self.beside.iter().map(|n| *n as u64).sum()
    }

    /// Others completed while it was in the device.
    pub fn served(&self) -> u64 {
        self.served.iter().map(|n| *n as u64).sum()
    }

    /// The part of `in_device` in which the device served those that were there first, at the pace at which it
    /// served during that time: N others were completed in it, of which at most those ahead count, and its own
    /// turn is one more.
    ///
    /// Example: 7 were ahead and 7 completed in 8 ms: 7 ms of it was the queue. If 10,000 were completed in 5 ms
    /// and 31 were ahead, it was overtaken, and the queue is 16 us of it.
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
