//! Pieces: extents on their way through the block layer, and the table that finds them again.
//!
//! A trace does not say which request an event belongs to; it says device, sector and length. So a piece is
//! found by (device, start, operation), and pieces with the same key stand in a chain, oldest first: two reads
//! of one sector in flight are two pieces. The key of a piece changes when it grows at its front or is completed
//! in part.

use crate::bio::BioNumber;
use crate::contention::Reading;
use crate::op::Op;
use crate::request::Request;
use device::Ticket;
use smallvec::SmallVec;
use trace::{Bytes, Nanos, Sector};

/// How far a piece has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// A bio, or a part of one, without a request.
    #[default]
    Queued,
    /// It has a request.
    Got,
    /// In the scheduler.
    Inserted,
    /// Requeued by the driver.
    Requeued,
    /// In the device.
    Issued,
    /// Its data is done; the flush after it is not.
    PostFlush,
}

/// A bio's share of a piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub bio: BioId,
    pub bytes: Bytes,
    /// When it got a request or joined one.
    pub joined: Option<Nanos>,
    pub merged: bool,
}

/// Number of a bio in flight. Numbers are used again; the generation tells the uses apart, so that a late child
/// does not reach another's parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BioId {
    pub index: u32,
    pub generation: u32,
}

impl BioId {
    /// The same, for those who do not know of places.
    pub fn number(self) -> BioNumber {
        BioNumber(u64::from(self.generation) << 32 | u64::from(self.index))
    }
}

/// Number of a piece in flight.
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
    /// When it last moved on: by this it is judged stale.
    pub touched: Nanos,
    /// The device's losses when it last moved on.
    pub losses: u64,
    /// The device's totals when it entered the stage it is in.
    pub since: Reading,
    /// What the device noted when it took the request.
    pub ticket: Ticket,
    /// What will be passed on about it. Its extent and what counts its bios are filled in at the end.
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

/// What a piece is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub dev: u32,
    pub start: Sector,
    pub op: Op,
}

/// A place for a piece. Pieces are large and short-lived: they are written, read and written over where they lie,
/// never moved.
#[derive(Default)]
struct Slot {
    in_use: bool,
    /// Whether bios may join at its end.
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
    /// Every piece by its start; those of one key are in the order in which they came.
    starts: Index<STARTS>,
    /// Requests that a bio can still join at their end, by that end. Only the latest for each end.
    ends: Index<ENDS>,
}

impl Table {
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Makes a piece, to be filled in by the caller: all but its key is left of the one that was there before.
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

    /// Whether the number is in use.
    pub fn contains(&self, id: PieceId) -> bool {
        self.slots[id.0 as usize].in_use
    }

    /// Takes a piece out. What it was can be read until the next one is made.
    pub fn remove(&mut self, id: PieceId) -> &mut Piece {
        self.close_end(id);
        let key = self.slots[id.0 as usize].start_key();
        self.starts.remove(&mut self.slots, key, id.0);
        self.free.push(id.0);
        let slot = &mut self.slots[id.0 as usize];
        slot.in_use = false;
        &mut slot.piece
    }

    /// Moves a piece to another start.
    pub fn restart(&mut self, id: PieceId, start: Sector) {
        let old = self.slots[id.0 as usize].start_key();
        self.starts.remove(&mut self.slots, old, id.0);
        self.get_mut(id).start = start;
        self.starts.add(&mut self.slots, Key { start, ..old }, id.0);
    }

    /// Lets bios join at this piece's end.
    pub fn open_end(&mut self, id: PieceId) {
        self.close_end(id);
        let key = self.slots[id.0 as usize].end_key();
        if let Some(other) = self.ending_at(key) {
            self.close_end(other);
        }
        self.ends.add(&mut self.slots, key, id.0);
        self.slots[id.0 as usize].end_is_open = true;
    }

    /// No bio joins at this piece's end any more. To be called before the end is changed.
    pub fn close_end(&mut self, id: PieceId) {
        let slot = &mut self.slots[id.0 as usize];
        if std::mem::take(&mut slot.end_is_open) {
            let key = slot.end_key();
            self.ends.remove(&mut self.slots, key, id.0);
        }
    }

    /// The request that ends where `key` starts.
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

    /// All pieces, in no order.
    pub fn all(&self) -> impl Iterator<Item = PieceId> + '_ {
        self.slots.iter().enumerate().filter(|(_, s)| s.in_use).map(|(i, _)| PieceId(i as u32))
    }
}

/// No piece: the end of a list.
const NONE: u32 = u32::MAX;

/// The piece behind this one in the lists of the two indexes.
type Links = [u32; 2];
const STARTS: usize = 0;
const ENDS: usize = 1;

/// Finds pieces by key: a list for each value that a key's hash can have, which runs through the slots themselves.
///
/// Example: four lists; pieces 0 and 2 start at sector 8, piece 1 at sector 64, and both sectors hash to 3:
/// `heads = [-, -, -, 0]`, and from 0 it goes on to 1 and 2. Lists are as many as slots, or more, so that most
/// have one piece or none.
struct Index<const WHICH: usize> {
    heads: Vec<u32>,
}

impl<const WHICH: usize> Default for Index<WHICH> {
    fn default() -> Self {
        Index { heads: vec![NONE; 64] }
    }
}

impl<const WHICH: usize> Index<WHICH> {
    /// Fibonacci hashing (Knuth, TAOCP 6.4): the high bits of a product with 2^64 / golden ratio. Neighbouring
    /// sectors fall far apart.
    fn list(&self, key: Key) -> usize {
        let n = key.start.0 ^ ((key.dev as u64) << 48) ^ ((key.op as u64) << 60);
        let bits = self.heads.len().trailing_zeros();
        (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
    }

    /// Every piece of the key's list, also those of other keys.
    fn iter<'a>(&self, slots: &'a [Slot], key: Key) -> impl Iterator<Item = (u32, &'a Slot)> {
        let mut at = self.heads[self.list(key)];
        std::iter::from_fn(move || {
            let (id, slot) = (at, slots.get(at as usize)?);
            at = slot.next[WHICH];
            Some((id, slot))
        })
    }

    /// Puts a piece at the end of its list.
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

    /// The link of a list that leads to `id`, or the last one.
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

    /// Doubles the number of lists. Pieces of one key stay in their order.
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
