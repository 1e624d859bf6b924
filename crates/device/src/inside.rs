//! Models the queue inside one device from its issues and completions.
//!
//! While several requests are in the device, each stretch between two events is shared among their holders in proportion to their
//! requests' service times (`cost`). A request notes the holders' sums at its issue and subtracts them at its completion, so its
//! split costs one addition per holder, however deep the queue. Its own part of the shared time is subtracted exactly. For a device
//! that serves one request after the other, each stretch between two completions belongs to the later one.
//!
//! D2C is then split in this order: its own service (at most its latency alone); pauses (no completion for longer than any service
//! explains); others, at most the contended time, in proportion to their shares; and the time alone: `varied` up to the maximum of
//! usual latencies alone, `slow` beyond. A request that many later ones overtook is behind those that were there before it, and
//! `slow` for the rest. If another holder moved the head away between two adjacent requests of a holder, the second one's own service
//! is that of a near request, and the seek back is behind the other holder.
//!
//! Example: a read that takes 1 ms alone is issued behind a write that takes 9 ms; both end after 10 ms. The stretch is
//! shared 9 to 1; the read's own millisecond is its service, the other 9 ms are behind the write.

use crate::model::Model;
use crate::service::{Services, Shape};
use crate::split::{Holder, Split};
use smallvec::SmallVec;
use trace::{Bytes, Nanos, Sector};

mod turn;

/// A request is near if it begins within this many sectors of the end of the one before: `BFQQ_SEEK_THR` (block/bfq-iosched.c).
pub const SEEK: u64 = 800;

/// How much the service time of a healthy rotating disk varies: half a turn and a full seek, or none. Used only if no request was
/// ever alone.
const VARIES: f64 = 3.0;

/// The longest service time of a healthy disk: a seek over the whole disk is up to 20 ms, a turn at 5,400 per minute 11 ms
/// (data sheets).
pub const LONGEST_SERVICE: Nanos = Nanos(30_000_000);

/// No device with requests completes nothing for so long, whatever they are: the kernel would give up a command whose timeout is the
/// shortest that is set (`timeout` of a SCSI device, in whole seconds).
pub const HUNG: Nanos = Nanos(1_000_000_000);

/// Number of recent completions that are remembered: the first one after a request's issue may have begun before the issue.
const REMEMBERED: usize = 64;

/// Maximal number of holders that are distinguished at a time; all others share the first place.
const MOST: usize = 16;

/// One holder's place in a device. A new holder replaces the lightest one without a request there. A request that was issued before
/// that finds the former holder's time in [`Held::before`].
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    holder: Holder,
    /// Number of its requests in the device now.
    in_flight: u32,
    /// The sum of their costs.
    cost: f64,
    /// Its shared time, in ns, including `before`.
    time: f64,
    /// The time of former holders of this place, in ns.
    before: f64,
    /// The number of the first request issued since it has this place.
    first: u64,
    /// The end of its last request.
    head: Option<Sector>,
    /// The time when it last had a request in the device.
    last: Nanos,
}

/// The state that is noted when a request is issued.
#[derive(Clone, Debug, Default)]
pub struct Ticket {
    issued: Nanos,
    number: u64,
    alone: bool,
    near: bool,
    /// The holder that moved the head away from the end of this holder's last request.
    led_away: Option<Holder>,
    idle: Nanos,
    cost: f64,
    place: u8,
    per_cost: f64,
    /// For a device that serves one after the other: the time at issue that belongs to no completed request yet.
    into: Nanos,
    contention: Nanos,
    paused: Nanos,
    /// Number of requests in the device at its issue, and number of completions before.
    ahead: u32,
    completed: u64,
    /// The shared time of each place at its issue.
    times: [f64; MOST],
    /// Number of valid entries in `times`.
    places: u8,
    /// Whether it is in the device.
    inside: bool,
    /// Whether it was there before its issue, for an unknown time.
    begun_before: bool,
}

impl Ticket {
    /// Its request was issued an unknown time before: its split is of the time from [`Inside::issue`] on, and nothing is learned from it.
    pub fn begins_before(&mut self) {
        self.begun_before = true;
    }
}

/// The last completed requests: each one's place and its part of the device's time.
#[derive(Clone, Debug)]
struct Completers([(u8, Nanos); REMEMBERED]);

impl Default for Completers {
    fn default() -> Completers {
        Completers([(0, Nanos(0)); REMEMBERED])
    }
}

/// The model of one device.
#[derive(Clone, Debug, Default)]
pub struct Inside {
    /// The latencies of requests alone.
    pub services: Services,
    /// The last completed requests, by their number.
    completers: Completers,
    /// How many requests the device serves at once.
    pub model: Model,
    holders: SmallVec<[Held; 4]>,
    /// The sum of the costs of all requests in the device.
    cost: f64,
    /// The integral of time / cost: the time that a request of cost 1 would have got.
    per_cost: f64,
    /// Time with two or more requests in the device.
    contention: Nanos,
    /// Time without completions beyond any service time.
    paused: Nanos,
    in_flight: u32,
    issues: u64,
    completed: u64,
    now: Nanos,
    /// Begin of the time without completions: the last completion, or when the device got work again.
    since: Nanos,
    /// End of the time that belongs to completed requests, if the device serves one after the other.
    served: Nanos,
    /// The time at which the device ran out of requests.
    idle_since: Nanos,
    head: Sector,
    /// The holder that moved `head` there.
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
        (ticket.inside, ticket.begun_before) = (true, false);
        let held = &mut self.holders[ticket.place as usize];
        held.in_flight += 1;
        held.cost += ticket.cost;
        self.cost += ticket.cost;
        self.issues += 1;
        self.in_flight += 1;
    }

    /// The split of a request of unknown size that was there, or on its way, all the time from `from` on, before the first issue, until `now`. It
    /// may have found any number there before it. If nothing was completed meanwhile, all of it is a pause, or slow if that was not long.
    pub fn all_along(&self, from: Nanos, now: Nanos, class: u8) -> Split {
        let time = now.since(from);
        if self.completed == 0 {
            let paused = if time >= HUNG { time } else { Nanos(0) };
            return Split { paused, slow: time.since(paused), ..Split::default() };
        }
        let mut ticket =
            Ticket { issued: from, inside: true, begun_before: true, ahead: u32::MAX, ..Ticket::default() };
        self.clone().complete(now, class, Bytes(1), &mut ticket)
    }

    /// A request leaves the device without a completion: it is requeued or lost.
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

    /// A request is completed; returns the split of its time.
    pub fn complete(&mut self, now: Nanos, class: u8, bytes: Bytes, ticket: &mut Ticket) -> Split {
        if !ticket.inside {
            return Split::default();
        }
        self.pass(now);
        let shape = Shape::new(class, ticket.near, bytes);
        let d2c = now.since(ticket.issued);
        let quiet = self.services.of(shape);
        let gap = now.since(self.since.max(ticket.issued));
        // The requests in the device may take this long together before one of them is completed.
        let explained = match quiet {
            Some(quiet) => Nanos(self.cost as u64).max(quiet.most),
            None if self.services.is_usual(shape) => Nanos((VARIES * self.cost) as u64),
            None => HUNG,
        };
        let pause = now.since(self.since).since(explained);
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
        if !ticket.begun_before {
            self.learn(shape, d2c, gap, quiet.map(|q| q.p50), ticket);
        }
        self.since = now;
        self.leave(now, ticket);
        split
    }

    /// Learns from a completed request, which takes `usual` alone.
    fn learn(&mut self, shape: Shape, d2c: Nanos, gap: Nanos, usual: Option<Nanos>, ticket: &Ticket) {
        self.model.completed(d2c, self.contention.since(ticket.contention), usual);
        self.services.busy(shape, gap, d2c);
        if shape.bytes.0 == 0 {
            self.services.empty(d2c);
        }
        if ticket.alone && ticket.number + 1 == self.issues {
            self.services.quiet(shape, d2c, ticket.idle);
        }
    }

    /// Accounts a completion. For a device that serves one after the other, the time since the last completion belongs to this request, as far
    /// as it was in the device and the device did not pause. For a flush, at most the time of a flush: it ends with the data before it.
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

    /// Notes which other holders were in the device at the same time without having a part of the time, as far as there is room.
    fn note_present(&self, ticket: &Ticket, split: &mut Split) {
        for (place, held) in self.holders.iter().enumerate() {
            let was_there = held.in_flight > 0 || held.last >= ticket.issued;
            if was_there && place != ticket.place as usize && held.holder != Holder(0) {
                split.meet(held.holder);
            }
        }
    }

    /// Shares the time since the last event among the requests in the device.
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
