//! The tracker: a state machine that takes in events and gives out finished bios and requests. It does no I/O and
//! knows no file format.
//!
//! A bio is what a task asked for, a request is what the device was asked for. [Pieces](crate::piece) connect the two:
//! a bio starts as one piece, a split makes two pieces of one, a merge joins two into one, and a request is a piece
//! that got a tag. Only what is in flight is kept.
//! Invariant: bytes queued = bytes completed + in flight at the end + lost ([`Tally`]).

use crate::begun::Flusher;
use crate::bio::Bio;
use crate::bios::Bios;
use crate::contention::DeviceLoad;
use crate::early::Early;
use crate::flush::Flushes;
use crate::names::Names;
use crate::observer::IoObserver;
use crate::op::Class;
use crate::owner::Owner;
use crate::piece::{Piece, PieceId, Table};
use crate::plug::Plugs;
use crate::read_ahead::ReadsAhead;
use crate::rows::{Rows, Unclaimed};
use crate::stack::Announced;
use crate::tally::{Tally, Unfinished};
use device::{Inside, Model, Services};
use rustc_hash::FxHashMap;
use trace::{Action, Batch, Detail, DevId, Event, Nanos, Tid};

/// State of one device.
#[derive(Default)]
pub(crate) struct Device {
    pub id: DevId,
    pub load: DeviceLoad,
    pub inside: Inside,
    pub flushes: Flushes,
    pub announced: Announced,
    pub rows: Rows,
    /// Whether bios are seen to be queued.
    pub sees_queues: bool,
    /// When the recording began, if it is known what was on its way then.
    pub began: Option<Nanos>,
    /// Who sends its writeback, as far as known when the recording began.
    pub flusher: Option<Flusher>,
    /// Pieces in [`Stage::Queued`](crate::piece::Stage), oldest first.
    pub waiting: Vec<PieceId>,
    /// The stacked device that sent bios to this one.
    pub upper: Option<DevId>,
    /// Number of events lost so far on this device.
    pub losses: u64,
}

/// Everything in flight on all devices.
#[derive(Default)]
pub struct IoTracker {
    pub(crate) table: Table,
    pub(crate) bios: Bios,
    /// Buffer for the bio that is passed to the observer, reused to avoid allocation.
    pub(crate) told: Bio,
    pub(crate) devices: Vec<Device>,
    which: FxHashMap<DevId, u32>,
    recent: Option<(DevId, u32)>,
    pub(crate) names: Names,
    pub(crate) plugs: Plugs,
    pub(crate) tally: Tally,
    pub(crate) early: Early,
    /// Whether events were lost.
    pub(crate) has_lost: bool,
    /// Completions of requests whose issue was not seen, [bounded](IoTracker::keep_begun).
    pub(crate) begun: Vec<Event>,
    pub(crate) reads_ahead: ReadsAhead,
    /// Owner of the data of the next bio to be queued, if another task sends it.
    pub(crate) owner: Option<Owner>,
}

/// Largest number of devices. Hosts have hundreds of block devices at most, so a trace that names more is damaged.
/// Events of further devices are counted as unmatched.
pub const MAX_DEVICES: usize = 1024;

impl IoTracker {
    /// Takes in all events of a batch, in order.
    pub fn feed(&mut self, batch: &Batch, observer: &mut dyn IoObserver) {
        self.feed_some(&batch.events, batch, observer);
    }

    /// Takes in some of the events of a batch. It is the only caller of `step`, so that the compiler inlines all
    /// handlers here; a second caller would prevent that, and it saves a fifth of the time.
    #[inline(never)]
    pub fn feed_some(&mut self, events: &[Event], batch: &Batch, observer: &mut dyn IoObserver) {
        for event in events {
            self.step(event, batch, observer);
        }
    }

    /// Takes in one event.
    #[inline]
    pub fn step(&mut self, event: &Event, batch: &Batch, observer: &mut dyn IoObserver) {
        match event.action {
            Action::TaskName => return self.names.rename(event.tid, batch.text(event)),
            Action::WallClock | Action::Message | Action::DriverData | Action::Bounce => return,
            _ => {}
        }
        if let (Action::Lost, Detail::Lost(n)) = (event.action, event.detail) {
            return self.lose(event.dev, n);
        }
        let Some(dev) = self.device(event.dev) else {
            self.tally.others_unmatched += 1;
            return;
        };
        match event.action {
            Action::Queue => self.queue(dev, event, observer),
            Action::Split => self.split(dev, event),
            Action::Remap => self.remap(dev, event, observer),
            Action::Get => self.get(dev, event),
            Action::BackMerge => self.back_merge(dev, event),
            Action::FrontMerge => self.front_merge(dev, event),
            Action::Insert => self.insert(dev, event),
            Action::Issue => {
                self.issue(dev, event, observer);
                self.end_early(dev, event, observer);
            }
            Action::Requeue => self.requeue(dev, event, observer),
            Action::Complete => self.complete(dev, event, observer),
            Action::Plug => self.plugs.plug(event.dev, event.tid, event.time),
            Action::Unplug | Action::UnplugImplicit => {
                let n = if let Detail::Requests(n) = event.detail { n } else { 0 };
                let implicit = event.action == Action::UnplugImplicit;
                let plug = self.plugs.unplug(event.dev, event.tid, event.time, n, implicit);
                observer.plug(&plug, &self.names);
            }
            _ => {}
        }
    }

    /// Notes `n` lost events on a device, or on all devices if the recording does not say on which (tracefs).
    fn lose(&mut self, id: DevId, n: u64) {
        self.has_lost = true;
        let hit = |d: &&mut Device| id == DevId(0) || d.id == id;
        self.devices.iter_mut().filter(hit).for_each(|d| d.losses += n);
    }

    /// Sets the owner of the data of the next bio to be queued, if another task sends it.
    pub fn sends_for(&mut self, owner: Option<Owner>) {
        self.owner = owner;
    }

    /// Learned service times of requests alone in the device, for each device.
    pub fn services(&self) -> impl Iterator<Item = (DevId, &Services)> {
        self.devices.iter().map(|d| (d.id, &d.inside.services))
    }

    /// Estimated number of requests that each device serves at once, derived from its completions.
    pub fn models(&self) -> impl Iterator<Item = (DevId, Model)> + '_ {
        self.devices.iter().map(|d| (d.id, d.inside.model))
    }

    /// Presets the service times of a device with values learned earlier.
    pub fn knows_services(&mut self, dev: DevId, services: Services) {
        if let Some(at) = self.device(dev) {
            self.devices[at as usize].inside.services = services;
        }
    }

    /// Ends the recording and returns the counts. What is still in flight is counted as in flight.
    pub fn finish(&mut self) -> Tally {
        let mut t = self.tally;
        t.began_before += self.early.left();
        t.bytes_in_flight = self.bios.bytes();
        for id in self.table.all() {
            let Piece { dev, request, .. } = self.table.get(id);
            let is_waited_for = request.class() != Class::Background;
            let began = Some(request.time.start()).filter(|began| *began > Nanos(0) && is_waited_for);
            let oldest = began.filter(|began| t.oldest_in_flight.is_none_or(|(_, first)| *began < first));
            let device = self.devices.get(*dev as usize).map(|d| d.id);
            t.oldest_in_flight = device.zip(oldest).or(t.oldest_in_flight);
            if self.table.get(id).stage == crate::piece::Stage::Queued {
                t.bios_in_flight += 1;
            } else {
                t.requests_in_flight += 1;
            }
        }
        t
    }

    /// Bios in flight now that requests have completed in part, each with its device and class.
    pub fn unfinished(&self) -> impl Iterator<Item = (DevId, Class, Unfinished)> + '_ {
        let begun = self.bios.all().filter(|bio| bio.by_request && bio.remaining < bio.bytes);
        begun.map(|bio| {
            let served = bio.bytes - bio.remaining;
            let one = Unfinished { bios: 1, bytes: bio.bytes, served };
            (self.devices[bio.dev as usize].id, Class::of(bio.op, bio.flags), one)
        })
    }

    /// `parent` created `tid`: a thread of its own process, or a new process.
    pub fn born(&mut self, parent: Tid, tid: Tid, is_thread: bool) {
        self.names.born(parent, tid, is_thread);
    }

    /// Gives these processes names of their own (`postgres:7`). Items are (thread, process).
    pub fn tell_apart(&mut self, threads: impl Iterator<Item = (Tid, Tid)>) {
        self.names.tell_apart(threads);
    }

    /// Gives these threads names of their own; with `all`, also the tasks that they create.
    pub fn tell_threads_apart(&mut self, threads: impl Iterator<Item = Tid>, all: bool) {
        self.names.tell_threads_apart(threads, all);
    }

    /// Sets the name of `tid` from now on.
    pub fn rename(&mut self, tid: Tid, name: &[u8]) {
        self.names.rename(tid, name);
    }

    /// Notes that a task has exited.
    pub fn gone(&mut self, tid: Tid) {
        self.names.gone(tid);
    }

    /// Declares these processes supervisors: starters of services, containers, scheduled jobs or logins, of any name.
    pub fn supervise(&mut self, processes: &[Tid]) {
        self.names.supervise(processes);
    }

    /// All task names seen so far.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Recorded devices that are stacked: pairs of (lower, upper).
    pub fn stacked(&self) -> Vec<(DevId, DevId)> {
        self.devices.iter().filter_map(|d| Some((d.id, d.upper?))).collect()
    }

    /// For each stacked device, the reads that it sent below and that belong to none of its recorded bios.
    pub fn unclaimed(&self) -> impl Iterator<Item = (DevId, Unclaimed)> + '_ {
        let of = |d: &Device| (d.id, d.rows.unclaimed());
        self.devices.iter().map(of).filter(|(_, u)| *u != Unclaimed::default())
    }

    /// Number of pieces and bios in flight, which determines the memory used.
    pub fn in_flight(&self) -> usize {
        self.table.len() + self.bios.len()
    }

    /// Index of a device, if the device has been seen before.
    pub(crate) fn known_device(&self, id: DevId) -> Option<u32> {
        self.which.get(&id).copied()
    }

    #[inline]
    pub(crate) fn device(&mut self, id: DevId) -> Option<u32> {
        match self.recent {
            Some((recent, index)) if recent == id => Some(index),
            _ => self.device_after_switch(id),
        }
    }

    fn device_after_switch(&mut self, id: DevId) -> Option<u32> {
        let index = match self.which.get(&id) {
            Some(known) => *known,
            None if self.devices.len() >= MAX_DEVICES => return None,
            None => {
                self.devices.push(Device { id, ..Device::default() });
                self.which.insert(id, self.devices.len() as u32 - 1);
                self.devices.len() as u32 - 1
            }
        };
        self.recent = Some((id, index));
        Some(index)
    }
}
