//! The simulation: streams queue I/O, tags are taken, the scheduler chooses, the device serves.
//!
//! A heap holds the events in order of time; events at the same time are handled in the order in which they were added. Flushes
//! bypass the scheduler (`blk_mq_insert_request` in block/blk-mq.c of Linux 6.18), and a write that needs one before or
//! after it goes flush, data, flush (block/blk-flush.c).
//!
//! **Invariant**: every queued I/O is completed once, or still in flight at the end.

mod held;

use crate::device::{Device, Model, Op};
pub use crate::done::{Done, Work};
use crate::flight::{queued, Flight, State, Step};
use crate::load::{Item, Kind as Pace, Load, Wait};
use crate::merge::Waiting;
use crate::sched::deadline::Deadline;
use crate::sched::kyber::Kyber;
use crate::sched::none::Fifo;
use crate::sched::Scheduler;
use crate::settings::{Kind, Settings};
use crate::tags::Tags;
use crate::wbt::Wbt;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A run with fixed work ends after this many times the recorded time.
const LONGEST: u64 = 20;

/// Nanoseconds from being woken to running: a task that sleeps for a tag does not run at once when one is freed. An idle processor
/// takes about this long (`iowhy explain` shows it as waiting for a CPU), a busy one longer.
const WAKES: u64 = 20_000;

/// A run ends after this many times the recorded number of I/Os.
const FASTEST: usize = 20;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Arrive(u32),
    Entered(u32),
    Got(u32),
    Served(u32),
    Turn,
    Window,
}

/// A load under settings on a device.
pub struct Simulation<'a> {
    load: &'a Load,
    settings: &'a Settings,
    work: Work,
    end: u64,
    /// Number of I/Os at which the run ends: settings do not make a device so much faster, but a device in the search may be.
    most: usize,
    now: u64,
    sequence: u64,
    events: BinaryHeap<Reverse<(u64, u64, What)>>,
    streams: Vec<State>,
    wbt: Option<Wbt>,
    tags: Tags,
    flights: Vec<Flight>,
    free: Vec<u32>,
    scheduler: Box<dyn Scheduler>,
    /// Flushes and requests after a flush, which are issued first.
    direct: VecDeque<u32>,
    /// A request that has left the scheduler but is not in the device yet.
    in_hand: Option<u32>,
    in_device: u32,
    device: Device<'a>,
    turn_at: u64,
    waiting: Waiting,
    /// The maximal size of a request after merging, in bytes.
    largest: u32,
    out: Vec<Done>,
    /// Slots that just got a tag or a place; kept to reuse the memory.
    woken: Vec<u32>,
}

/// Runs a simulation. The same arguments give the same result.
pub fn simulate(load: &Load, settings: &Settings, model: &Model, work: Work, seed: u64) -> Vec<Done> {
    let mut s = Simulation::new(load, settings, model, work, seed);
    s.run();
    s.out
}

impl<'a> Simulation<'a> {
    fn new(load: &'a Load, settings: &'a Settings, model: &'a Model, work: Work, seed: u64) -> Self {
        let scheduler: Box<dyn Scheduler> = match settings.scheduler {
            Kind::None => Box::new(Fifo::default()),
            Kind::MqDeadline => Box::new(Deadline::new(settings.deadline)),
            Kind::Kyber => Box::new(Kyber::new(settings.kyber)),
        };
        let end = match work {
            Work::Time => load.span,
            Work::Amount => load.span.saturating_mul(LONGEST),
        };
        Simulation {
            load,
            settings,
            work,
            end,
            most: load.len().saturating_mul(FASTEST),
            now: 0,
            sequence: 0,
            events: BinaryHeap::new(),
            streams: load.streams.iter().map(|_| State::default()).collect(),
            wbt: settings.wbt.map(|w| Wbt::new(w, settings.wbt_depth())),
            tags: Tags::new(settings.nr_requests, settings.wake_batch()),
            flights: Vec::new(),
            free: Vec::new(),
            scheduler,
            direct: VecDeque::new(),
            in_hand: None,
            in_device: 0,
            device: Device::new(model, seed),
            turn_at: u64::MAX,
            waiting: Waiting::default(),
            largest: settings.largest,
            out: Vec::with_capacity(load.len()),
            woken: Vec::new(),
        }
    }

    fn at(&mut self, time: u64, what: What) {
        self.sequence += 1;
        self.events.push(Reverse((time, self.sequence, what)));
    }

    fn run(&mut self) {
        for (i, stream) in self.load.streams.iter().enumerate() {
            if !stream.items.is_empty() {
                self.streams[i].scheduled = true;
                self.at(stream.first + self.load.overhead, What::Arrive(i as u32));
            }
        }
        while let Some(Reverse((time, _, what))) = self.events.pop() {
            if time > self.end || self.out.len() > self.most {
                break;
            }
            self.now = time;
            match what {
                What::Arrive(stream) => self.arrive(stream),
                What::Entered(slot) => self.take_tag(slot),
                What::Got(slot) => self.got(slot),
                What::Served(slot) => self.served(slot),
                What::Turn if time == self.turn_at => {
                    self.turn_at = u64::MAX;
                    self.turns();
                }
                // A turn was requested for an earlier time since.
                What::Turn => {}
                What::Window => self.window(),
            }
        }
    }

    fn arrive(&mut self, stream: u32) {
        let load = self.load;
        let (state, of) = (&mut self.streams[stream as usize], &load.streams[stream as usize]);
        let item = of.items[state.next];
        let from = (stream, state.next as u32);
        state.scheduled = false;
        state.in_flight += 1;
        state.next += 1;
        if state.next == of.items.len() && self.work == Work::Time && of.goes_on {
            state.next = 0;
        }
        let queued = self.now - load.overhead.min(self.now);
        state.last = queued;
        let done = Done { class: item.class, queued, bytes: item.bytes, from, ..Done::default() };
        if self.settings.scheduler == Kind::MqDeadline && self.join(&item, done) {
            return self.go_on(stream);
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.flights.push(Flight::default());
            self.flights.len() as u32 - 1
        });
        let flight = &mut self.flights[slot as usize];
        flight.done = done;
        flight.item = Some(item);
        flight.step = Step::Data;
        flight.joined.clear();
        if self.enters(slot, &item) {
            self.take_tag(slot);
        }
    }

    /// Schedules woken waiters, which run a little later.
    fn wake(&mut self, mut woken: Vec<u32>, what: fn(u32) -> What) {
        for slot in woken.drain(..) {
            self.at(self.now + WAKES, what(slot));
        }
        self.woken = woken;
    }

    fn take_tag(&mut self, slot: u32) {
        let Some(item) = self.flights[slot as usize].item else { return };
        let limit = self.settings.tags_for(item.write, item.sync);
        if self.tags.take(limit) {
            self.got(slot);
        } else {
            self.tags.wait(slot, limit);
        }
    }

    /// Merges into a waiting request that ends where this one begins, or begins where this one ends. Returns whether it did.
    fn join(&mut self, item: &Item, done: Done) -> bool {
        if self.waiting.is_empty() || item.bytes == 0 || item.preflush || item.postflush {
            return false;
        }
        let Some((slot, at_front)) = self.waiting.beside(item, self.settings.deadline.front_merges) else {
            return false;
        };
        let flight = &mut self.flights[slot as usize];
        let Some(into) = flight.item.as_mut() else { return false };
        if into.write != item.write || into.bytes.saturating_add(item.bytes) > self.largest {
            return false;
        }
        let old = *into;
        into.bytes += item.bytes;
        if at_front {
            into.sector = item.sector;
        }
        let now = *into;
        flight.joined.push(Done { inserted: self.now, joined: true, ..done });
        self.waiting.forget(&old);
        self.waiting.remember(&now, slot);
        if at_front {
            self.scheduler.moved(queued(slot, &now), old.sector);
        }
        true
    }

    /// The request has its tag: it enters the scheduler, or a flush comes first.
    fn got(&mut self, slot: u32) {
        let flight = &mut self.flights[slot as usize];
        let Some(item) = flight.item else { return };
        flight.done.inserted = self.now;
        if item.preflush {
            flight.step = Step::Pre;
            self.direct.push_back(slot);
        } else {
            self.scheduler.insert(self.now, queued(slot, &item));
            if self.settings.scheduler == Kind::MqDeadline && item.bytes > 0 {
                self.waiting.remember(&item, slot);
            }
        }
        let stream = self.flights[slot as usize].done.from.0;
        self.go_on(stream);
        self.dispatch();
    }

    /// Schedules the stream's next item, if it need not wait for a completion.
    fn go_on(&mut self, stream: u32) {
        let of = &self.load.streams[stream as usize];
        let state = &mut self.streams[stream as usize];
        let Some(item) = of.items.get(state.next) else { return };
        if state.scheduled {
            return;
        }
        if let Wait::Below(depth) = item.wait {
            if state.in_flight >= depth {
                state.blocked = true;
                return;
            }
        }
        state.blocked = false;
        state.scheduled = true;
        // The first item of a new round has no gap of its own.
        let gap = if state.next == 0 { of.items[of.items.len() / 2].gap } else { item.gap };
        let mut time = self.now + gap;
        if let Pace::Paced { period, catches_up } = of.kind {
            state.turns += 1;
            time = if catches_up {
                self.now.max(of.first + state.turns * period)
            } else {
                self.now.max(state.last + period)
            };
        }
        let overhead = self.load.overhead;
        self.at(time + overhead, What::Arrive(stream));
    }

    fn dispatch(&mut self) {
        while self.in_device < self.settings.queue_depth {
            let next = self.direct.pop_front().or_else(|| self.in_hand.take());
            let Some(slot) = next.or_else(|| self.chosen()) else { return };
            self.issue(slot);
        }
        // `__blk_mq_do_dispatch_sched` stops at the first request that gets no tag of the device. That request has left the
        // scheduler: it is the next, whatever arrives meanwhile.
        if self.settings.chooses_ahead && self.in_hand.is_none() {
            self.in_hand = self.chosen();
        }
    }

    /// Takes a request out of the scheduler: no other request merges into it any more.
    fn chosen(&mut self) -> Option<u32> {
        let slot = self.scheduler.dispatch(self.now)?;
        if let Some(item) = self.flights[slot as usize].item.filter(|_| !self.waiting.is_empty()) {
            self.waiting.forget(&item);
        }
        Some(slot)
    }

    fn issue(&mut self, slot: u32) {
        self.in_device += 1;
        let flight = &mut self.flights[slot as usize];
        let Some(item) = flight.item else { return };
        let flush = flight.step != Step::Data;
        if flight.done.issued == 0 && (!flush || item.bytes == 0) {
            flight.done.issued = self.now;
        }
        if let (false, Some(wbt)) = (item.write, &mut self.wbt) {
            wbt.read_issued(self.now, slot);
        }
        let bytes = if flush { 0 } else { item.bytes };
        let op = Op { slot, sector: item.sector, bytes, write: item.write, flush };
        match self.device.arrive(self.now, op) {
            Some(answer) => self.at(answer, What::Served(slot)),
            None => self.turns(),
        }
    }

    fn turns(&mut self) {
        loop {
            match self.device.next(self.now) {
                Ok((slot, answer)) => self.at(answer, What::Served(slot)),
                Err(Some(time)) if time < self.turn_at => {
                    self.turn_at = time;
                    return self.at(time, What::Turn);
                }
                Err(_) => return,
            }
        }
    }

    fn served(&mut self, slot: u32) {
        self.in_device -= 1;
        let flight = &mut self.flights[slot as usize];
        let Some(item) = flight.item else { return };
        match flight.step {
            Step::Pre if item.bytes > 0 => {
                flight.step = Step::Data;
                self.direct.push_back(slot);
                return self.dispatch();
            }
            Step::Data => {
                flight.done.data = self.now;
                let (total, device) =
                    (self.now - flight.done.inserted, self.now.saturating_sub(flight.done.issued));
                self.scheduler.completed(self.now, queued(slot, &item), total, device);
                self.came_back(slot, &item, device);
                if item.postflush {
                    let flight = &mut self.flights[slot as usize];
                    flight.step = Step::Post;
                    self.direct.push_back(slot);
                    return self.dispatch();
                }
            }
            Step::Pre => flight.done.data = self.now,
            Step::Post => {}
        }
        self.complete(slot);
        self.dispatch();
    }

    fn complete(&mut self, slot: u32) {
        let flight = &mut self.flights[slot as usize];
        let item = flight.item.take();
        let limit = item.map_or(u32::MAX, |i| self.settings.tags_for(i.write, i.sync));
        flight.done.completed = self.now;
        let done = flight.done;
        self.out.push(done);
        let joined = std::mem::take(&mut flight.joined);
        self.free.push(slot);
        for j in &joined {
            let Done { issued, data, completed, .. } = done;
            self.out.push(Done { issued, data, completed, ..*j });
        }
        // Meanwhile the place in the device goes to a request in the scheduler.
        let mut woken = std::mem::take(&mut self.woken);
        self.tags.give(limit, |slot| woken.push(slot));
        self.wake(woken, What::Got);
        item.into_iter().for_each(|item| self.leaves(&item));
        self.left(done.from.0);
        for j in &joined {
            self.left(j.from.0);
        }
    }

    /// A stream has one request less in flight.
    fn left(&mut self, stream: u32) {
        let state = &mut self.streams[stream as usize];
        state.in_flight = state.in_flight.saturating_sub(1);
        if state.blocked {
            self.go_on(stream);
        }
    }
}
