//! Out of the block layer: `C`.

use crate::bio::Bio;
use crate::bios::InFlight;
use crate::crowd::Company;
use crate::device::FLUSH_SECTOR;
use crate::lives::{Lives, Sink};
use crate::op::{Class, Op};
use crate::piece::{BioId, Key, Part, Piece, PieceId, Stage};
use crate::request::Request;
use crate::timeline::Timeline;
use trace::{Cpu, Event, Nanos, Sector};

/// The request that served a bio.
#[derive(Clone, Copy)]
struct Carrier<'a> {
    company: &'a Company,
    /// Whether it carried nothing else.
    alone: bool,
}

impl Lives {
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

    pub(crate) fn tell_parent(&mut self, child: &InFlight, now: Nanos) {
        let upper = child.parent.and_then(|p| self.bios.get_mut(p));
        if let Some(below) = upper.and_then(|u| u.below.as_mut()) {
            below.child_completed(child.op, now);
        }
    }

    /// Removes a piece without a request whose bio is over.
    pub(crate) fn forget_waiting(&mut self, id: PieceId) {
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
            if self.keep_early(key, e) {
                return;
            }
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
}
