//! The simulation: streams queue I/O, tags are taken, the scheduler chooses, the device serves.
//!
//! A heap of events in order of time; what happens at one time happens in the order in which it was put there. Flushes go
//! past the scheduler (`blk_mq_insert_request` in block/blk-mq.c of Linux 6.18), and a write that needs one before or
//! after it goes flush, data, flush (block/blk-flush.c).
//!
//! **Invariant**: what is queued is completed once, or still in flight at the end.

use crate::device::{Device, Model, Op};
use crate::load::{Item, Kind as Pace, Load, Wait};
use crate::sched::deadline::Deadline;
use crate::sched::kyber::Kyber;
use crate::sched::none::Fifo;
use crate::sched::{Queued, Scheduler};
use crate::settings::{Kind, Settings};
use crate::tags::Tags;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A request that was completed. Times in nanoseconds from the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Done {
    /// [`life::Class::index`].
    pub class: u8,
    /// When it was queued.
    pub queued: u64,
    /// When it was in the scheduler.
    pub inserted: u64,
    /// When it went to the device.
    pub issued: u64,
    /// When its data was done.
    pub data: u64,
    /// When all was done.
    pub completed: u64,
    /// How much.
    pub bytes: u32,
    /// Which stream and item it was.
    pub from: (u32, u32),
    /// Whether it joined another one that waited in the scheduler.
    pub joined: bool,
}

/// Whether a run lasts as long as the recording did, or does what the recording did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Work {
    /// As long: streams that are through begin again if they went on to the end. What benchmarks with a runtime and services do.
    #[default]
    Time,
    /// As much: however long that takes, up to [`LONGEST`] times as long.
    Amount,
}

/// A run with fixed work is cut off after so many times the recorded time.
const LONGEST: u64 = 20;

/// The largest request that joins make (`BLK_DEF_MAX_SECTORS_CAP` of include/linux/blkdev.h, 1280 KiB, in most kernels).
const LARGEST: u32 = 1280 << 10;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Arrive(u32),
    Served(u32),
    Turn,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Step {
    #[default]
    Pre,
    Data,
    Post,
}

#[derive(Clone, Default)]
struct Flight {
    done: Done,
    item: Option<Item>,
    step: Step,
    /// Others that joined it.
    joined: Vec<Done>,
}

#[derive(Default)]
struct State {
    next: usize,
    in_flight: u32,
    last: u64,
    turns: u64,
    blocked: bool,
    scheduled: bool,
}

/// A load under settings on a device.
pub struct Simulation<'a> {
    load: &'a Load,
    settings: &'a Settings,
    work: Work,
    end: u64,
    now: u64,
    sequence: u64,
    events: BinaryHeap<Reverse<(u64, u64, What)>>,
    streams: Vec<State>,
    tags: Tags,
    limit: u32,
    flights: Vec<Flight>,
    free: Vec<u32>,
    scheduler: Box<dyn Scheduler>,
    /// Flushes and requests after a flush: they go first.
    direct: VecDeque<u32>,
    in_device: u32,
    device: Device<'a>,
    turn_at: u64,
    /// Requests that wait in the scheduler, by end and by start: what may join them.
    ends: FxHashMap<u64, u32>,
    starts: FxHashMap<u64, u32>,
    out: Vec<Done>,
    /// Who was given a tag just now; kept for its room.
    woken: Vec<u32>,
}

/// Runs it. The same arguments give the same answer.
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
            Kind::Kyber => Box::new(Kyber::default()),
        };
        let limit = settings.deadline.async_depth.filter(|_| settings.scheduler == Kind::MqDeadline);
        let end = match work {
            Work::Time => load.span,
            Work::Amount => load.span.saturating_mul(LONGEST),
        };
        Simulation {
            load,
            settings,
            work,
            end,
            now: 0,
            sequence: 0,
            events: BinaryHeap::new(),
            streams: load.streams.iter().map(|_| State::default()).collect(),
            tags: Tags::new(settings.nr_requests),
            limit: limit.unwrap_or(u32::MAX).max(1),
            flights: Vec::new(),
            free: Vec::new(),
            scheduler,
            direct: VecDeque::new(),
            in_device: 0,
            device: Device::new(model, seed),
            turn_at: u64::MAX,
            ends: FxHashMap::default(),
            starts: FxHashMap::default(),
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
            if time > self.end {
                break;
            }
            self.now = time;
            match what {
                What::Arrive(stream) => self.arrive(stream),
                What::Served(slot) => self.served(slot),
                What::Turn => {
                    self.turn_at = u64::MAX;
                    self.turns();
                }
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
        // dd_limit_depth: synchronous reads may use all tags.
        let limit = if item.sync && !item.write { u32::MAX } else { self.limit };
        if self.tags.take(limit) {
            self.got(slot);
        } else {
            self.tags.wait(slot, limit);
        }
    }

    /// `blk_mq_sched_try_merge`: joins a request that waits and ends where this begins, or begins where this ends.
    fn join(&mut self, item: &Item, done: Done) -> bool {
        if self.ends.is_empty() || item.bytes == 0 || item.preflush || item.postflush {
            return false;
        }
        let end = item.sector + u64::from(item.bytes / 512);
        let back = self.ends.get(&item.sector).copied().map(|slot| (slot, false));
        let front = || self.starts.get(&end).copied().map(|slot| (slot, true));
        let front = || if self.settings.deadline.front_merges { front() } else { None };
        let Some((slot, at_front)) = back.or_else(front) else { return false };
        let flight = &mut self.flights[slot as usize];
        let Some(into) = flight.item.as_mut() else { return false };
        if into.write != item.write || into.bytes.saturating_add(item.bytes) > LARGEST {
            return false;
        }
        let old = *into;
        into.bytes += item.bytes;
        if at_front {
            into.sector = item.sector;
        }
        let now = *into;
        flight.joined.push(Done { inserted: self.now, joined: true, ..done });
        self.forget(&old);
        self.remember(&now, slot);
        if at_front {
            self.scheduler.moved(queued(slot, &now), old.sector);
        }
        true
    }

    fn remember(&mut self, item: &Item, slot: u32) {
        self.ends.insert(item.sector + u64::from(item.bytes / 512), slot);
        self.starts.insert(item.sector, slot);
    }

    fn forget(&mut self, item: &Item) {
        self.ends.remove(&(item.sector + u64::from(item.bytes / 512)));
        self.starts.remove(&item.sector);
    }

    /// It has its tag: into the scheduler, or a flush first.
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
                self.remember(&item, slot);
            }
        }
        let stream = flight_stream(&self.flights, slot);
        self.go_on(stream);
        self.dispatch();
    }

    /// When does the stream's next item come?
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
            let slot = match self.direct.pop_front() {
                Some(slot) => slot,
                None => match self.scheduler.dispatch(self.now) {
                    Some(slot) => {
                        if let Some(item) = self.flights[slot as usize].item {
                            if !self.ends.is_empty() {
                                self.forget(&item);
                            }
                        }
                        slot
                    }
                    None => return,
                },
            };
            self.issue(slot);
        }
    }

    fn issue(&mut self, slot: u32) {
        self.in_device += 1;
        let flight = &mut self.flights[slot as usize];
        let Some(item) = flight.item else { return };
        let flush = flight.step != Step::Data;
        if flight.done.issued == 0 && (!flush || item.bytes == 0) {
            flight.done.issued = self.now;
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
                self.scheduler.completed(item.write);
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
        flight.item = None;
        flight.done.completed = self.now;
        let done = flight.done;
        self.out.push(done);
        let joined = std::mem::take(&mut flight.joined);
        self.free.push(slot);
        for j in &joined {
            let Done { issued, data, completed, .. } = done;
            self.out.push(Done { issued, data, completed, ..*j });
        }
        let mut woken = std::mem::take(&mut self.woken);
        self.tags.give(|slot| woken.push(slot));
        self.left(done.from.0);
        for j in &joined {
            self.left(j.from.0);
        }
        for slot in woken.drain(..) {
            self.got(slot);
        }
        self.woken = woken;
    }

    /// One less of a stream is in flight.
    fn left(&mut self, stream: u32) {
        let state = &mut self.streams[stream as usize];
        state.in_flight = state.in_flight.saturating_sub(1);
        if state.blocked {
            self.go_on(stream);
        }
    }
}

fn flight_stream(flights: &[Flight], slot: u32) -> u32 {
    flights[slot as usize].done.from.0
}

fn queued(slot: u32, item: &Item) -> Queued {
    Queued { slot, sector: item.sector, write: item.write, sync: item.sync, priority: 1 }
}
