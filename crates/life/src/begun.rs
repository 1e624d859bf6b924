//! Requests that were on their way when the recording began: only their last events are in it.
//!
//! What is issued next waits behind them, and who slept when the recording began may wait for one of them. A reader that can read the beginning
//! twice learns from the first reading what was on its way ([`IoTracker::underway`]), and begins the second with it
//! ([`IoTracker::begins_with`]). Requests that were in their devices count from the beginning, as it is not known when they were issued; they
//! are in no count of completed requests, and nothing is learned from them. Whoever issues a request that was queued before need not have
//! sent it: its sender is not known, except that flushers send all writeback.

use crate::contention::Contention;
use crate::device::FLUSH_SECTOR;
use crate::holding::Holding;
use crate::names::Names;
use crate::observer::IoObserver;
use crate::op::{kind, Class, Op};
use crate::owner::Owner;
use crate::piece::{Key, PieceId, Stage};
use crate::request::Request;
use crate::task_name::TaskName;
use crate::timeline::Timeline;
use crate::tracker::{Device, IoTracker};
use device::Holder;
use trace::{DevId, Event, Flags, Nanos, Tid};

/// Maximal number of requests of all devices, 2 MB of pieces: more than devices have in flight (`nr_requests` is 256 by default, for each queue).
/// A recording with more lacks issues for another reason.
const MOST: usize = 4096;

/// What was on its way to a device when the recording began.
#[derive(Clone, Debug)]
pub struct Underway {
    /// The device.
    pub dev: DevId,
    /// Completions of requests that were in the device, in order of time.
    pub completions: Vec<Event>,
    /// The flusher that sends its writeback.
    pub flusher: Option<Flusher>,
}

/// A flusher that was at work when the recording began.
#[derive(Clone, Copy, Debug)]
pub struct Flusher {
    /// Its thread.
    pub tid: Tid,
    /// The owner of the data that it was writing back, if known.
    pub owner: Option<Owner>,
    /// The only task that the kernel was seen to throttle for writing to the device: probably that owner.
    pub throttled: Option<Tid>,
}

/// Adds devices that had requests all along, none of which was completed.
pub fn with_hung(mut all: Vec<Underway>, hung: &[DevId]) -> Vec<Underway> {
    for dev in hung {
        if !all.iter().any(|u| u.dev == *dev) {
            all.push(Underway { dev: *dev, completions: Vec::new(), flusher: None });
        }
    }
    all
}

impl IoTracker {
    /// Keeps a completion whose issue was not seen, unless events were lost before it. One of no bytes that is no flush ends a request whose
    /// data was completed.
    pub(crate) fn keep_begun(&mut self, op: Op, e: &Event) {
        let is_request = op == Op::Flush || (e.bytes.0 > 0 && op != Op::Passthrough);
        if is_request && !self.has_lost && self.begun.len() <= MOST {
            self.begun.push(*e);
        }
    }

    /// Number of completions so far whose issue was not seen.
    pub fn begun_before(&self) -> usize {
        self.begun.len()
    }

    /// What was on its way when the recording began, by device; no flushers. Devices without requests (md, dm) are left out, and those to
    /// which no bio was seen to be queued. No completions if there are too many.
    pub fn underway(&self) -> Vec<Underway> {
        let is_upper = |id: DevId| self.devices.iter().any(|d| d.upper == Some(id));
        let has_requests = self.devices.iter().filter(|d| d.sees_queues && !is_upper(d.id));
        let credible = || self.begun.iter().filter(|_| self.begun.len() <= MOST);
        let of = |dev: DevId| credible().filter(|e| e.dev == dev).copied().collect();
        has_requests.map(|d| Underway { dev: d.id, completions: of(d.id), flusher: None }).collect()
    }

    /// Begins at `at` with what was on its way.
    pub fn begins_with(&mut self, at: Nanos, all: &[Underway], observer: &mut dyn IoObserver) {
        for underway in all {
            let Some(dev) = self.device(underway.dev) else { continue };
            let device = &mut self.devices[dev as usize];
            (device.sees_queues, device.flusher, device.began) = (true, underway.flusher, Some(at));
            underway.completions.iter().for_each(|e| self.begin_in_device(dev, at, e, observer));
        }
    }

    /// For each device of [`IoTracker::begins_with`] a synchronous write that was on its way from then until `at`: what waits for I/O all the
    /// time, and whose request has no event, waits for one like this.
    pub fn all_along(&self, at: Nanos) -> Vec<Request> {
        let of = |(began, d): (Nanos, &Device)| {
            let class = Class::SyncWrite;
            let split = d.inside.all_along(began, at, class.index() as u8);
            let contention = Contention { split, ..Contention::default() };
            let time = Timeline {
                first_issued: Some(began),
                issued: Some(began),
                data_completed: Some(at),
                completed: at,
                ..Timeline::default()
            };
            Request { dev: d.id, op: Op::Write, flags: Flags::SYNC, time, contention, ..Request::default() }
        };
        self.devices.iter().filter_map(|d| Some((d.began?, d))).map(of).collect()
    }

    fn begin_in_device(&mut self, dev: u32, at: Nanos, completion: &Event, observer: &mut dyn IoObserver) {
        let op = Op::of(completion);
        let start = if op == Op::Flush { FLUSH_SECTOR } else { completion.sector };
        let id = self.begin_unseen(Key { dev, start, op }, &Event { time: at, ..*completion }, Stage::Issued);
        self.tally.began_before += 1;
        let device = &mut self.devices[dev as usize];
        let piece = self.table.get_mut(id);
        piece.begun_before = true;
        (piece.request.time.first_issued, piece.request.time.issued) = (Some(at), Some(at));
        if op == Op::Flush {
            piece.end = FLUSH_SECTOR;
        }
        piece.since = device.load.completed(at);
        let (class, bytes) = (piece.request.class(), piece.bytes());
        device.load.enter(class, bytes, at);
        let holder = holder(&mut self.names, &piece.request);
        device.inside.issue(at, holder, class.index() as u8, piece.start, bytes, &mut piece.ticket);
        piece.ticket.begins_before();
        observer.in_flight(device.id, at, device.load.in_flight());
    }

    /// Begins a request that was queued before the recording. Its sender is the one that issues it only if no queueing is recorded.
    pub(crate) fn begin_unseen(&mut self, key: Key, e: &Event, stage: Stage) -> PieceId {
        let device = &self.devices[key.dev as usize];
        if !device.sees_queues || device.losses > 0 || key.op == Op::Passthrough {
            return self.begin(key, e, self.names.of(e.tid), stage);
        }
        let flusher = device.flusher.filter(|_| Class::of(key.op, kind(e)) == Class::Background);
        let tid = flusher.map_or(Tid(0), |f| f.tid);
        let task = flusher.map_or(TaskName::default(), |f| self.names.of(f.tid));
        let id = self.begin(key, &Event { tid, ..*e }, task, stage);
        self.table.get_mut(id).request.owner = flusher.and_then(|f| f.owner);
        id
    }
}

/// Whether this stands for the sender of a request of which it is not known who sent it.
#[inline]
pub fn is_unknown_sender(tid: Tid, task: TaskName) -> bool {
    (tid, task) == (Tid(0), TaskName(0))
}

/// The holder of a request; one whose sender is not known has none of its own.
#[inline]
pub(crate) fn holder(names: &mut Names, r: &Request) -> Holder {
    match is_unknown_sender(r.tid, r.task) {
        true => Holder(0),
        false => names.holder(Holding::of(r)),
    }
}
