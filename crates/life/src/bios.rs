//! The bios in flight.

use crate::holding::Owner;
use crate::names::TaskName;
use crate::op::Op;
use crate::piece::{BioId, PieceId};
use crate::stack::Below;
use smallvec::SmallVec;
use trace::{Bytes, Flags, Nanos, Sector, Tid};

#[derive(Debug, Default)]
pub(crate) struct InFlight {
    pub dev: u32,
    pub op: Op,
    pub flags: Flags,
    pub start: Sector,
    pub end: Sector,
    pub bytes: Bytes,
    /// Bytes not yet completed.
    pub remaining: Bytes,
    pub tid: Tid,
    pub task: TaskName,
    pub owner: Option<Owner>,
    pub queued: Nanos,
    pub pieces: u32,
    /// Its pieces that have no request yet.
    pub waiting: SmallVec<[PieceId; 1]>,
    /// The bio that sent it from the device above.
    pub parent: Option<BioId>,
    /// The upper device that sent it for a bio that is not known, and its row there.
    pub orphan_of: Option<(u32, Sector)>,
    /// What it has in flight below, once it has sent something there.
    pub below: Option<Box<Below>>,
    pub by_request: bool,
    /// Of a read ahead: whether its task has come to it.
    pub awaited: bool,
}

/// A place for a bio; as with pieces, bios stay where they are made.
#[derive(Default)]
struct Slot {
    bio: InFlight,
    in_use: bool,
    generation: u32,
}

impl Slot {
    fn has(&self, id: BioId) -> bool {
        self.in_use && self.generation == id.generation
    }
}

/// Numbers for bios, used again when free.
#[derive(Default)]
pub(crate) struct Bios {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Bios {
    /// Makes a bio, to be filled in by the caller: it still is what was there before.
    pub fn insert(&mut self) -> (BioId, &mut InFlight) {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        slot.in_use = true;
        (BioId { index, generation: slot.generation }, &mut slot.bio)
    }

    pub fn get(&self, id: BioId) -> Option<&InFlight> {
        self.slots.get(id.index as usize).filter(|s| s.has(id)).map(|s| &s.bio)
    }

    pub fn get_mut(&mut self, id: BioId) -> Option<&mut InFlight> {
        self.slots.get_mut(id.index as usize).filter(|s| s.has(id)).map(|s| &mut s.bio)
    }

    /// Takes a bio out. What it was can be read until the next one is made.
    pub fn remove(&mut self, id: BioId) -> Option<&mut InFlight> {
        let slot = self.slots.get_mut(id.index as usize).filter(|s| s.has(id))?;
        slot.in_use = false;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(id.index);
        Some(&mut slot.bio)
    }

    /// How many are in flight.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Those in flight.
    pub fn all(&self) -> impl Iterator<Item = &InFlight> {
        self.slots.iter().filter(|s| s.in_use).map(|s| &s.bio)
    }

    /// Bytes of all bios in flight.
    pub fn bytes(&self) -> Bytes {
        self.all().map(|bio| bio.bytes).sum()
    }
}
