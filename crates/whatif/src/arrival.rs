//! What arrived at a device, as recorded: every request, and every bio that joined one later in the scheduler.
//!
//! Bios that were joined before the request went to the scheduler (in the task's plug) are one arrival: no setting of
//! a scheduler parts them. A bio that joined later is an arrival of its own, so that it may join or not in a simulation.

use life::{Class, IoObserver, Names, Op, Request, Share};
use std::collections::BTreeMap;
use trace::{Bytes, DevId, Nanos, Sector, Tid};

/// More than these are not kept: a prediction needs a stretch, not a day. 96 bytes each.
pub const MOST_ARRIVALS: usize = 1_000_000;

/// One arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When its first bio was queued.
    pub queued: Nanos,
    /// When it had a request, or had joined one.
    pub got: Nanos,
    /// When it went to the scheduler, if it did.
    pub inserted: Option<Nanos>,
    /// When it went to the device.
    pub issued: Nanos,
    /// When its data was done.
    pub data: Nanos,
    /// When all was done.
    pub completed: Nanos,
    /// Where.
    pub start: Sector,
    /// How much; 0 for a flush.
    pub bytes: Bytes,
    /// Who waits for it.
    pub class: Class,
    /// Whose.
    pub tid: Tid,
    /// What that task is called.
    pub task: String,
    /// Whether the cache is emptied before it.
    pub preflush: bool,
    /// Whether the cache is emptied after it.
    pub postflush: bool,
    /// Whether it joined a request that waited in the scheduler.
    pub joined: bool,
    /// Whether the driver gave it back.
    pub requeued: bool,
}

impl Arrival {
    /// Data to the device.
    pub fn is_write(&self) -> bool {
        self.class != Class::Read
    }
}

/// What one device was asked for.
#[derive(Debug, Default)]
pub struct Recorded {
    /// In order of `queued`.
    pub arrivals: Vec<Arrival>,
    /// Requests of which some step was not seen: begun before the recording, or lost.
    pub partial: u64,
    /// Discards and passthrough.
    pub others: u64,
    /// Requests beyond [`MOST_ARRIVALS`].
    pub too_many: u64,
}

/// Gathers arrivals, by device.
#[derive(Debug, Default)]
pub struct Gather {
    devices: BTreeMap<DevId, Recorded>,
}

impl Gather {
    /// All devices that completed anything.
    pub fn finish(mut self) -> BTreeMap<DevId, Recorded> {
        for recorded in self.devices.values_mut() {
            recorded.arrivals.sort_by_key(|a| (a.queued, a.got, a.issued));
        }
        self.devices
    }
}

impl IoObserver for Gather {
    fn shares(&self) -> bool {
        true
    }

    fn carried(&mut self, r: &Request, shares: &[Share], names: &Names) {
        let to = self.devices.entry(r.dev).or_default();
        if matches!(r.op, Op::Discard | Op::Passthrough) {
            to.others += 1;
            return;
        }
        let t = &r.time;
        if r.op == Op::Flush && t.queued.is_none() {
            // The kernel's own, on behalf of those that wait for it.
            return;
        }
        // An empty flush is not issued itself: the kernel issues one for all that wait.
        let own = t.first_issued.or(t.preflush.map(|f| f.issued));
        let issued = if r.op == Op::Flush { own.or(t.queued) } else { own };
        let (Some(queued), Some(issued)) = (t.queued, issued) else {
            to.partial += 1;
            return;
        };
        if to.arrivals.len() >= MOST_ARRIVALS {
            to.too_many += 1;
            return;
        }
        // A flush has no data step; all of it is between issue and end.
        let data = t.data_completed.unwrap_or(t.completed);
        let entered = t.inserted.unwrap_or(issued);
        let later = |s: &&Share| s.merged && s.joined.is_some_and(|j| j > entered);
        let whole = Arrival {
            queued,
            got: t.got.unwrap_or(queued),
            inserted: t.inserted,
            issued,
            data,
            completed: t.completed,
            start: r.start,
            bytes: r.bytes,
            class: r.class(),
            tid: r.tid,
            task: names.text(r.task).to_string(),
            preflush: t.preflush.is_some() || r.op == Op::Flush,
            postflush: t.postflush.is_some(),
            joined: false,
            requeued: t.requeues > 0,
        };
        let late: Vec<&Share> = shares.iter().filter(later).collect();
        let joined: u64 = late.iter().map(|s| s.bytes.0).sum();
        if late.is_empty() || joined >= r.bytes.0 {
            to.arrivals.push(whole);
            return;
        }
        let at_front: u64 = late.iter().filter(|s| s.start == r.start).map(|s| s.bytes.sectors()).sum();
        to.arrivals.push(Arrival {
            bytes: Bytes(r.bytes.0 - joined),
            start: r.start.after(Bytes::from_sectors(at_front)),
            ..whole.clone()
        });
        for s in late {
            let got = s.joined.unwrap_or(s.queued);
            let (queued, bytes, start) = (s.queued, s.bytes, s.start);
            to.arrivals.push(Arrival { queued, got, start, bytes, joined: true, ..whole.clone() });
        }
    }
}
