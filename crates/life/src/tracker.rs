//! The state machine: events in, finished lives out. It does no I/O and knows no format.
//!
//! A life is a bio's (what a task asked for) or a request's (what the device was asked for). They meet in
//! [pieces](crate::piece): a bio starts as one piece, a split makes two of it, a merge joins two into one, and a
//! request is a piece that was got a tag. What is in flight is all that is kept.
//!
//! Invariant: bytes queued = bytes completed + in flight at the end + lost ([`Tally`]).

use crate::bio::{Bio, BioNumber};
use crate::bios::Bios;
use crate::contention::{ByClass, DeviceLoad};
use crate::early::Early;
use crate::flush::Flushes;
use crate::holding::Owner;
use crate::names::Names;
use crate::op::Class;
use crate::piece::{Piece, PieceId, Table};
use crate::plug::{Plug, Plugs};
use crate::read_ahead::ReadsAhead;
use crate::request::Request;
use crate::rows::{Rows, Unclaimed};
use crate::share::{Remapped, Share};
use crate::stack::Announced;
use crate::tally::{Tally, Unfinished};
use device::{Inside, Model, Services};
use rustc_hash::FxHashMap;
use trace::{Action, Batch, Detail, DevId, Event, Nanos, Tid};

/// Who wants to know of finished lives. All methods do nothing unless overridden.
pub trait IoObserver {
    /// Whether [`IoObserver::issued`] and [`IoObserver::carried`] are wanted: they look at every bio of every request.
    fn shares(&self) -> bool {
        false
    }

    /// A request went to the device for the first time, with these bios in it.
    fn issued(&mut self, _dev: DevId, _now: Nanos, _shares: &[Share]) {}
    /// A request was completed that had these bios in it. [`IoObserver::request`] and [`IoObserver::bio`] follow.
    fn carried(&mut self, _request: &Request, _shares: &[Share], _names: &Names) {}
    /// A stacked device is about to send a bio to a device below.
    fn remapped(&mut self, _child: &Remapped, _names: &Names) {}
    /// A request was completed.
    fn request(&mut self, _request: &Request, _names: &Names) {}
    /// A bio was completed.
    fn bio(&mut self, _bio: &Bio, _names: &Names) {}
    /// A request outside the filter was completed: only accounting of its device needs it.
    fn request_beside(&mut self, _request: &Request, _names: &Names) {}
    /// The same of a bio.
    fn bio_beside(&mut self, _bio: &Bio, _names: &Names) {}
    /// A bio that was over as an [orphan](Bio::orphan) had been sent for this one, which is in flight. Several may
    /// have waited for it: then each is passed on.
    fn adopted(&mut self, _child: BioNumber, _parent: BioNumber) {}
    /// A plug was pulled.
    fn plug(&mut self, _plug: &Plug, _names: &Names) {}
    /// The number of requests in a device has changed.
    fn in_flight(&mut self, _dev: DevId, _now: Nanos, _in_flight: &ByClass<u32>) {}
}

/// A device as the state machine sees it.
#[derive(Default)]
pub(crate) struct Device {
    pub id: DevId,
    pub load: DeviceLoad,
    pub inside: Inside,
    pub flushes: Flushes,
    pub announced: Announced,
    pub rows: Rows,
    /// Pieces in [`Stage::Queued`](crate::piece::Stage), oldest first.
    pub waiting: Vec<PieceId>,
    /// The device whose bios were sent here.
    pub upper: Option<DevId>,
    /// Events lost so far.
    pub losses: u64,
}

/// All lives in flight.
#[derive(Default)]
pub struct IoTracker {
    pub(crate) table: Table,
    pub(crate) bios: Bios,
    /// The bio that is passed on, reused for each.
    pub(crate) told: Bio,
    pub(crate) devices: Vec<Device>,
    which: FxHashMap<DevId, u32>,
    recent: Option<(DevId, u32)>,
    pub(crate) names: Names,
    pub(crate) plugs: Plugs,
    pub(crate) tally: Tally,
    pub(crate) early: Early,
    pub(crate) reads_ahead: ReadsAhead,
    /// Whose data the bio is that is queued next, where another task sends it.
    pub(crate) owner: Option<Owner>,
}

/// Hosts have hundreds of block devices at most. A trace that names more is damaged; the events of the rest are
/// counted as unmatched.
pub const MAX_DEVICES: usize = 1024;

impl IoTracker {
    /// Takes in the events of a batch.
    pub fn feed(&mut self, batch: &Batch, observer: &mut dyn IoObserver) {
        self.feed_some(&batch.events, batch, observer);
    }

    /// Takes in some of the events of a batch. The one place where all that an event can lead to is put in line, which
    /// a second place would end: it is a fifth of the time.
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

    /// Events were lost on a device; where the recording does not say on which (tracefs), on all.
    fn lose(&mut self, id: DevId, n: u64) {
        let hit = |d: &&mut Device| id == DevId(0) || d.id == id;
        self.devices.iter_mut().filter(hit).for_each(|d| d.losses += n);
    }

    /// Whose data the bio is that is queued next, where another task sends it.
    pub fn sends_for(&mut self, owner: Option<Owner>) {
        self.owner = owner;
    }

    /// What requests take alone on each device, as far as it was learned.
    pub fn services(&self) -> impl Iterator<Item = (DevId, &Services)> {
        self.devices.iter().map(|d| (d.id, &d.inside.services))
    }

    /// How many requests each device serves at once, as far as its completions tell.
    pub fn models(&self) -> impl Iterator<Item = (DevId, Model)> + '_ {
        self.devices.iter().map(|d| (d.id, d.inside.model))
    }

    /// What requests take alone on a device, learned before.
    pub fn knows_services(&mut self, dev: DevId, services: Services) {
        if let Some(at) = self.device(dev) {
            self.devices[at as usize].inside.services = services;
        }
    }

    /// Ends the recording: what is in flight stays so, and is counted.
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

    /// Bios in flight now of which requests have completed parts, each with its device and class.
    pub fn unfinished(&self) -> impl Iterator<Item = (DevId, Class, Unfinished)> + '_ {
        let begun = self.bios.all().filter(|bio| bio.by_request && bio.remaining < bio.bytes);
        begun.map(|bio| {
            let served = bio.bytes - bio.remaining;
            let one = Unfinished { bios: 1, bytes: bio.bytes, served };
            (self.devices[bio.dev as usize].id, Class::of(bio.op, bio.flags), one)
        })
    }

    /// `parent` made `tid`, a thread of its own process or a process.
    pub fn born(&mut self, parent: Tid, tid: Tid, is_thread: bool) {
        self.names.born(parent, tid, is_thread);
    }

    /// Processes that are told apart from others of their name: their threads, each with its process.
    pub fn tell_apart(&mut self, threads: impl Iterator<Item = (Tid, Tid)>) {
        self.names.tell_apart(threads);
    }

    /// Threads that are told apart from others of their name; `all`: what they start, too.
    pub fn tell_threads_apart(&mut self, threads: impl Iterator<Item = Tid>, all: bool) {
        self.names.tell_threads_apart(threads, all);
    }

    /// From now on `tid` is called this.
    pub fn rename(&mut self, tid: Tid, name: &[u8]) {
        self.names.rename(tid, name);
    }

    /// A task has ended.
    pub fn gone(&mut self, tid: Tid) {
        self.names.gone(tid);
    }

    /// These start services, containers, scheduled jobs or logins, whatever they are called.
    pub fn supervise(&mut self, processes: &[Tid]) {
        self.names.supervise(processes);
    }

    /// What tasks are called.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Which recorded device lies on which: (lower, upper).
    pub fn stacked(&self) -> Vec<(DevId, DevId)> {
        self.devices.iter().filter_map(|d| Some((d.id, d.upper?))).collect()
    }

    /// Reads that a stacked device sent down for none of its bios that was seen, by that device.
    pub fn unclaimed(&self) -> impl Iterator<Item = (DevId, Unclaimed)> + '_ {
        let of = |d: &Device| (d.id, d.rows.unclaimed());
        self.devices.iter().map(of).filter(|(_, u)| *u != Unclaimed::default())
    }

    /// How many pieces and bios are in flight: what the memory depends on.
    pub fn in_flight(&self) -> usize {
        self.table.len() + self.bios.len()
    }

    /// A device that has been seen already.
    pub(crate) fn known_device(&self, id: DevId) -> Option<u32> {
        self.which.get(&id).copied()
    }

    #[inline]
    fn device(&mut self, id: DevId) -> Option<u32> {
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
