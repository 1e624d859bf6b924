//! Who else is at the device: what an I/O had to share it with.
//!
//! Each device keeps running totals: requests issued and completed so far, per class, and the time it was
//! flooded. A request notes the totals when it enters a stage and subtracts them when it leaves it, so its
//! company costs a few additions, however large the crowd.
//!
//! Example: 100 background writes were issued before a read entered the scheduler, 116 when it left: 16 were
//! issued while it waited.

use crate::op::Class;
use serde::Serialize;
use trace::{Bytes, Nanos};

/// From how many background writes in flight on a device is flooded. Half of what SATA takes (32), an
/// eighth of virtio's 256: a depth at which a read waits behind writes on any of them.
pub const FLOOD_DEPTH: u32 = 16;

/// Numbers by class.
pub type ByClass<T> = [T; Class::COUNT];

/// What a request had beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Company {
    /// Requests in flight when it was issued, itself not counted.
    pub beside: ByClass<u32>,
    /// Requests issued while it waited in the scheduler (I2D).
    pub overtaken_by: ByClass<u32>,
    /// Requests completed while it was in the device (D2C).
    pub served: ByClass<u32>,
    /// Bytes completed while it was in the device, of all classes.
    pub served_bytes: Bytes,
    /// The part of its D2C in which the device was flooded with background writes.
    pub flooded: Nanos,
}

/// A reading of a device's totals. The counts wrap around: only their differences are used, and nothing stays in
/// flight for four billion requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    issued: ByClass<u32>,
    completed: ByClass<u32>,
    completed_bytes: u64,
    flooded: u64,
}

/// The totals of one device.
#[derive(Debug, Default)]
pub struct Crowd {
    in_flight: ByClass<u32>,
    totals: Reading,
    flooded_since: Option<Nanos>,
}

impl Crowd {
    /// A request goes to the device. Returns who was there before it.
    pub fn enter(&mut self, class: Class, now: Nanos) -> ByClass<u32> {
        let before = self.in_flight;
        let issued = &mut self.totals.issued[class.index()];
        *issued = issued.wrapping_add(1);
        self.in_flight[class.index()] += 1;
        if class == Class::Background && self.in_flight[class.index()] == FLOOD_DEPTH {
            self.flooded_since = Some(now);
        }
        before
    }

    /// A request leaves the device: completed with so many bytes, or given back (`None`).
    pub fn leave(&mut self, class: Class, completed: Option<Bytes>, now: Nanos) {
        let i = class.index();
        if let Some(bytes) = completed {
            self.totals.completed[i] = self.totals.completed[i].wrapping_add(1);
            self.totals.completed_bytes = self.totals.completed_bytes.wrapping_add(bytes.0);
        }
        if class == Class::Background && self.in_flight[i] == FLOOD_DEPTH {
            if let Some(since) = self.flooded_since.take() {
                self.totals.flooded += now.since(since).0;
            }
        }
        self.in_flight[i] = self.in_flight[i].saturating_sub(1);
    }

    /// Requests in the device now.
    pub fn in_flight(&self) -> &ByClass<u32> {
        &self.in_flight
    }

    /// The totals at this moment.
    pub fn read(&self, now: Nanos) -> Reading {
        let mut r = self.totals;
        if let Some(since) = self.flooded_since {
            r.flooded += now.since(since).0;
        }
        r
    }
}

impl Company {
    /// Fills in what was issued between two readings.
    pub fn waited(&mut self, from: &Reading, to: &Reading) {
        for c in 0..Class::COUNT {
            self.overtaken_by[c] = to.issued[c].wrapping_sub(from.issued[c]);
        }
    }

    /// Fills in what was completed between two readings.
    pub fn shared(&mut self, from: &Reading, to: &Reading) {
        for c in 0..Class::COUNT {
            self.served[c] = to.completed[c].wrapping_sub(from.completed[c]);
        }
        self.served_bytes = Bytes(to.completed_bytes.wrapping_sub(from.completed_bytes));
        self.flooded = Nanos(to.flooded.saturating_sub(from.flooded));
    }
}
