//! The recorded arrivals at a device: every request, and every bio that joined one later in the scheduler.
//!
//! Bios that joined before the request went to the scheduler (in the task's plug) are one arrival: no setting of
//! a scheduler separates them. A bio that joined later is a separate arrival, so that a simulation decides whether it joins.

use life::{Class, IoObserver, Names, Op, Request, Share};
use std::collections::BTreeMap;
use trace::{Bytes, DevId, Nanos, Sector, Tid};

/// Maximal number of arrivals that are kept, at 96 bytes each: a prediction needs a stretch, not a day.
pub const MOST_ARRIVALS: usize = 1_000_000;

/// One arrival. Times are those of the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The time when its first bio was queued.
    pub queued: Nanos,
    /// The time when it got a request, or joined one.
    pub got: Nanos,
    /// The time when it entered the scheduler; `None` if it did not.
    pub inserted: Option<Nanos>,
    /// The time when it was first issued to the device.
    pub issued: Nanos,
    /// The time when its data was completed.
    pub data: Nanos,
    /// The time when all of it was completed, including a flush after the data.
    pub completed: Nanos,
    /// Its first sector.
    pub start: Sector,
    /// Its size; 0 for a flush.
    pub bytes: Bytes,
    /// Its class.
    pub class: Class,
    /// The task that queued it.
    pub tid: Tid,
    /// The name of that task.
    pub task: String,
    /// Whether the device's cache is flushed before it.
    pub preflush: bool,
    /// Whether the device's cache is flushed after it.
    pub postflush: bool,
    /// Whether it joined a request that waited in the scheduler.
    pub joined: bool,
    /// Whether the driver requeued it.
    pub requeued: bool,
}

impl Arrival {
    /// Whether it is not a read.
    pub fn is_write(&self) -> bool {
        self.class != Class::Read
    }
}

/// The requests that one device received.
#[derive(Debug, Default)]
pub struct Recorded {
    /// Sorted by `queued`.
    pub arrivals: Vec<Arrival>,
    /// Number of requests with a missing step: begun before the recording, or lost.
    pub partial: u64,
    /// Number of discards and passthrough requests.
    pub others: u64,
    /// Number of requests beyond [`MOST_ARRIVALS`].
    pub too_many: u64,
}

/// Collects arrivals by device.
#[derive(Debug, Default)]
pub struct Gather {
    devices: BTreeMap<DevId, Recorded>,
}

impl Gather {
    /// The arrivals of all devices that completed a request.
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
            // The kernel's own flush, on behalf of requests that wait for it.
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
        // A flush has no data step: all of its time is between issue and completion.
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
