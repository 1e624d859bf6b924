//! Through the device and out: `I`, `D`, `R`, `C`.

use crate::bio::Bio;
use crate::bios::InFlight;
use crate::crowd::Company;
use crate::lives::{Lives, Sink};
use crate::op::{kind, Class, Op};
use crate::piece::{BioId, Key, Part, Piece, PieceId, Stage};
use crate::request::Request;
use crate::tally::Tally;
use crate::timeline::Timeline;
use trace::{Cpu, Event, Nanos, Sector};

/// Pieces in flight over all devices (250 bytes each). The deepest queues that exist hold 64 Ki requests.
const MAX_IN_FLIGHT: usize = 1 << 17;

/// Requests of the same operation on the same first sector at once. Hostile input aside, two or three.
const MAX_SAME_KEY: u32 = 64;

/// Flushes in flight on a device: one or two per hardware queue.
const MAX_FLUSHES: u32 = 4096;

/// The kernel times a request out after 30 s (`queue/io_timeout`, 30000 ms). Where two pieces answer to the
/// same sector, one that has not moved for longer is a lost completion, not a slow request.
const STALE: Nanos = Nanos(30_000_000_000);

/// Flush requests have no sector: 0 when issued, 2^64-1 or 0 when completed. They are kept under this one.
const FLUSH_SECTOR: Sector = Sector(u64::MAX);

/// The request that served a bio.
#[derive(Clone, Copy)]
struct Carrier<'a> {
    company: &'a Company,
    /// Whether it carried nothing else.
    alone: bool,
}

impl Lives {
    /// `I`: into the scheduler.
    pub(crate) fn insert(&mut self, dev: u32, e: &Event) {
        let key = Key { dev, start: e.sector, op: Op::of(e) };
        let got = |p: &Piece| matches!(p.stage, Stage::Got);
        let id = match self.choose(key, e, got) {
            Some(id) => id,
            None if self.table.chain(key).any(|id| self.table.get(id).stage == Stage::Requeued) => return,
            None => {
                self.count_unmatched(dev, |t| &mut t.others_unmatched);
                let piece = self.new_piece(dev, e, Stage::Got);
                let id = self.admit(piece, e.time);
                self.table.open_end(id);
                id
            }
        };
        let reading = self.devices[dev as usize].crowd.read(e.time);
        let piece = self.table.get_mut(id);
        piece.stage = Stage::Inserted;
        piece.since = reading;
        piece.touched = e.time;
        if piece.time.inserted.is_none() {
            piece.time.inserted = Some(e.time);
        }
    }

    /// `D`: to the device.
    pub(crate) fn issue<S: Sink>(&mut self, dev: u32, e: &Event, sink: &mut S) {
        let op = Op::of(e);
        let id = if op == Op::Flush {
            let mut piece = self.new_piece(dev, e, Stage::Got);
            (piece.start, piece.end) = (FLUSH_SECTOR, FLUSH_SECTOR);
            self.admit(piece, e.time)
        } else {
            let key = Key { dev, start: e.sector, op };
            let open = |p: &Piece| matches!(p.stage, Stage::Got | Stage::Inserted | Stage::Requeued);
            match self.choose(key, e, open).or_else(|| self.issue_of_unseen_get(dev, op, e)) {
                Some(id) => id,
                None => {
                    self.count_unmatched(dev, |t| &mut t.issues_unmatched);
                    let piece = self.new_piece(dev, e, Stage::Got);
                    self.admit(piece, e.time)
                }
            }
        };
        if op != Op::Flush && op != Op::Passthrough {
            self.agree_on_end(id, e);
        }
        self.table.close_end(id);
        let device = &mut self.devices[dev as usize];
        let piece = self.table.get_mut(id);
        let first = piece.time.first_issued.is_none();
        if let Some(given_back) = (!first).then_some(piece.touched) {
            piece.time.requeued += e.time.since(given_back);
        }
        if first {
            piece.time.first_issued = Some(e.time);
            if piece.stage == Stage::Inserted {
                let now = device.crowd.read(e.time);
                piece.company.waited(&piece.since, &now);
            }
            if Lives::goes_through_flush(piece.flags, kind(e)) {
                piece.time.flushed = true;
                piece.time.preflush = piece.time.got.and_then(|g| device.flushes.since(g, e.cpu));
            }
        }
        piece.time.issued = Some(e.time);
        piece.stage = Stage::Issued;
        (piece.touched, piece.losses) = (e.time, device.losses);
        let class = Class::of(piece.op, piece.flags);
        piece.company.meet(&device.crowd);
        device.crowd.enter(class, piece.done + piece.bytes(), e.time);
        piece.since = device.crowd.read(e.time);
        sink.in_flight(device.id, e.time, device.crowd.in_flight());
        if S::SHARES && first {
            sink.issued(e.dev, e.time, &self.shares(&self.table.get(id).parts));
        }
    }

    /// Counts an event of something whose beginning was not seen.
    pub(crate) fn count_unmatched(&mut self, dev: u32, after_losses: impl Fn(&mut Tally) -> &mut u64) {
        if self.devices[dev as usize].losses == 0 {
            self.tally.began_before += 1;
        } else {
            *after_losses(&mut self.tally) += 1;
        }
    }

    /// A request that is issued longer than it was has taken in those behind it. Before Linux 5.8 the kernel did
    /// not say so where two requests were merged, and the event can be lost.
    fn agree_on_end(&mut self, id: PieceId, e: &Event) {
        let end = e.sector.after(e.bytes);
        while self.table.get(id).end < end {
            let Piece { dev, op, end: start, .. } = *self.table.get(id);
            let fits = |n: &PieceId| {
                let p = self.table.get(*n);
                *n != id && p.stage <= Stage::Inserted && p.start < p.end && p.end <= end
            };
            let Some(next) = self.table.chain(Key { dev, start, op }).find(fits) else { break };
            if self.table.get(next).stage == Stage::Queued {
                self.stop_waiting(next);
            }
            self.join(id, next, false);
        }
        if self.table.get(id).end != end {
            self.table.close_end(id);
            self.table.get_mut(id).end = end;
        }
    }

    /// The issue of a bio whose `G` was lost.
    fn issue_of_unseen_get(&mut self, dev: u32, op: Op, e: &Event) -> Option<PieceId> {
        let key = Key { dev, start: e.sector, op };
        let id = self.choose(key, e, |p| p.stage == Stage::Queued)?;
        self.stop_waiting(id);
        Some(id)
    }

    /// `R`: the driver gives a request back.
    pub(crate) fn requeue(&mut self, dev: u32, e: &Event, sink: &mut impl Sink) {
        let key = Key { dev, start: e.sector, op: Op::of(e) };
        let Some(id) = self.choose(key, e, |p| p.stage == Stage::Issued) else {
            self.count_unmatched(dev, |t| &mut t.others_unmatched);
            return;
        };
        let device = &mut self.devices[dev as usize];
        let piece = self.table.get_mut(id);
        piece.stage = Stage::Requeued;
        piece.touched = e.time;
        piece.time.requeues += 1;
        device.crowd.leave(Class::of(piece.op, piece.flags), piece.done + piece.bytes(), false, e.time);
        sink.in_flight(device.id, e.time, device.crowd.in_flight());
    }

    /// `C`: a request, or a bio of a bio-based device, is done in part or whole.
    pub(crate) fn complete(&mut self, dev: u32, e: &Event, sink: &mut impl Sink) {
        let op = Op::of(e);
        if op == Op::Flush {
            let key = Key { dev, start: FLUSH_SECTOR, op };
            if let Some(id) = self.oldest_here(key, e.cpu, |p| p.stage == Stage::Issued) {
                let issued = self.table.get(id).time.issued.unwrap_or(e.time);
                self.devices[dev as usize].flushes.complete(issued, e.time, e.cpu);
                return self.finish_request(id, e, sink);
            }
        } else if e.bytes.0 == 0 && op == Op::Write {
            if self.end_of_flush_sequence(dev, e, sink) {
                return;
            }
        } else {
            let key = Key { dev, start: e.sector, op };
            if let Some(id) = self.choose(key, e, |p| p.stage == Stage::Issued) {
                return self.complete_request(id, e, sink);
            }
        }
        self.complete_bio(dev, op, e, sink);
    }

    fn complete_request(&mut self, id: PieceId, e: &Event, sink: &mut impl Sink) {
        let piece = self.table.get_mut(id);
        piece.completions += 1;
        if e.bytes < piece.bytes() && piece.op != Op::Passthrough {
            piece.done += e.bytes;
            piece.touched = e.time;
            let rest = e.sector.after(e.bytes);
            self.table.restart(id, rest);
            return;
        }
        if piece.time.flushed {
            piece.stage = Stage::PostFlush;
            piece.time.data_completed = Some(e.time);
            piece.touched = e.time;
            piece.done += e.bytes;
            self.leave_device(id, e.time, sink);
            return;
        }
        self.finish_request(id, e, sink);
    }

    /// The completion of no bytes that ends a write with flushes, or an empty flush.
    fn end_of_flush_sequence(&mut self, dev: u32, e: &Event, sink: &mut impl Sink) -> bool {
        let write = Key { dev, start: e.sector, op: Op::Write };
        let flush = Key { dev, start: e.sector, op: Op::Flush };
        let ready = |p: &Piece| p.stage == Stage::PostFlush;
        let got = |p: &Piece| matches!(p.stage, Stage::Got | Stage::Inserted);
        let found = self.oldest_here(write, e.cpu, ready).or_else(|| self.oldest_here(flush, e.cpu, got));
        let Some(id) = found else { return false };
        let flushes = &self.devices[dev as usize].flushes;
        let piece = self.table.get_mut(id);
        piece.time.flushed = true;
        match piece.time.data_completed {
            Some(data) => piece.time.postflush = flushes.since(data, e.cpu),
            None => piece.time.preflush = piece.time.got.and_then(|g| flushes.since(g, e.cpu)),
        }
        self.finish_request(id, e, sink);
        true
    }

    /// The oldest piece of a key in the right stage: of those begun on this CPU, if there are any.
    fn oldest_here(&self, key: Key, cpu: Cpu, wanted: impl Fn(&Piece) -> bool) -> Option<PieceId> {
        let right = || self.table.chain(key).filter(|id| wanted(self.table.get(*id)));
        right().find(|id| self.table.get(*id).cpu == cpu).or_else(|| right().next())
    }

    fn leave_device(&mut self, id: PieceId, now: Nanos, sink: &mut impl Sink) {
        let piece = self.table.get_mut(id);
        let device = &mut self.devices[piece.dev as usize];
        let class = Class::of(piece.op, piece.flags);
        let bytes = piece.done + piece.bytes();
        let reading = device.crowd.read(now);
        piece.company.shared(&piece.since, &reading);
        device.crowd.leave(class, bytes, true, now);
        sink.in_flight(device.id, now, device.crowd.in_flight());
    }

    /// The request is over: tells the sink of it and of the bios that end with it.
    fn finish_request<S: Sink>(&mut self, id: PieceId, e: &Event, sink: &mut S) {
        if self.table.get(id).stage == Stage::Issued {
            self.leave_device(id, e.time, sink);
        }
        let mut piece = self.table.remove(id);
        let was_issued = piece.time.issued.is_some();
        piece.time.completed = e.time;
        if piece.time.data_completed.is_none() && was_issued {
            piece.time.data_completed = Some(e.time);
        }
        if was_issued {
            let request = self.request(&piece, e.cpu, e.error);
            self.check_order(&request.time);
            self.tally.requests += 1;
            if S::SHARES {
                sink.carried(&request, &self.shares(&piece.parts), &self.names);
            }
            sink.request(&request, &self.names);
        }
        let carrier = Carrier { company: &piece.company, alone: was_issued && piece.parts.len() == 1 };
        for part in &piece.parts {
            let time = Timeline { got: part.joined, ..piece.time };
            self.complete_part(part, time, Some(carrier), sink);
        }
    }

    fn request(&self, piece: &Piece, complete_cpu: Cpu, error: u16) -> Request {
        let bytes = if piece.stage == Stage::PostFlush { piece.done } else { piece.done + piece.bytes() };
        let start = match piece.op {
            Op::Flush => Sector(0),
            _ if piece.completions > 1 => Sector(piece.end.0.saturating_sub(bytes.sectors())),
            _ => piece.start,
        };
        Request {
            dev: self.devices[piece.dev as usize].id,
            op: piece.op,
            flags: piece.flags,
            start,
            bytes,
            tid: piece.tid,
            task: piece.task,
            submit_cpu: piece.cpu,
            complete_cpu,
            bios: piece.parts.len() as u32,
            merges: piece.parts.iter().filter(|p| p.merged).count() as u32,
            split: piece.split,
            completions: piece.completions.max(1),
            error,
            time: piece.time,
            company: piece.company,
        }
    }

    fn check_order(&mut self, t: &Timeline) {
        let stamps =
            [t.queued, t.got, t.inserted, t.first_issued, t.issued, t.data_completed, Some(t.completed)];
        let mut latest = Nanos(0);
        for stamp in stamps.into_iter().flatten() {
            if stamp < latest {
                self.tally.backward_steps += 1;
            }
            latest = stamp;
        }
    }

    /// A part of a bio is done; with the last one the bio is.
    fn complete_part(&mut self, part: &Part, time: Timeline, carrier: Option<Carrier>, sink: &mut impl Sink) {
        let Some(bio) = self.bios.get_mut(part.bio) else { return };
        bio.remaining = bio.remaining - part.bytes;
        bio.by_request |= carrier.is_some();
        if bio.remaining.0 > 0 {
            return;
        }
        let time = Timeline { queued: Some(bio.queued), ..time };
        self.finish_bio(part.bio, time, part.merged, carrier, sink);
    }

    fn finish_bio(
        &mut self,
        id: BioId,
        time: Timeline,
        merged: bool,
        carrier: Option<Carrier>,
        sink: &mut impl Sink,
    ) {
        let Some(bio) = self.bios.remove(id) else { return };
        for piece in &bio.waiting {
            self.forget_waiting(*piece);
        }
        self.tally.bytes_completed += bio.bytes;
        let dev = self.devices[bio.dev as usize].id;
        let is_child = bio.parent.is_some();
        self.tell_parent(&bio, time.completed);
        let InFlight { op, flags, start, bytes, tid, task, pieces, by_request, below, .. } = bio;
        let lower = below.map(|b| b.end(time.completed));
        let company = carrier.map(|c| *c.company).unwrap_or_default();
        let is_request = pieces == 1 && carrier.is_some_and(|c| c.alone);
        let done = Bio {
            dev,
            op,
            flags,
            start,
            bytes,
            tid,
            task,
            pieces,
            merged,
            is_request,
            time,
            by_request,
            lower,
            company,
            is_child,
        };
        sink.bio(&done, &self.names);
    }

    fn tell_parent(&mut self, child: &InFlight, now: Nanos) {
        let upper = child.parent.and_then(|p| self.bios.get_mut(p));
        if let Some(below) = upper.and_then(|u| u.below.as_mut()) {
            below.child_completed(child.op, now);
        }
    }

    /// Removes a piece without a request whose bio is over.
    fn forget_waiting(&mut self, id: PieceId) {
        let dev = self.table.get(id).dev as usize;
        self.devices[dev].waiting.retain(|w| *w != id);
        self.table.remove(id);
    }

    /// A completion on a bio-based device (md, dm). The pieces of a split bio are chained in the kernel
    /// (`bio_chain`): the last piece is not completed before all others are, and not all others are announced.
    fn complete_bio(&mut self, dev: u32, op: Op, e: &Event, sink: &mut impl Sink) {
        let key = Key { dev, start: e.sector, op };
        let end = e.sector.after(e.bytes);
        let found = self.choose(key, e, |p| p.stage == Stage::Queued).or_else(|| {
            self.waiting_where(dev, op, |p| p.start <= e.sector && p.end == end && p.start < p.end)
        });
        let Some(id) = found else {
            return self.count_unmatched(dev, |t| &mut t.completions_unmatched);
        };
        self.stop_waiting(id);
        let mut piece = self.table.remove(id);
        let Some(part) = piece.parts.pop() else { return };
        let is_last = self.bio_of(part.bio).is_some_and(|b| piece.end == b.end);
        piece.time.completed = e.time;
        if is_last {
            let queued = self.bio_of(part.bio).map(|b| b.queued);
            self.finish_bio(part.bio, Timeline { queued, ..piece.time }, false, None, sink);
        } else {
            self.complete_part(&part, piece.time, None, sink);
        }
    }

    /// The piece of a key that an event means, among those in the right stage: the one of the same length,
    /// and of these the one that has been in its stage for longest, unless that one is stale.
    fn choose(&mut self, key: Key, e: &Event, wanted: impl Fn(&Piece) -> bool) -> Option<PieceId> {
        let (first, several) = {
            let mut candidates = self.table.chain(key).filter(|id| wanted(self.table.get(*id)));
            (candidates.next()?, candidates.next().is_some())
        };
        if !several {
            return Some(first);
        }
        let losses = self.devices[key.dev as usize].losses;
        let stale = |p: &Piece| e.time.since(p.touched) > STALE || losses > p.losses;
        let all: Vec<PieceId> = self.table.chain(key).filter(|id| wanted(self.table.get(*id))).collect();
        let (gone, fresh): (Vec<_>, Vec<_>) = all.iter().partition(|id| stale(self.table.get(**id)));
        if fresh.is_empty() {
            return Some(first);
        }
        for id in gone {
            self.give_up(id, e.time);
        }
        let longest_there = |ids: &mut dyn Iterator<Item = &PieceId>| {
            ids.min_by_key(|id| self.table.get(**id).touched).copied()
        };
        let same_length = |id: &&PieceId| self.table.get(**id).bytes() == e.bytes;
        longest_there(&mut fresh.iter().filter(same_length)).or_else(|| longest_there(&mut fresh.iter()))
    }

    /// A piece whose completion was lost.
    pub(crate) fn give_up(&mut self, id: PieceId, now: Nanos) {
        match self.table.get(id).stage {
            Stage::Queued => self.stop_waiting(id),
            Stage::Issued => {
                let p = self.table.get(id);
                let (class, bytes) = (Class::of(p.op, p.flags), p.done + p.bytes());
                let dev = p.dev as usize;
                self.devices[dev].crowd.leave(class, bytes, false, now);
            }
            _ => {}
        }
        let piece = self.table.remove(id);
        if piece.stage != Stage::Queued {
            self.tally.requests_lost += 1;
        }
        for part in piece.parts {
            let Some(bio) = self.bios.remove(part.bio) else { continue };
            self.tally.bytes_lost += bio.bytes;
            for w in &bio.waiting {
                if *w != id {
                    self.forget_waiting(*w);
                }
            }
            self.tell_parent(&bio, now);
        }
    }

    /// Puts a piece into the table, which stays bounded: where too many answer to one key, or too many are in
    /// flight at all, the oldest are lost completions.
    pub(crate) fn admit(&mut self, piece: Piece, now: Nanos) -> PieceId {
        let key = Key { dev: piece.dev, start: piece.start, op: piece.op };
        let limit = if piece.op == Op::Flush { MAX_FLUSHES } else { MAX_SAME_KEY };
        if let Some(oldest) = self.table.oldest_of_many(key, limit) {
            self.give_up(oldest, now);
        }
        if self.table.len() >= MAX_IN_FLIGHT {
            self.give_up_oldest(now);
        }
        self.table.insert(piece)
    }

    /// Gives up the older half of everything in flight: the table is full of lost completions.
    pub(crate) fn give_up_oldest(&mut self, now: Nanos) {
        let mut ages: Vec<(Nanos, PieceId)> =
            self.table.all().map(|id| (self.table.get(id).touched, id)).collect();
        if ages.is_empty() {
            return;
        }
        let half = ages.len() / 2;
        ages.select_nth_unstable_by_key(half, |(t, _)| *t);
        for (_, id) in &ages[..=half] {
            if self.table.contains(*id) {
                self.give_up(*id, now);
            }
        }
    }
}
