//! Handler for completions (`C`): the way out of the block layer.

use crate::bio_id::BioId;
use crate::contention::Contention;
use crate::device::FLUSH_SECTOR;
use crate::holding::Holding;
use crate::observer::IoObserver;
use crate::op::Op;
use crate::piece::{Key, Part, Piece, PieceId, Stage};
use crate::timeline::{FlushWait, Timeline};
use crate::tracker::IoTracker;
use trace::{Bytes, Cpu, Event, Flags, Nanos, Sector};

/// What carried a bio when it ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Carrier {
    /// A request with no other bio in it.
    Alone,
    /// A request with other bios in it, or one that was never issued.
    Shared,
    /// No request, because the device is bio-based.
    None,
}

impl IoTracker {
    /// `C`: a request, or a bio of a bio-based device, is completed in part or in full. Inlined although it has two
    /// callers, because the other one ([`IoTracker::end_early`]) rarely calls it.
    #[inline(always)]
    pub(crate) fn complete(&mut self, dev: u32, e: &Event, observer: &mut dyn IoObserver) {
        let op = Op::of(e);
        if op == Op::Flush {
            let key = Key { dev, start: FLUSH_SECTOR, op };
            if let Some(id) = self.oldest_here(key, e.cpu, |p| p.stage == Stage::Issued) {
                self.leave_device(id, e.time, observer);
                let piece = self.table.get_mut(id);
                piece.stage = Stage::PostFlush;
                let issued = piece.request.time.issued.unwrap_or(e.time);
                let flush = FlushWait::new(issued, e.time, &piece.request.contention.split);
                self.devices[dev as usize].flushes.complete(flush, e.cpu);
                return self.finish_request(id, e, observer);
            }
        } else if e.bytes.0 == 0 && op == Op::Write {
            if self.end_of_flush_sequence(dev, e, observer) {
                return;
            }
        } else {
            let key = Key { dev, start: e.sector, op };
            if let Some(id) = self.choose(key, e, |p| p.stage == Stage::Issued) {
                return self.complete_request(id, e, observer);
            }
        }
        self.complete_bio(dev, op, e, observer);
    }

    fn complete_request(&mut self, id: PieceId, e: &Event, observer: &mut dyn IoObserver) {
        let piece = self.table.get_mut(id);
        piece.request.completions += 1;
        if e.bytes < piece.bytes() && piece.op() != Op::Passthrough {
            piece.done += e.bytes;
            piece.touched = e.time;
            let rest = e.sector.after(e.bytes);
            self.table.restart(id, rest);
            return;
        }
        if piece.request.time.flushed {
            piece.stage = Stage::PostFlush;
            piece.request.time.data_completed = Some(e.time);
            piece.touched = e.time;
            piece.done += e.bytes;
            let (dev, issued) = (piece.dev, piece.request.time.issued.unwrap_or(e.time));
            let holder = self.names.holder(Holding::of(&piece.request));
            self.devices[dev as usize].flushes.complete_data(holder, issued, e.time);
            self.leave_device(id, e.time, observer);
            return;
        }
        self.finish_request(id, e, observer);
    }

    /// Handles the completion of 0 bytes that ends a write with flushes, or an empty flush.
    fn end_of_flush_sequence(&mut self, dev: u32, e: &Event, observer: &mut dyn IoObserver) -> bool {
        let write = Key { dev, start: e.sector, op: Op::Write };
        let flush = Key { dev, start: e.sector, op: Op::Flush };
        let ready = |p: &Piece| p.stage == Stage::PostFlush;
        let got = |p: &Piece| matches!(p.stage, Stage::Got | Stage::Inserted);
        let found = self.oldest_here(write, e.cpu, ready).or_else(|| self.oldest_here(flush, e.cpu, got));
        let Some(id) = found else { return false };
        let flushes = &self.devices[dev as usize].flushes;
        let time = &mut self.table.get_mut(id).request.time;
        time.flushed = true;
        match time.data_completed {
            Some(data) => time.postflush = flushes.since(data, e.cpu),
            None => time.preflush = time.got.and_then(|g| flushes.since(g, e.cpu)),
        }
        self.finish_request(id, e, observer);
        true
    }

    /// The oldest piece of a key that satisfies `wanted`, preferring pieces queued on this CPU.
    fn oldest_here(&self, key: Key, cpu: Cpu, wanted: impl Fn(&Piece) -> bool) -> Option<PieceId> {
        let right = || self.table.chain(key).filter(|id| wanted(self.table.get(*id)));
        right().find(|id| self.table.get(*id).request.submit_cpu == cpu).or_else(|| right().next())
    }

    fn leave_device(&mut self, id: PieceId, now: Nanos, observer: &mut dyn IoObserver) {
        let piece = self.table.get_mut(id);
        let device = &mut self.devices[piece.dev as usize];
        let bytes = piece.done + piece.bytes();
        let class = piece.request.class();
        piece.request.contention.shared(&piece.since, &device.load.completed(now));
        piece.request.contention.split =
            device.inside.complete(now, class.index() as u8, bytes, &mut piece.ticket);
        device.load.leave(class, bytes, true, now);
        observer.in_flight(device.id, now, device.load.in_flight());
    }

    /// Ends a request: passes it, and the bios that end with it, to the observer.
    fn finish_request(&mut self, id: PieceId, e: &Event, observer: &mut dyn IoObserver) {
        if self.table.get(id).stage == Stage::Issued {
            self.leave_device(id, e.time, observer);
        }
        let piece = self.table.get_mut(id);
        let parts = std::mem::take(&mut piece.parts);
        let time = &mut piece.request.time;
        let was_issued = time.issued.is_some();
        time.completed = e.time;
        if was_issued && piece.begun_before {
            time.data_completed.get_or_insert(e.time);
            piece.conclude(&parts, e);
            observer.begun_before(&self.table.get(id).request, &self.names);
        } else if was_issued {
            time.data_completed.get_or_insert(e.time);
            self.tally.backward_steps += steps_back(time);
            self.tally.requests += 1;
            piece.conclude(&parts, e);
            if piece.request.split {
                let cut = parts.iter().filter_map(|p| self.bios.get(p.bio)).filter(|b| b.pieces > 1);
                piece.request.piece =
                    cut.map(|b| Bytes(b.bytes.0 / u64::from(b.pieces))).max().unwrap_or_default();
            }
            let request = &self.table.get(id).request;
            if observer.shares() {
                observer.carried(request, &self.bios.shares(&parts), &self.names);
            }
            observer.request(request, &self.names);
        }
        let carrier = if was_issued && parts.len() == 1 { Carrier::Alone } else { Carrier::Shared };
        for part in &parts {
            self.complete_part(part, id, carrier, observer);
        }
        self.table.remove(id);
    }

    /// Completes a part of a bio. The bio ends with its last part.
    fn complete_part(
        &mut self,
        part: &Part,
        piece: PieceId,
        carrier: Carrier,
        observer: &mut dyn IoObserver,
    ) {
        let Some(bio) = self.bios.get_mut(part.bio) else { return };
        bio.remaining = bio.remaining - part.bytes;
        bio.by_request |= carrier != Carrier::None;
        if bio.remaining.0 == 0 {
            self.finish_bio(part, piece, carrier, observer);
        }
    }

    /// The bio of a part is over, and this piece was its last.
    fn finish_bio(&mut self, part: &Part, piece: PieceId, carrier: Carrier, observer: &mut dyn IoObserver) {
        let Some(bio) = self.bios.remove(part.bio) else { return };
        let request = &self.table.get(piece).request;
        let completed = request.time.completed;
        let told = &mut self.told;
        told.dev = self.devices[bio.dev as usize].id;
        (told.op, told.flags) = (bio.op, bio.flags);
        (told.start, told.bytes) = (bio.start, bio.bytes);
        (told.tid, told.task, told.owner) = (bio.tid, bio.task, bio.owner);
        (told.pieces, told.merged) = (bio.pieces, part.merged);
        told.is_request = bio.pieces == 1 && carrier == Carrier::Alone;
        told.time = request.time;
        (told.time.queued, told.time.got) = (Some(bio.queued), part.joined);
        told.by_request = bio.by_request;
        told.lower = bio.below.take().map(|b| b.end(bio.queued, completed));
        match carrier {
            Carrier::None => told.contention = Contention::default(),
            _ => told.contention = request.contention,
        }
        (told.number, told.parent) = (part.bio.number(), bio.parent.map(BioId::number));
        told.awaited = told.flags.has(Flags::AHEAD)
            && self.reads_ahead.is_awaited(part.bio, bio.tid, bio.dev, bio.awaited);
        told.orphan = bio.orphan_of.is_some() && bio.parent.is_none();
        if let Some((upper, row)) = bio.orphan_of {
            let rows = &mut self.devices[upper as usize].rows;
            rows.orphan_over(row, part.bio, bio.op, bio.queued, completed);
        }
        let (waiting, parent, op) = (std::mem::take(&mut bio.waiting), bio.parent, bio.op);
        self.tally.bytes_completed += told.bytes;
        for piece in waiting {
            self.forget_waiting(piece);
        }
        self.tell_parent(parent, op, completed);
        observer.bio(&self.told, &self.names);
    }

    /// Tells the parent on the device above that a child is completed.
    pub(crate) fn tell_parent(&mut self, parent: Option<BioId>, op: Op, now: Nanos) {
        let upper = parent.and_then(|p| self.bios.get_mut(p));
        if let Some(below) = upper.and_then(|u| u.below.as_mut()) {
            below.child_completed(op, now);
        }
    }

    /// Removes a piece without a request whose bio has ended.
    pub(crate) fn forget_waiting(&mut self, id: PieceId) {
        let dev = self.table.get(id).dev as usize;
        self.devices[dev].waiting.retain(|w| *w != id);
        self.table.remove(id);
    }

    /// Handles a completion on a bio-based device (md, dm). The kernel chains the pieces of a split bio (`bio_chain`):
    /// the last piece is completed after all others, and not every other piece has a completion event.
    fn complete_bio(&mut self, dev: u32, op: Op, e: &Event, observer: &mut dyn IoObserver) {
        let key = Key { dev, start: e.sector, op };
        let end = e.sector.after(e.bytes);
        let found = self.choose(key, e, |p| p.stage == Stage::Queued).or_else(|| {
            self.waiting_where(dev, op, |p| p.start <= e.sector && p.end == end && p.start < p.end)
        });
        let Some(id) = found else {
            if self.keep_early(key, e) {
                return;
            }
            self.keep_begun(op, e);
            return self.count_unmatched(dev, |t| &mut t.completions_unmatched);
        };
        self.stop_waiting(id);
        let piece = self.table.get_mut(id);
        piece.request.time.completed = e.time;
        let end = piece.end;
        if let Some(part) = piece.parts.pop() {
            if self.bios.get(part.bio).is_some_and(|b| b.end == end) {
                self.finish_bio(&part, id, Carrier::None, observer);
            } else {
                self.complete_part(&part, id, Carrier::None, observer);
            }
        }
        self.table.remove(id);
    }

    /// Keeps a completion if a request of this extent was not issued yet and the device has lost nothing.
    fn keep_early(&mut self, key: Key, e: &Event) -> bool {
        let not_issued = |stage| matches!(stage, Stage::Got | Stage::Inserted);
        let mut here = self.table.chain(key).map(|id| self.table.get(id));
        if self.devices[key.dev as usize].losses > 0
            || e.bytes.0 == 0
            || !here.any(|p| not_issued(p.stage) && p.bytes() == e.bytes)
        {
            return false;
        }
        self.early.keep(key, e);
        true
    }

    /// After an issue: ends the request if its completion came before.
    #[inline]
    pub(crate) fn end_early(&mut self, dev: u32, issue: &Event, observer: &mut dyn IoObserver) {
        if !self.early.is_empty() {
            self.end_if_early(dev, issue, observer);
        }
    }

    /// A separate function, so that the usual path through [`IoTracker::complete`] stays inlined.
    #[cold]
    #[inline(never)]
    fn end_if_early(&mut self, dev: u32, issue: &Event, observer: &mut dyn IoObserver) {
        let key = Key { dev, start: issue.sector, op: Op::of(issue) };
        if let Some((n, end)) = self.early.take(key) {
            // Of several completions only the last can belong to this issue.
            self.tally.began_before += n as u64 - 1;
            self.complete(dev, &end, observer);
        }
    }
}

impl Piece {
    /// Fills in the fields of a request that are only known at its end.
    fn conclude(&mut self, parts: &[Part], e: &Event) {
        let (start, bytes) = self.extent();
        let request = &mut self.request;
        (request.start, request.bytes) = (start, bytes);
        (request.complete_cpu, request.error) = (e.cpu, e.error);
        request.bios = parts.len() as u32;
        request.merges = parts.iter().filter(|p| p.merged).count() as u32;
        request.completions = request.completions.max(1);
    }

    /// The whole extent of its request, including what is completed.
    pub(crate) fn extent(&self) -> (Sector, Bytes) {
        let bytes = if self.stage == Stage::PostFlush { self.done } else { self.done + self.bytes() };
        let start = match self.request.op {
            Op::Flush => Sector(0),
            _ if self.request.completions > 1 => Sector(self.end.0.saturating_sub(bytes.sectors())),
            _ => self.start,
        };
        (start, bytes)
    }
}

/// Number of timestamps that are earlier than that of the step before.
fn steps_back(t: &Timeline) -> u64 {
    let (mut steps, mut latest) = (0, Nanos(0));
    let mut pass = |stamp: Option<Nanos>| {
        if let Some(at) = stamp {
            steps += (at < latest) as u64;
            latest = at;
        }
    };
    pass(t.queued);
    pass(t.got);
    pass(t.inserted);
    pass(t.first_issued);
    pass(t.issued);
    pass(t.data_completed);
    pass(Some(t.completed));
    steps
}
