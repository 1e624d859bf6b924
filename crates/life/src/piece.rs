//! Pieces: extents on their way through the block layer, and the table that finds them again.
//!
//! A trace does not say which request an event belongs to; it says device, sector and length. So a piece is
//! found by (device, start, operation), and pieces with the same key stand in a chain, oldest first: two reads
//! of one sector in flight are two pieces. The key of a piece changes when it grows at its front or is completed
//! in part.

use crate::crowd::{Company, Reading};
use crate::names::TaskName;
use crate::op::Op;
use crate::timeline::Timeline;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use trace::{Bytes, Cpu, Flags, Nanos, Sector, Tid};

/// How far a piece has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// A bio, or a part of one, without a request.
    Queued,
    /// It has a request.
    Got,
    /// In the scheduler.
    Inserted,
    /// Given back by the driver.
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

/// Number of a piece in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PieceId(pub u32);

#[derive(Debug)]
pub(crate) struct Piece {
    pub dev: u32,
    pub op: Op,
    pub flags: Flags,
    pub stage: Stage,
    pub start: Sector,
    pub end: Sector,
    /// Bytes completed so far.
    pub done: Bytes,
    pub completions: u32,
    pub tid: Tid,
    pub task: TaskName,
    pub cpu: Cpu,
    pub split: bool,
    pub parts: SmallVec<[Part; 1]>,
    pub time: Timeline,
    /// When it last moved on: by this it is judged stale.
    pub touched: Nanos,
    /// The device's losses when it last moved on.
    pub losses: u64,
    /// The device's totals when it entered the stage it is in.
    pub since: Reading,
    pub company: Company,
}

impl Piece {
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

const NONE: u32 = u32::MAX;

struct Slot {
    piece: Option<Piece>,
    /// Next in the chain of the same key; next free one where there is no piece.
    next: u32,
}

/// The pieces of one key.
#[derive(Clone, Copy)]
struct Chain {
    head: u32,
    tail: u32,
    len: u32,
}

/// All pieces in flight.
#[derive(Default)]
pub(crate) struct Table {
    slots: Vec<Slot>,
    free: Vec<u32>,
    chains: FxHashMap<Key, Chain>,
    /// Requests that a bio can still join at their end, by that end. Only the latest for each end.
    ends: FxHashMap<Key, u32>,
}

impl Table {
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub fn insert(&mut self, piece: Piece) -> PieceId {
        let key = Key { dev: piece.dev, start: piece.start, op: piece.op };
        let slot = Slot { piece: Some(piece), next: NONE };
        let id = match self.free.pop() {
            Some(i) => {
                self.slots[i as usize] = slot;
                i
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        };
        self.link(key, id);
        PieceId(id)
    }

    fn link(&mut self, key: Key, id: u32) {
        let chain = self.chains.entry(key).or_insert(Chain { head: id, tail: id, len: 0 });
        if chain.len > 0 {
            self.slots[chain.tail as usize].next = id;
            chain.tail = id;
        }
        chain.len += 1;
    }

    fn unlink(&mut self, key: Key, id: u32) {
        let next = std::mem::replace(&mut self.slots[id as usize].next, NONE);
        let Some(chain) = self.chains.get_mut(&key) else { return };
        chain.len -= 1;
        if chain.len == 0 {
            self.chains.remove(&key);
            return;
        }
        if chain.head == id {
            chain.head = next;
            return;
        }
        let mut at = chain.head;
        while self.slots[at as usize].next != id {
            at = self.slots[at as usize].next;
        }
        self.slots[at as usize].next = next;
        if chain.tail == id {
            chain.tail = at;
        }
    }

    pub fn get(&self, id: PieceId) -> &Piece {
        self.slots[id.0 as usize].piece.as_ref().expect("a piece in flight")
    }

    pub fn get_mut(&mut self, id: PieceId) -> &mut Piece {
        self.slots[id.0 as usize].piece.as_mut().expect("a piece in flight")
    }

    /// Whether the number is in use.
    pub fn contains(&self, id: PieceId) -> bool {
        self.slots[id.0 as usize].piece.is_some()
    }

    fn key(&self, id: PieceId) -> Key {
        let p = self.get(id);
        Key { dev: p.dev, start: p.start, op: p.op }
    }

    pub fn remove(&mut self, id: PieceId) -> Piece {
        let key = self.key(id);
        self.unlink(key, id.0);
        self.close_end(id);
        self.free.push(id.0);
        self.slots[id.0 as usize].piece.take().expect("a piece in flight")
    }

    /// Moves a piece to another start.
    pub fn restart(&mut self, id: PieceId, start: Sector) {
        let old = self.key(id);
        self.unlink(old, id.0);
        self.get_mut(id).start = start;
        self.link(Key { start, ..old }, id.0);
    }

    /// Lets bios join at this piece's end.
    pub fn open_end(&mut self, id: PieceId) {
        let p = self.get(id);
        let key = Key { dev: p.dev, start: p.end, op: p.op };
        self.ends.insert(key, id.0);
    }

    /// No bio joins at this piece's end any more.
    pub fn close_end(&mut self, id: PieceId) {
        let p = self.get(id);
        let key = Key { dev: p.dev, start: p.end, op: p.op };
        if self.ends.get(&key) == Some(&id.0) {
            self.ends.remove(&key);
        }
    }

    /// The request that ends where `key` starts.
    pub fn ending_at(&self, key: Key) -> Option<PieceId> {
        self.ends.get(&key).map(|i| PieceId(*i))
    }

    /// The pieces of a key, oldest first.
    pub fn chain(&self, key: Key) -> impl Iterator<Item = PieceId> + '_ {
        let mut at = self.chains.get(&key).map_or(NONE, |c| c.head);
        std::iter::from_fn(move || {
            let id = (at != NONE).then_some(PieceId(at))?;
            at = self.slots[at as usize].next;
            Some(id)
        })
    }

    /// The oldest piece of a key, if the key has `limit` pieces or more.
    pub fn oldest_of_many(&self, key: Key, limit: u32) -> Option<PieceId> {
        self.chains.get(&key).filter(|c| c.len >= limit).map(|c| PieceId(c.head))
    }

    /// All pieces, in no order.
    pub fn all(&self) -> impl Iterator<Item = PieceId> + '_ {
        self.slots.iter().enumerate().filter(|(_, s)| s.piece.is_some()).map(|(i, _)| PieceId(i as u32))
    }
}
