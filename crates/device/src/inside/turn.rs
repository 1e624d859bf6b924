//! Splits the time of a completed request: its own turn, and those before it.

use super::{Inside, Ticket, LONGEST_SERVICE, MOST, REMEMBERED};
use crate::quiet::Quiet;
use crate::service::Shape;
use crate::split::{largest_remainder, Behind, Holder, Split, MOST_HOLDERS};
use smallvec::SmallVec;
use trace::Nanos;

/// A request was overtaken if this many times as many requests were completed meanwhile as were there before it: devices take the
/// nearest first, but a request that waits for several rounds is not just queued.
const PASSED_OVER: u64 = 5;

impl Inside {
    /// The seek back to the end of a holder's last request, if another holder moved the head away: that holder, and how much longer a far
    /// request takes than a near one.
    pub(super) fn way_back(
        &mut self,
        shape: Shape,
        quiet: Option<Quiet>,
        ticket: &Ticket,
    ) -> Option<(Holder, Nanos)> {
        let (mover, far) = (ticket.led_away?, quiet?);
        let near = self.services.of(Shape::new(shape.class, true, shape.bytes))?;
        // Flash takes about the same time for both.
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

    /// How long a request stayed in the device while many later ones were completed; 0 if it was not overtaken.
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

    /// The longest time for which requests ahead can have delayed this one: all of its time or, if requests are served one after the other, the
    /// time until its own turn and what exceeds it. Less if it was overtaken.
    fn queue(&self, d2c: Nanos, beyond: Nanos, ticket: &Ticket) -> Nanos {
        let (ahead, served) = (u64::from(ticket.ahead), self.completed - ticket.completed);
        if !self.is_overtaken(d2c, ticket) {
            return if self.model.in_turn { self.served.since(ticket.issued) + beyond } else { d2c };
        }
        Nanos((u128::from(d2c.0) * u128::from(ahead) / u128::from(served + 1)) as u64)
    }

    /// For a device that serves one after the other: how much longer its own turn took than such requests alone, while others were there. A
    /// request that is done together with others is sometimes completed before them.
    fn beyond_its_turn(&self, now: Nanos, quiet: Option<Quiet>, ticket: &Ticket) -> Nanos {
        match quiet {
            Some(quiet) if self.model.in_turn && self.in_flight > 1 => {
                now.since(self.served.max(ticket.issued)).since(quiet.most)
            }
            _ => Nanos(0),
        }
    }

    /// Shares the time behind others among their holders.
    fn share(&self, behind: Nanos, beyond: Nanos, ticket: &Ticket, split: &mut Split) {
        if let [only] = self.holders.as_slice() {
            split.behind[0] = Behind { holder: only.holder, time: behind };
            return;
        }
        // Its own time is not behind others; if that is unknown, its part of the shared time stays with its holder.
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
            // If the place has a new holder since, the time before belongs to no named holder.
            let from = if held.first > ticket.number { held.before.max(noted) } else { noted };
            rest += from - noted;
            let (mine, cost) = match i == ticket.place as usize {
                true => (mine, held.cost - ticket.cost),
                false => (0.0, held.cost),
            };
            let before = begun[i];
            // A former holder's part of it belongs to the rest.
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

    /// For a device that serves one after the other, by place: the part of the time of later completions that had passed before this request was
    /// issued.
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
