//! Handlers for events on the way into the block layer: `Q`, `X`, `A`, `G`, `M`, `F`.

use crate::bio_id::BioId;
use crate::contention::{Contention, Reading};
use crate::observer::IoObserver;
use crate::op::{kind, Op};
use crate::owner::Owner;
use crate::piece::{Key, Part, Piece, PieceId, Stage};
use crate::request::Request;
use crate::rows::Orphan;
use crate::share::Remapped;
use crate::stack::Child;
use crate::task_name::TaskName;
use crate::timeline::Timeline;
use crate::tracker::IoTracker;
use trace::{Bytes, Detail, Event, Flags, Sector};

/// Largest number of bios without a request on one device. On bio-based devices every bio stays so until it completes;
/// md has a few thousand at most. If there are more, completions were lost.
const MAX_WAITING: usize = 8192;

/// Largest number of bios in flight over all devices (170 bytes each). Most are merged into requests: 1024 requests of
/// 128 bios (`max_segments`) each reach it.
const MAX_BIOS: usize = 1 << 17;

impl IoTracker {
    /// `Q`: a bio is queued.
    pub(crate) fn queue(&mut self, dev: u32, e: &Event, observer: &mut dyn IoObserver) {
        self.make_room(dev, e.time);
        let op = Op::of(e);
        let announced = self.devices[dev as usize].announced.take(e.sector);
        let announced = announced.or_else(|| self.flush_of_array(dev, op, e));
        let task = self.names.of(e.tid);
        let owner = self.owner.take().or_else(|| self.owner_above(announced.as_ref(), task));
        let (bio, flight) = self.bios.insert();
        flight.dev = dev;
        (flight.op, flight.flags) = (op, kind(e));
        (flight.start, flight.end) = (e.sector, e.sector.after(e.bytes));
        (flight.bytes, flight.remaining) = (e.bytes, e.bytes);
        (flight.tid, flight.task, flight.owner, flight.queued) = (e.tid, task, owner, e.time);
        (flight.pieces, flight.by_request, flight.awaited) = (1, false, false);
        flight.waiting.clear();
        (flight.parent, flight.below, flight.orphan_of) = (None, None, None);
        if kind(e).has(Flags::AHEAD) {
            self.reads_ahead.sends(bio, &mut self.bios);
        } else if !self.reads_ahead.is_empty() {
            self.reads_ahead.ends(e.tid, dev);
        }
        self.tally.bios += 1;
        self.tally.bytes_queued += e.bytes;
        if let Some(child) = announced {
            self.adopt(bio, op, child, e, observer);
        }
        let id = self.begin(Key { dev, start: e.sector, op }, e, task, Stage::Queued);
        if op == Op::Flush || kind(e).has(Flags::FLUSH) || kind(e).has(Flags::FUA) {
            self.devices[dev as usize].flushes.asked = Some(owner.map_or(task, |o| o.task));
        }
        let piece = self.table.get_mut(id);
        piece.request.owner = owner;
        piece.request.time.queued = Some(e.time);
        piece.parts.push(Part { bio, bytes: e.bytes, joined: None, merged: false });
        let device = &mut self.devices[dev as usize];
        device.sees_queues = true;
        device.waiting.push(id);
        if let Some(b) = self.bios.get_mut(bio) {
            b.waiting.push(id);
        }
    }

    /// Owner of data sent by a stacked device: the parent's owner, or the parent's task if it is not `task`.
    fn owner_above(&self, child: Option<&Child>, task: TaskName) -> Option<Owner> {
        let parent = self.bios.get(child?.parent?)?;
        parent.owner.or_else(|| (parent.task != task).then_some(Owner { task: parent.task, journal: false }))
    }

    /// Adds a piece to the table as an event describes it, with no parts yet.
    pub(crate) fn begin(&mut self, key: Key, e: &Event, task: TaskName, stage: Stage) -> PieceId {
        self.make_room_for_piece(key, e.time);
        let device = &self.devices[key.dev as usize];
        let (id, piece) = self.table.insert(key);
        piece.stage = stage;
        piece.end = key.start.after(e.bytes);
        piece.done = Bytes(0);
        piece.parts.clear();
        piece.begun_before = false;
        (piece.touched, piece.losses) = (e.time, device.losses);
        piece.since = Reading::default();
        let request = &mut piece.request;
        request.dev = device.id;
        request.flags = kind(e);
        (request.tid, request.task, request.submit_cpu) = (e.tid, task, e.cpu);
        (request.owner, request.split, request.piece, request.completions) = (None, false, Bytes(0), 0);
        request.time = Timeline::default();
        request.contention = Contention::default();
        id
    }

    /// `X`: a bio is split. The part from the given sector on becomes a piece of its own.
    pub(crate) fn split(&mut self, dev: u32, e: &Event) {
        let Detail::Split(at) = e.detail else { return };
        let op = Op::of(e);
        let inside = |p: &Piece| p.start < at && at < p.end;
        let key = Key { dev, start: e.sector, op };
        let found = self
            .table
            .chain(key)
            .find(|id| self.table.get(*id).stage == Stage::Queued && inside(self.table.get(*id)))
            .or_else(|| self.waiting_where(dev, op, inside));
        let Some(id) = found else {
            self.count_unmatched(dev, |t| &mut t.others_unmatched);
            return;
        };
        let front = self.table.get_mut(id);
        let back_bytes = Bytes::from_sectors(front.end.0 - at.0);
        let Some(part) = front.parts.first_mut() else { return };
        let bio = part.bio;
        part.bytes = part.bytes - back_bytes;
        let end = std::mem::replace(&mut front.end, at);
        front.request.split = true;
        let Request { task, owner, tid, submit_cpu, flags, time: Timeline { queued, .. }, .. } =
            front.request;
        let back = self.begin(Key { dev, start: at, op }, e, task, Stage::Queued);
        let piece = self.table.get_mut(back);
        piece.end = end;
        (piece.request.flags, piece.request.owner) = (flags, owner);
        (piece.request.tid, piece.request.submit_cpu) = (tid, submit_cpu);
        (piece.request.split, piece.request.time.queued) = (true, queued);
        piece.parts.push(Part { bio, bytes: back_bytes, joined: None, merged: false });
        self.devices[dev as usize].waiting.push(back);
        if let Some(b) = self.bios.get_mut(bio) {
            b.pieces += 1;
            b.waiting.push(back);
        }
    }

    /// `A`: a bio of an upper device is about to be queued on this one.
    pub(crate) fn remap(&mut self, dev: u32, e: &Event, observer: &mut dyn IoObserver) {
        let Detail::Remap { dev: upper, sector } = e.detail else { return };
        let Some(upper) = self.known_device(upper) else { return };
        if upper == dev {
            return;
        }
        self.devices[dev as usize].upper = Some(self.devices[upper as usize].id);
        let holds = |p: &Piece| p.start <= sector && (sector < p.end || p.start == p.end);
        let parent = self
            .waiting_where_any(upper, holds)
            .and_then(|id| self.table.get(id).parts.first())
            .map(|part| part.bio)
            .or_else(|| {
                self.devices[upper as usize].rows.parent(e.sector).filter(|p| self.bios.get(*p).is_some())
            });
        let sender = parent.and_then(|p| self.bios.get(p));
        let child = Remapped {
            upper: self.devices[upper as usize].id,
            lower: e.dev,
            waited: sender.map(|b| e.time.since(b.queued)),
            task: sender.map_or(TaskName::default(), |b| b.task),
        };
        observer.remapped(&child, &self.names);
        self.devices[dev as usize].announced.add(Child { sector: e.sector, upper, parent });
    }

    /// The parent of a flush. md announces all that it sends below except empty flushes (`submit_flushes`,
    /// drivers/md/md.c). It is the oldest bio above that waits for a flush, because md handles one after another.
    fn flush_of_array(&self, dev: u32, op: Op, e: &Event) -> Option<Child> {
        let upper = self.devices[dev as usize].upper.filter(|_| op == Op::Flush)?;
        let upper = self.known_device(upper)?;
        let flushing = |p: &Piece| p.request.flags.has(Flags::FLUSH) || p.op() == Op::Flush;
        let waiting = self.devices[upper as usize].waiting.iter().map(|id| self.table.get(*id));
        let parent = waiting.into_iter().find(|p| flushing(p))?.parts.first()?.bio;
        Some(Child { sector: e.sector, upper, parent: Some(parent) })
    }

    /// Links a bio to its parent on the device above, or keeps it as an orphan until the parent is known.
    fn adopt(&mut self, bio: BioId, op: Op, child: Child, e: &Event, observer: &mut dyn IoObserver) {
        let rows = &mut self.devices[child.upper as usize].rows;
        let Some((parent, since)) = child.parent.and_then(|p| Some((p, self.bios.get(p)?.queued))) else {
            let orphan = Orphan { bio, op, queued: e.time, completed: None, found: false };
            rows.add_orphan(child.sector, orphan);
            if let Some(b) = self.bios.get_mut(bio) {
                b.orphan_of = Some((child.upper, child.sector));
            }
            return;
        };
        let orphans = rows.adopt(child.sector, parent, since);
        if let Some(lower) = self.bios.get_mut(bio) {
            lower.parent = Some(parent);
        }
        if let Some(upper) = self.bios.get_mut(parent) {
            let below = upper.below.get_or_insert_default();
            below.child_queued(op, e.time);
            for o in &orphans {
                match o.completed {
                    Some(completed) => below.child_found(o.op, o.queued, completed),
                    None => below.child_found_in_flight(o.op, o.queued, e.time),
                }
            }
        }
        for o in orphans {
            if o.completed.is_some() {
                observer.adopted(o.bio.number(), parent.number());
            } else if let Some(lower) = self.bios.get_mut(o.bio) {
                lower.parent = Some(parent);
            }
        }
    }

    /// `G`: a piece gets its request.
    pub(crate) fn get(&mut self, dev: u32, e: &Event) {
        let op = Op::of(e);
        let found = self.take_waiting(dev, e.sector, op, e);
        let id = match found {
            Some(id) => id,
            None => self.begin(Key { dev, start: e.sector, op }, e, self.names.of(e.tid), Stage::Got),
        };
        let losses = self.devices[dev as usize].losses;
        let piece = self.table.get_mut(id);
        piece.stage = Stage::Got;
        piece.request.time.got = Some(e.time);
        (piece.touched, piece.losses) = (e.time, losses);
        for part in &mut piece.parts {
            part.joined = Some(e.time);
        }
        self.table.open_end(id);
    }

    /// `M`: a bio joins a request at its end. Since Linux 5.8 the kernel also reports merges of whole requests.
    pub(crate) fn back_merge(&mut self, dev: u32, e: &Event) {
        let op = Op::of(e);
        let key = Key { dev, start: e.sector, op };
        let Some(joining) = self.joining(dev, op, e) else { return };
        let target = self.table.ending_at(key).filter(|target| *target != joining);
        match target {
            Some(target) => self.join(target, joining, false),
            None => self.join_unseen(dev, joining),
        }
    }

    /// `F`: a bio joins a request at its front.
    pub(crate) fn front_merge(&mut self, dev: u32, e: &Event) {
        let op = Op::of(e);
        let Some(joining) = self.joining(dev, op, e) else { return };
        let key = Key { dev, start: e.sector.after(e.bytes), op };
        let open = |id: &PieceId| {
            *id != joining
                && matches!(self.table.get(*id).stage, Stage::Got | Stage::Inserted | Stage::Requeued)
        };
        let target = self.table.chain(key).find(open);
        match target {
            Some(target) => self.join(target, joining, true),
            None => self.join_unseen(dev, joining),
        }
    }

    /// The piece that a merge event is about: one without a request, or else a request not yet issued.
    fn joining(&mut self, dev: u32, op: Op, e: &Event) -> Option<PieceId> {
        let joining = self.take_waiting(dev, e.sector, op, e).or_else(|| {
            let open = |id: &PieceId| matches!(self.table.get(*id).stage, Stage::Got | Stage::Inserted);
            self.table.chain(Key { dev, start: e.sector, op }).find(open)
        });
        if joining.is_none() {
            self.count_unmatched(dev, |t| &mut t.others_unmatched);
            return None;
        }
        for part in self.table.get_mut(joining?).parts.iter_mut() {
            part.joined = Some(part.joined.unwrap_or(e.time));
        }
        joining
    }

    /// Moves the parts of `joining` into `target`.
    pub(crate) fn join(&mut self, target: PieceId, joining: PieceId, at_front: bool) {
        let gone = self.table.remove(joining);
        let (parts, start, end) = (std::mem::take(&mut gone.parts), gone.start, gone.end);
        let (split, queued) = (gone.request.split, gone.request.time.queued);
        let piece = self.table.get_mut(target);
        piece.parts.extend(parts.into_iter().map(|p| Part { merged: true, ..p }));
        piece.request.split |= split;
        let time = &mut piece.request.time;
        time.queued = match (time.queued, queued) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        if at_front {
            self.table.restart(target, start);
        } else {
            self.table.close_end(target);
            self.table.get_mut(target).end = end;
            self.table.open_end(target);
        }
    }

    /// Turns the piece into a request: the request that it joined was not seen (begun before the recording, or lost).
    fn join_unseen(&mut self, dev: u32, joining: PieceId) {
        self.count_unmatched(dev, |t| &mut t.others_unmatched);
        self.table.get_mut(joining).stage = Stage::Got;
        self.table.open_end(joining);
    }

    /// Takes the piece at `start` without a request off the waiting list. If several tasks queued the same sector, the
    /// piece of the event's own task comes first.
    fn take_waiting(&mut self, dev: u32, start: Sector, op: Op, e: &Event) -> Option<PieceId> {
        let mut found = None;
        for id in self.table.chain(Key { dev, start, op }) {
            let piece = self.table.get(id);
            if piece.stage != Stage::Queued {
                continue;
            }
            let is_own = piece.request.tid == e.tid;
            if is_own || found.is_none() {
                found = Some(id);
            }
            if is_own {
                break;
            }
        }
        let id = found?;
        self.stop_waiting(id);
        Some(id)
    }

    /// Removes a piece from the waiting lists of its device and its bio.
    pub(crate) fn stop_waiting(&mut self, id: PieceId) {
        let (dev, bio) = {
            let p = self.table.get(id);
            (p.dev as usize, p.parts.first().map(|p| p.bio))
        };
        let waiting = &mut self.devices[dev].waiting;
        if let Some(at) = waiting.iter().rposition(|w| *w == id) {
            waiting.remove(at);
        }
        if let Some(b) = bio.and_then(|b| self.bios.get_mut(b)) {
            b.waiting.retain(|w| *w != id);
        }
    }

    /// The newest piece without a request on a device that satisfies `wanted`.
    pub(crate) fn waiting_where(&self, dev: u32, op: Op, wanted: impl Fn(&Piece) -> bool) -> Option<PieceId> {
        self.waiting_where_any(dev, |p| p.op() == op && wanted(p))
    }

    fn waiting_where_any(&self, dev: u32, wanted: impl Fn(&Piece) -> bool) -> Option<PieceId> {
        self.devices[dev as usize].waiting.iter().rev().copied().find(|id| wanted(self.table.get(*id)))
    }

    /// Bounds what is in flight, so that lost completions cannot fill the memory.
    fn make_room(&mut self, dev: u32, now: trace::Nanos) {
        if self.devices[dev as usize].waiting.len() >= MAX_WAITING {
            let oldest = self.devices[dev as usize].waiting[0];
            self.give_up(oldest, now);
        }
        if self.bios.len() >= MAX_BIOS {
            self.give_up_oldest(now);
        }
    }

    /// Whether the kernel's flush machinery handles the write, according to its flags. Such a write ends with an extra
    /// completion of 0 bytes.
    pub(crate) fn goes_through_flush(queued: Flags, issued: Flags) -> bool {
        (queued.has(Flags::FLUSH) && !issued.has(Flags::FLUSH))
            || (queued.has(Flags::FUA) && !issued.has(Flags::FUA))
    }
}
