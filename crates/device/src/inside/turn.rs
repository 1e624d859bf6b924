//! Where the time of a completed request went: its own turn, and whose came before.

use super::{Inside, Ticket, LONGEST_SERVICE, MOST, REMEMBERED};
use crate::quiet::Quiet;
use crate::service::Shape;
use crate::split::{largest_remainder, Behind, Holder, Split, MOST_HOLDERS};
use smallvec::SmallVec;
use trace::Nanos;

/// A request was overtaken where this many times as many were completed meanwhile as it found there: devices take the nearest
/// first, but a request that has waited for several rounds is none of a queue.
const PASSED_OVER: u64 = 5;

impl Inside {
    /// What a request takes more than a near one, and because of which holder, where another one moved the head away from its
    /// holder's last one.
    pub(super) fn way_back(
        &mut self,
        shape: Shape,
        quiet: Option<Quiet>,
        ticket: &Ticket,
    ) -> Option<(Holder, Nanos)> {
        let (mover, far) = (ticket.led_away?, quiet?);
        let near = self.services.of(Shape::new(shape.class, true, shape.bytes))?;
        // Flash takes about as long for both.
        (far.p50 > near.most).then(|| (mover, far.p50.since(near.p50)))
    }

    pub(super) fn split(
        &self,
        now: Nanos,
        quiet: Option<Quiet>,
        back: Option<(Holder, Nanos)>,
        pause: Nanos,
        ticket: &Ticket,
    ) -> Split {
        let d2c = now.since(ticket.issued);
        let way = back.map_or(Nanos(0), |(_, way)| way);
        let own = quiet.map_or(Nanos(0), |q| q.p50.since(way)).min(d2c);
        let rest = d2c.since(own);
        let known = quiet.is_some();
        if rest == Nanos(0) {
            return Split { own, known, ..Split::default() };
        }
        let paused = self.paused.since(ticket.paused).min(rest);
        let rest = rest.since(paused);
        let beyond = self.beyond_its_turn(now, quiet, ticket).since(pause);
        let queue = if known { self.queue(d2c, beyond, ticket) } else { rest };
        let behind = self.contention.since(ticket.contention).min(queue).min(rest);
        let alone = rest.since(behind);
        let way = way.min(alone);
        let alone = alone.since(way);
        let varied = quiet.map_or(Nanos(0), |q| q.most.since(q.p50)).min(alone);
        let mut split = Split { own, known, paused, varied, slow: alone.since(varied), ..Split::default() };
        if behind.0 > 0 {
            self.share(behind, beyond, ticket, &mut split);
        }
        if let Some((mover, _)) = back.filter(|_| way.0 > 0) {
            split.add(Behind { holder: mover, time: way });
        }
        split
    }

    /// How long a request lay there while many that came later were completed, if it did so for long.
    pub(super) fn overtaken(&self, d2c: Nanos, ticket: &Ticket) -> Nanos {
        match self.is_overtaken(d2c, ticket) {
            true => d2c.since(self.queue(d2c, Nanos(0), ticket)),
            false => Nanos(0),
        }
    }

    fn is_overtaken(&self, d2c: Nanos, ticket: &Ticket) -> bool {
        let served = self.completed - ticket.completed;
        d2c >= LONGEST_SERVICE && served >= PASSED_OVER * (u64::from(ticket.ahead) + 1)
    }

    /// The most that those there before it can have held up a request, unless it was overtaken: all of its time; where one is served after
    /// the other, until its own turn, and what that took too long.
    fn queue(&self, d2c: Nanos, beyond: Nanos, ticket: &Ticket) -> Nanos {
        let (ahead, served) = (u64::from(ticket.ahead), self.completed - ticket.completed);
        if !self.is_overtaken(d2c, ticket) {
            return if self.model.in_turn { self.served.since(ticket.issued) + beyond } else { d2c };
        }
        Nanos((u128::from(d2c.0) * u128::from(ahead) / u128::from(served + 1)) as u64)
    }

    /// Of a device that serves one after the other: how much longer its own turn took than such ones take alone, while others were there. One
    /// that is done together with others is at times completed before them.
    fn beyond_its_turn(&self, now: Nanos, quiet: Option<Quiet>, ticket: &Ticket) -> Nanos {
        match quiet {
            Some(quiet) if self.model.in_turn && self.in_flight > 1 => {
                now.since(self.served.max(ticket.issued)).since(quiet.most)
            }
            _ => Nanos(0),
        }
    }

    /// Shares the time behind others among them.
    fn share(&self, behind: Nanos, beyond: Nanos, ticket: &Ticket, split: &mut Split) {
        if let [only] = self.holders.as_slice() {
            split.behind[0] = Behind { holder: only.holder, time: behind };
            return;
        }
        // What it takes itself is no time behind others; where that is not known, its part of the shared time stays with its holder.
        let mine = match (self.model.in_turn, split.known) {
            (_, true) => ticket.cost * (self.per_cost - ticket.per_cost),
            (true, false) => -(behind.since(self.served.since(ticket.issued)).0 as f64),
            (false, false) => 0.0,
        };
        let begun = self.begun_before(ticket);
        let per_cost = beyond.0 as f64 / (self.cost - ticket.cost).max(f64::MIN_POSITIVE);
        let mut shares: SmallVec<[(u64, Holder); MOST]> = SmallVec::new();
        let mut rest = 0.0;
        for (i, held) in self.holders.iter().enumerate() {
            let noted = if i < ticket.places as usize { ticket.times[i] } else { 0.0 };
            // Of a place that changed hands meanwhile, the time before that is no holder's by name.
            let from = if held.first > ticket.number { held.before.max(noted) } else { noted };
            rest += from - noted;
            let (mine, cost) = match i == ticket.place as usize {
                true => (mine, held.cost - ticket.cost),
                false => (0.0, held.cost),
            };
            let before = begun[i];
            // What a former holder had of it is among the rest.
            let (before, of_rest) = if held.first > ticket.number { (0.0, before) } else { (before, 0.0) };
            rest = (rest - of_rest).max(0.0);
            let time = held.time - from - mine - before + per_cost * cost.max(0.0);
            match held.holder {
                Holder(0) => rest += time.max(0.0),
                _ if time >= 1.0 => shares.push((time as u64, held.holder)),
                _ => {}
            }
        }
        if shares.len() > 1 {
            shares.sort_unstable_by_key(|(time, holder)| (std::cmp::Reverse(*time), *holder));
        }
        let rest =
            shares.iter().skip(MOST_HOLDERS).fold(rest as u64, |sum, (time, _)| sum.saturating_add(*time));
        shares.truncate(MOST_HOLDERS);
        let mut weights: SmallVec<[u64; 4]> = shares.iter().map(|(time, _)| *time).collect();
        weights.push(rest);
        let parts = largest_remainder(behind, &weights);
        for ((place, (_, holder)), part) in split.behind.iter_mut().zip(&shares).zip(&parts) {
            *place = Behind { holder: *holder, time: *part };
        }
        split.others = parts[weights.len() - 1];
    }

    /// Of a device that serves one after the other, by place: what of the time of those completed since a request was issued had passed before
    /// that.
    fn begun_before(&self, ticket: &Ticket) -> [f64; MOST] {
        let mut begun = [0.0; MOST];
        let mut left = ticket.into;
        if self.completed - ticket.completed > REMEMBERED as u64 {
            return begun;
        }
        for number in ticket.completed..self.completed {
            if left.0 == 0 {
                break;
            }
            let (place, time) = self.completers.0[number as usize % REMEMBERED];
            begun[place as usize] += time.min(left).0 as f64;
            left = left.since(time);
        }
        begun
    }
}
