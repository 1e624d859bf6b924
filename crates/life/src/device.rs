//! Handlers for events at the device: `I`, `D`, `R`.

use crate::begun::holder;
use crate::observer::IoObserver;
use crate::op::{kind, Op};
use crate::owner::Owner;
use crate::piece::{Key, Piece, PieceId, Stage};
use crate::request::Request;
use crate::tracker::IoTracker;
use trace::{Event, Nanos, Sector};

/// Flush requests have no sector: 0 when issued, 2^64-1 or 0 when completed. The table keeps them under this one.
pub(crate) const FLUSH_SECTOR: Sector = Sector(u64::MAX);

/// A requeue that comes this long after the issue means that the kernel aborted the request. A busy driver requeues at
/// once, and a busy device as fast as it answers. The shortest timeout of a command is 1 s (`timeout` of a SCSI
/// device; `queue/io_timeout` is 30 s by default).
pub const GIVEN_UP: Nanos = Nanos(500_000_000);

impl IoTracker {
    /// `I`: inserted into the scheduler.
    pub(crate) fn insert(&mut self, dev: u32, e: &Event) {
        let key = Key { dev, start: e.sector, op: Op::of(e) };
        let got = |p: &Piece| matches!(p.stage, Stage::Got);
        let id = match self.choose(key, e, got) {
            Some(id) => id,
            None if self.table.chain(key).any(|id| self.table.get(id).stage == Stage::Requeued) => return,
            None => {
                self.count_unmatched(dev, |t| &mut t.others_unmatched);
                let id = self.begin(key, e, self.names.of(e.tid), Stage::Got);
                self.table.open_end(id);
                id
            }
        };
        let reading = self.devices[dev as usize].load.issued(e.time);
        let piece = self.table.get_mut(id);
        piece.stage = Stage::Inserted;
        piece.since = reading;
        piece.touched = e.time;
        piece.request.time.inserted.get_or_insert(e.time);
    }

    /// `D`: issued to the device.
    pub(crate) fn issue(&mut self, dev: u32, e: &Event, observer: &mut dyn IoObserver) {
        let op = Op::of(e);
        let id = if op == Op::Flush {
            let key = Key { dev, start: FLUSH_SECTOR, op };
            let again = self.choose(key, e, |p| p.stage == Stage::Requeued);
            again.unwrap_or_else(|| self.begin_flush(key, e))
        } else {
            let key = Key { dev, start: e.sector, op };
            let open = |p: &Piece| matches!(p.stage, Stage::Got | Stage::Inserted | Stage::Requeued);
            match self.choose(key, e, open).or_else(|| self.issue_of_unseen_get(dev, op, e)) {
                Some(id) => id,
                None => {
                    self.count_unmatched(dev, |t| &mut t.issues_unmatched);
                    self.begin_unseen(key, e, Stage::Got)
                }
            }
        };
        if op != Op::Flush && op != Op::Passthrough {
            self.agree_on_end(id, e);
        }
        self.table.close_end(id);
        let device = &mut self.devices[dev as usize];
        let piece = self.table.get_mut(id);
        let Request { time, contention, flags, .. } = &mut piece.request;
        let first = time.first_issued.is_none();
        if first {
            time.first_issued = Some(e.time);
            if piece.stage == Stage::Inserted {
                contention.waited(&piece.since, &device.load.issued(e.time));
            }
            if IoTracker::goes_through_flush(*flags, kind(e)) {
                time.flushed = true;
                time.preflush = time.got.and_then(|g| device.flushes.since(g, e.cpu));
            }
        } else {
            time.requeued += e.time.since(piece.touched);
            device.load.take_again(e.time);
        }
        time.issued = Some(e.time);
        piece.stage = Stage::Issued;
        (piece.touched, piece.losses) = (e.time, device.losses);
        contention.meet(&device.load);
        piece.since = device.load.completed(e.time);
        let (class, bytes) = (piece.request.class(), piece.done + piece.bytes());
        device.load.enter(class, bytes, e.time);
        let holder = holder(&mut self.names, &piece.request);
        device.inside.issue(e.time, holder, class.index() as u8, piece.start, bytes, &mut piece.ticket);
        observer.in_flight(device.id, e.time, device.load.in_flight());
        if observer.shares() && first {
            observer.issued(e.dev, e.time, &self.bios.shares(&self.table.get(id).parts));
        }
    }

    /// Creates the kernel's own flush request, owned by the task that asked for a flush last.
    fn begin_flush(&mut self, key: Key, e: &Event) -> PieceId {
        let id = self.begin(key, e, self.names.of(e.tid), Stage::Got);
        let asked = self.devices[key.dev as usize].flushes.asked;
        let piece = self.table.get_mut(id);
        piece.end = FLUSH_SECTOR;
        piece.request.owner = asked.map(|task| Owner { task, journal: false });
        id
    }

    /// Merges the following requests into one that is issued longer than it was known. Before Linux 5.8 the kernel did
    /// not report merges of two requests, and the event can be lost.
    fn agree_on_end(&mut self, id: PieceId, e: &Event) {
        let end = e.sector.after(e.bytes);
        while self.table.get(id).end < end {
            let Piece { dev, end: start, request: Request { op, .. }, .. } = *self.table.get(id);
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

    /// Matches an issue with a queued piece whose `G` was lost.
    fn issue_of_unseen_get(&mut self, dev: u32, op: Op, e: &Event) -> Option<PieceId> {
        let key = Key { dev, start: e.sector, op };
        let id = self.choose(key, e, |p| p.stage == Stage::Queued)?;
        self.stop_waiting(id);
        Some(id)
    }

    /// `R`: the driver requeues a request.
    pub(crate) fn requeue(&mut self, dev: u32, e: &Event, observer: &mut dyn IoObserver) {
        let op = Op::of(e);
        let start = if op == Op::Flush { FLUSH_SECTOR } else { e.sector };
        let Some(id) = self.choose(Key { dev, start, op }, e, |p| p.stage == Stage::Issued) else {
            self.count_unmatched(dev, |t| &mut t.others_unmatched);
            return;
        };
        let device = &mut self.devices[dev as usize];
        let piece = self.table.get_mut(id);
        piece.stage = Stage::Requeued;
        piece.request.time.requeues += 1;
        let given_up = e.time.since(piece.touched) >= GIVEN_UP;
        piece.request.time.given_up += u32::from(given_up);
        piece.touched = e.time;
        device.load.leave(piece.request.class(), piece.done + piece.bytes(), false, e.time);
        device.inside.leave(e.time, &mut piece.ticket);
        if !given_up {
            device.load.refuse(e.time);
        }
        observer.in_flight(device.id, e.time, device.load.in_flight());
    }
}
