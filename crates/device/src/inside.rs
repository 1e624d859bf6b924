//! The queue inside one device, as its issues and completions show it.
//!
//! While several requests are in the device, each stretch between two events is shared among their holders by the service
//! that each has there (`cost`). A request notes the holders' sums at its issue and subtracts them at its completion, so its
//! split costs one addition per holder, however deep the queue. Its own part of the shared time is taken out exactly. A device that
//! serves one after the other is simpler: each stretch between two completions is the later one's.
//!
//! D2C then is, in this order: its own service (at most what it takes alone); pauses (no completion for longer than any
//! service explains); others, at most the time in which there were any, in proportion to what was shared; and what is left
//! when it was alone: `varied` up to what usual ones take alone, beyond that `slow`. A request that lay there while many that came
//! later were completed is behind those that were there before it, and `slow` for the rest. One that follows the last of its own
//! holder, where another holder moved the head away since, takes what a near one takes; the seek back is behind that one.
//!
//! Example: a read that takes 1 ms alone is issued behind a write that takes 9 ms; both end after 10 ms. The stretch is
//! shared 9 to 1; the read's own millisecond is its service, the other 9 ms are behind the write.

use crate::model::Model;
use crate::service::{Services, Shape};
use crate::split::{Holder, Split};
use smallvec::SmallVec;
use trace::{Bytes, Nanos, Sector};

mod turn;

/// A request begins near the one before if it lies no further away: `BFQQ_SEEK_THR`, 800 sectors (block/bfq-iosched.c).
pub const SEEK: u64 = 800;

/// By how much service varies on a disk that turns and is well: half a turn and a full seek, or none. Only where no request was
/// ever alone.
const VARIES: f64 = 3.0;

/// What a disk that is well takes at most for one request: a seek over the whole disk is up to 20 ms, a turn at 5,400 a minute 11 ms
/// (data sheets).
pub const LONGEST_SERVICE: Nanos = Nanos(30_000_000);

/// Completions of which it is known whose they were: the first since a request was issued began before that.
const REMEMBERED: usize = 64;

/// Holders of one device that are told apart at a time; the rest is one, which has the first place.
const MOST: usize = 16;

/// One holder's place in a device. A holder without a request there makes room for a new one, the lightest first: a request that
/// was issued before that knows what was the former holder's by [`Held::before`].
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    holder: Holder,
    /// Its requests in the device now.
    in_flight: u32,
    /// Of these.
    cost: f64,
    /// The shared time that was its, in ns, with what was that of holders before it.
    time: f64,
    /// What was that of holders before it.
    before: f64,
    /// The number of the first request issued since it has the place.
    first: u64,
    /// Where its last request ended.
    head: Option<Sector>,
    /// When it last had a request there.
    last: Nanos,
}

/// What a request notes when it is issued.
#[derive(Clone, Debug, Default)]
pub struct Ticket {
    issued: Nanos,
    number: u64,
    alone: bool,
    near: bool,
    /// Who moved the head away from where its holder had left it.
    led_away: Option<Holder>,
    idle: Nanos,
    cost: f64,
    place: u8,
    per_cost: f64,
    /// Of a device that serves one after the other: how much of its time was nobody's yet.
    into: Nanos,
    contention: Nanos,
    paused: Nanos,
    /// How many were there before it, and had been completed before.
    ahead: u32,
    completed: u64,
    /// The time of each place.
    times: [f64; MOST],
    /// Of so many places.
    places: u8,
    /// Whether it was issued and is not over.
    inside: bool,
}

/// The last requests completed: their places, and how much of the device's time each had.
#[derive(Clone, Debug)]
struct Completers([(u8, Nanos); REMEMBERED]);

impl Default for Completers {
    fn default() -> Completers {
        Completers([(0, Nanos(0)); REMEMBERED])
    }
}

/// One device.
#[derive(Clone, Debug, Default)]
pub struct Inside {
    /// What requests take alone.
    pub services: Services,
    /// The last ones completed, by their number.
    completers: Completers,
    /// How many it serves at once.
    pub model: Model,
    holders: SmallVec<[Held; 4]>,
    /// Of all in the device now.
    cost: f64,
    /// The sum of time / cost: what a request of cost 1 would have got.
    per_cost: f64,
    /// Time with two or more in the device.
    contention: Nanos,
    /// Time without completions beyond any service.
    paused: Nanos,
    in_flight: u32,
    issues: u64,
    completed: u64,
    now: Nanos,
    /// Since when nothing was completed: the last completion, or when the device got work again.
    since: Nanos,
    /// Until when its time is that of completed requests, if it serves one after the other.
    served: Nanos,
    /// When it ran out of work.
    idle_since: Nanos,
    head: Sector,
    /// Who moved it there.
    mover: Holder,
}

impl Inside {
    /// A request is issued.
    pub fn issue(
        &mut self,
        now: Nanos,
        holder: Holder,
        class: u8,
        start: Sector,
        bytes: Bytes,
        ticket: &mut Ticket,
    ) {
        self.leave(now, ticket);
        self.pass(now);
        if self.in_flight == 0 {
            (self.since, self.served) = (now, now);
        }
        let near = start.0.abs_diff(self.head.0) <= SEEK;
        let place = self.place(holder);
        ticket.led_away = None;
        if bytes.0 > 0 {
            self.head = start.after(bytes);
            let mover = std::mem::replace(&mut self.mover, holder);
            let its = self.holders[place as usize].head.replace(self.head);
            let follows = holder != Holder(0) && its.is_some_and(|its| start.0.abs_diff(its.0) <= SEEK);
            ticket.led_away = (!near && follows && mover != holder).then_some(mover);
        }
        ticket.idle = if self.in_flight == 0 { now.since(self.idle_since) } else { Nanos(0) };
        ticket.alone = self.in_flight == 0;
        ticket.near = near;
        ticket.issued = now;
        ticket.number = self.issues;
        ticket.cost = self.services.cost(Shape::new(class, near, bytes));
        ticket.place = place;
        ticket.per_cost = self.per_cost;
        ticket.into = now.since(self.served);
        ticket.contention = self.contention;
        ticket.paused = self.paused;
        (ticket.ahead, ticket.completed) = (self.in_flight, self.completed);
        ticket.places = self.holders.len() as u8;
        ticket.times.iter_mut().zip(&self.holders).for_each(|(noted, held)| *noted = held.time);
        ticket.inside = true;
        let held = &mut self.holders[ticket.place as usize];
        held.in_flight += 1;
        held.cost += ticket.cost;
        self.cost += ticket.cost;
        self.issues += 1;
        self.in_flight += 1;
    }

    /// A request leaves the device: requeued, or lost.
    pub fn leave(&mut self, now: Nanos, ticket: &mut Ticket) {
        if !std::mem::take(&mut ticket.inside) {
            return;
        }
        self.pass(now);
        let held = &mut self.holders[ticket.place as usize];
        held.last = now;
        held.in_flight = held.in_flight.saturating_sub(1);
        held.cost = if held.in_flight == 0 { 0.0 } else { (held.cost - ticket.cost).max(0.0) };
        self.cost = (self.cost - ticket.cost).max(0.0);
        self.in_flight = self.in_flight.saturating_sub(1);
        if self.in_flight == 0 {
            self.cost = 0.0;
            self.idle_since = now;
        }
    }

    /// A request is completed: where its time went.
    pub fn complete(&mut self, now: Nanos, class: u8, bytes: Bytes, ticket: &mut Ticket) -> Split {
        if !ticket.inside {
            return Split::default();
        }
        self.pass(now);
        let shape = Shape::new(class, ticket.near, bytes);
        let d2c = now.since(ticket.issued);
        let quiet = self.services.of(shape);
        let gap = now.since(self.since.max(ticket.issued));
        // What is in the device may take this long together before any of it is completed.
        let explained = match quiet {
            Some(quiet) => Some(Nanos(self.cost as u64).max(quiet.most)),
            None => self.services.is_usual(shape).then_some(Nanos((VARIES * self.cost) as u64)),
        };
        let pause = explained.map_or(Nanos(0), |explained| now.since(self.since).since(explained));
        self.paused += pause;
        let back = self.way_back(shape, quiet, ticket);
        let mut split = self.split(now, quiet, back, pause, ticket);
        self.model.stalled += pause + self.overtaken(d2c, ticket);
        if self.holders.len() > 1 {
            self.note_present(ticket, &mut split);
        }
        let most = quiet.filter(|_| bytes.0 == 0).map(|q| if q.samples > 0 { q.most } else { q.p50 });
        self.serve(now, ticket, pause, most);
        self.model.time = self.contention;
        self.model.completed(d2c, self.contention.since(ticket.contention), quiet.map(|q| q.p50));
        self.services.busy(shape, gap, d2c);
        if bytes.0 == 0 {
            self.services.empty(d2c);
        }
        if ticket.alone && ticket.number + 1 == self.issues {
            self.services.quiet(shape, d2c, ticket.idle);
        }
        self.since = now;
        self.leave(now, ticket);
        split
    }

    /// A request is completed: of a device that serves one after the other the time since the last one was its, as far as it was there and the
    /// device did not pause. A flush has no more of it than a flush takes: it is over with the data it waits for, at times a little before.
    fn serve(&mut self, now: Nanos, ticket: &Ticket, pause: Nanos, most: Option<Nanos>) {
        let mut time = Nanos(0);
        if self.model.in_turn {
            time = now.since(self.served.max(ticket.issued)).min(most.unwrap_or(now));
            self.served += time;
            time = time.since(pause);
            self.holders[ticket.place as usize].time += time.0 as f64;
        }
        self.completers.0[self.completed as usize % REMEMBERED] = (ticket.place, time);
        self.completed += 1;
        self.model.in_turn = self.services.is_one_by_one();
    }

    /// Notes who else was there meanwhile, though none of the time is theirs, as far as there is room.
    fn note_present(&self, ticket: &Ticket, split: &mut Split) {
        for (place, held) in self.holders.iter().enumerate() {
            let was_there = held.in_flight > 0 || held.last >= ticket.issued;
            if was_there && place != ticket.place as usize && held.holder != Holder(0) {
                split.meet(held.holder);
            }
        }
    }

    /// Shares the time since the last event among those in the device.
    #[inline]
    fn pass(&mut self, now: Nanos) {
        let time = now.since(self.now);
        self.now = self.now.max(now);
        if time.0 == 0 || self.in_flight == 0 || self.cost <= 0.0 {
            return;
        }
        if self.in_flight >= 2 {
            self.contention += time;
        }
        if self.model.in_turn {
            return;
        }
        self.served = self.now;
        let per_cost = time.0 as f64 / self.cost;
        self.per_cost += per_cost;
        for held in &mut self.holders {
            held.time += per_cost * held.cost;
        }
    }

    fn place(&mut self, holder: Holder) -> u8 {
        if let Some(at) = self.holders.iter().position(|h| h.holder == holder) {
            return at as u8;
        }
        if self.holders.is_empty() {
            self.holders.push(Held::default());
        }
        if self.holders.len() < MOST && holder != Holder(0) {
            self.holders.push(Held { holder, first: self.issues, ..Held::default() });
            return self.holders.len() as u8 - 1;
        }
        let gone = self.holders.iter_mut().enumerate().skip(1).filter(|(_, h)| h.in_flight == 0);
        match gone.min_by(|(_, a), (_, b)| (a.time - a.before).total_cmp(&(b.time - b.before))) {
            Some((at, held)) if holder != Holder(0) => {
                *held = Held {
                    holder,
                    first: self.issues,
                    before: held.time,
                    time: held.time,
                    ..Held::default()
                };
                at as u8
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests;
