//! Pieces: extents on their way through the block layer, and the table that finds them.
//!
//! A trace does not say which request an event belongs to; it says device, sector and length. So a piece is found by
//! (device, start, operation). Pieces with the same key form a chain, oldest first: two reads of one sector in flight
//! are two pieces. The key of a piece changes when it grows at its front or is completed in part.

use crate::bio_id::BioId;
use crate::contention::Reading;
use crate::op::Op;
use crate::request::Request;
use device::Ticket;
use smallvec::SmallVec;
use trace::{Bytes, Nanos, Sector};

/// Stage of a piece, in the order in which they are passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// A bio, or a part of one, without a request.
    #[default]
    Queued,
    /// It has a request, which is not in the scheduler yet.
    Got,
    /// In the I/O scheduler.
    Inserted,
    /// Requeued by the driver.
    Requeued,
    /// Issued to the device.
    Issued,
    /// Its data is completed; the flush after the data is not.
    PostFlush,
}

/// A bio's share of a piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub bio: BioId,
    pub bytes: Bytes,
    /// When it got a request or joined one; `None` before that.
    pub joined: Option<Nanos>,
    pub merged: bool,
}

/// Index of a piece in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PieceId(pub u32);

#[derive(Debug, Default)]
pub(crate) struct Piece {
    pub dev: u32,
    pub stage: Stage,
    pub start: Sector,
    pub end: Sector,
    /// Bytes completed so far.
    pub done: Bytes,
    pub parts: SmallVec<[Part; 1]>,
    /// Time of its last change of stage, or partial completion; it tells whether the piece is stale.
    pub touched: Nanos,
    /// The device's number of lost events at that time.
    pub losses: u64,
    /// The device's totals when the piece entered its current stage.
    pub since: Reading,
    /// Whether it was in the device when the recording began.
    pub begun_before: bool,
    /// What the device model noted when it took the request.
    pub ticket: Ticket,
    /// The request that will be passed on. Its extent and its counts of bios are filled in at the end.
    pub request: Request,
}

impl Piece {
    pub fn op(&self) -> Op {
        self.request.op
    }

    pub fn bytes(&self) -> Bytes {
        Bytes::from_sectors(self.end.0.saturating_sub(self.start.0))
    }
}

/// The key by which a piece is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub dev: u32,
    pub start: Sector,
    pub op: Op,
}

/// Storage for a piece. Pieces are large and short-lived, so they are overwritten in place and never moved.
#[derive(Default)]
struct Slot {
    in_use: bool,
    /// Whether bios may still join the piece at its end.
    end_is_open: bool,
    next: Links,
    piece: Piece,
}

impl Slot {
    fn start_key(&self) -> Key {
        Key { dev: self.piece.dev, start: self.piece.start, op: self.piece.op() }
    }

    fn end_key(&self) -> Key {
        Key { start: self.piece.end, ..self.start_key() }
    }
}

/// All pieces in flight.
#[derive(Default)]
pub(crate) struct Table {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// All pieces by start. Pieces of one key are in the order in which they were added.
    starts: Index<STARTS>,
    /// Requests that a bio can still join at their end, by end sector. Only the newest for each end.
    ends: Index<ENDS>,
}

impl Table {
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Adds a piece. The caller fills it in: all fields but the key still hold the values of an earlier piece.
    pub fn insert(&mut self, key: Key) -> (PieceId, &mut Piece) {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        let slot = &mut self.slots[id as usize];
        (slot.in_use, slot.end_is_open) = (true, false);
        (slot.piece.dev, slot.piece.start, slot.piece.request.op) = (key.dev, key.start, key.op);
        self.starts.add(&mut self.slots, key, id);
        (PieceId(id), &mut self.slots[id as usize].piece)
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        self.slots.push(Slot::default());
        if self.starts.is_small_for(self.slots.len()) {
            self.starts.widen(&mut self.slots, Slot::start_key);
            self.ends.widen(&mut self.slots, Slot::end_key);
        }
        self.slots.len() as u32 - 1
    }

    pub fn get(&self, id: PieceId) -> &Piece {
        let slot = &self.slots[id.0 as usize];
        debug_assert!(slot.in_use);
        &slot.piece
    }

    pub fn get_mut(&mut self, id: PieceId) -> &mut Piece {
        let slot = &mut self.slots[id.0 as usize];
        debug_assert!(slot.in_use);
        &mut slot.piece
    }

    /// Whether the index is in use.
    pub fn contains(&self, id: PieceId) -> bool {
        self.slots[id.0 as usize].in_use
    }

    /// Removes a piece. Its contents can be read until the next `insert`.
    pub fn remove(&mut self, id: PieceId) -> &mut Piece {
        self.close_end(id);
        let key = self.slots[id.0 as usize].start_key();
        self.starts.remove(&mut self.slots, key, id.0);
        self.free.push(id.0);
        let slot = &mut self.slots[id.0 as usize];
        slot.in_use = false;
        &mut slot.piece
    }

    /// Moves the start of a piece.
    pub fn restart(&mut self, id: PieceId, start: Sector) {
        let old = self.slots[id.0 as usize].start_key();
        self.starts.remove(&mut self.slots, old, id.0);
        self.get_mut(id).start = start;
        self.starts.add(&mut self.slots, Key { start, ..old }, id.0);
    }

    /// Allows bios to join this piece at its end.
    pub fn open_end(&mut self, id: PieceId) {
        self.close_end(id);
        let key = self.slots[id.0 as usize].end_key();
        if let Some(other) = self.ending_at(key) {
            self.close_end(other);
        }
        self.ends.add(&mut self.slots, key, id.0);
        self.slots[id.0 as usize].end_is_open = true;
    }

    /// Forbids bios to join this piece at its end. Call it before changing the end.
    pub fn close_end(&mut self, id: PieceId) {
        let slot = &mut self.slots[id.0 as usize];
        if std::mem::take(&mut slot.end_is_open) {
            let key = slot.end_key();
            self.ends.remove(&mut self.slots, key, id.0);
        }
    }

    /// The request that a bio starting at `key` can join, if one ends there.
    pub fn ending_at(&self, key: Key) -> Option<PieceId> {
        self.ends.iter(&self.slots, key).find(|(_, slot)| slot.end_key() == key).map(|(id, _)| PieceId(id))
    }

    /// The pieces of a key, oldest first.
    pub fn chain(&self, key: Key) -> impl Iterator<Item = PieceId> + '_ {
        let of_key = move |(id, slot): (u32, &Slot)| (slot.start_key() == key).then_some(PieceId(id));
        self.starts.iter(&self.slots, key).filter_map(of_key)
    }

    /// The oldest piece of a key, if the key has `limit` pieces or more.
    pub fn oldest_of_many(&self, key: Key, limit: usize) -> Option<PieceId> {
        if self.len() < limit {
            return None;
        }
        let oldest = self.chain(key).next()?;
        (self.chain(key).take(limit).count() == limit).then_some(oldest)
    }

    /// All pieces, in no particular order.
    pub fn all(&self) -> impl Iterator<Item = PieceId> + '_ {
        self.slots.iter().enumerate().filter(|(_, s)| s.in_use).map(|(i, _)| PieceId(i as u32))
    }
}

/// End of a list.
const NONE: u32 = u32::MAX;

/// For each of the two indexes, the next piece in its list.
type Links = [u32; 2];
const STARTS: usize = 0;
const ENDS: usize = 1;

/// A hash index over pieces. Each hash value has a list, whose links are stored in the slots themselves.
///
/// Example: four lists; pieces 0 and 2 start at sector 8, piece 1 at sector 64, and both sectors hash to 3:
/// `heads = [-, -, -, 0]`, and the list continues from 0 to 1 and 2. There are at least as many lists as slots, so
/// most have one piece or none.
struct Index<const WHICH: usize> {
    heads: Vec<u32>,
}

impl<const WHICH: usize> Default for Index<WHICH> {
    fn default() -> Self {
        Index { heads: vec![NONE; 64] }
    }
}

impl<const WHICH: usize> Index<WHICH> {
    /// Fibonacci hashing (Knuth, TAOCP 6.4): the high bits of a product with 2^64 / golden ratio. It spreads
    /// neighbouring sectors far apart.
    fn list(&self, key: Key) -> usize {
        let n = key.start.0 ^ ((key.dev as u64) << 48) ^ ((key.op as u64) << 60);
        let bits = self.heads.len().trailing_zeros();
        (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
    }

    /// All pieces of the key's list, including those of other keys with the same hash.
    fn iter<'a>(&self, slots: &'a [Slot], key: Key) -> impl Iterator<Item = (u32, &'a Slot)> {
        let mut at = self.heads[self.list(key)];
        std::iter::from_fn(move || {
            let (id, slot) = (at, slots.get(at as usize)?);
            at = slot.next[WHICH];
            Some((id, slot))
        })
    }

    /// Appends a piece to its list.
    fn add(&mut self, slots: &mut [Slot], key: Key, id: u32) {
        slots[id as usize].next[WHICH] = NONE;
        let list = self.list(key);
        *self.link_to(slots, list, NONE) = id;
    }

    fn remove(&mut self, slots: &mut [Slot], key: Key, id: u32) {
        let next = slots[id as usize].next[WHICH];
        let list = self.list(key);
        let link = self.link_to(slots, list, id);
        if *link == id {
            *link = next;
        }
    }

    /// The link that points to `id`, or the list's last link if none does.
    fn link_to<'a>(&'a mut self, slots: &'a mut [Slot], list: usize, id: u32) -> &'a mut u32 {
        let head = self.heads[list];
        if head == id || head == NONE {
            return &mut self.heads[list];
        }
        let mut at = head as usize;
        loop {
            let next = slots[at].next[WHICH];
            if next == id || next == NONE {
                return &mut slots[at].next[WHICH];
            }
            at = next as usize;
        }
    }

    fn is_small_for(&self, pieces: usize) -> bool {
        pieces > self.heads.len()
    }

    /// Doubles the number of lists. Pieces of one key keep their order.
    fn widen(&mut self, slots: &mut [Slot], key: impl Fn(&Slot) -> Key) {
        let twice = self.heads.len() * 2;
        for mut at in std::mem::replace(&mut self.heads, vec![NONE; twice]) {
            while at != NONE {
                let (key, next) = (key(&slots[at as usize]), slots[at as usize].next[WHICH]);
                self.add(slots, key, at);
                at = next;
            }
        }
    }
}
