//! The bios in flight.

use crate::names::TaskName;
use crate::op::Op;
use crate::piece::{BioId, PieceId};
use crate::stack::Below;
use smallvec::SmallVec;
use trace::{Bytes, Flags, Nanos, Sector, Tid};

#[derive(Debug)]
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
    pub queued: Nanos,
    pub pieces: u32,
    /// Its pieces that have no request yet.
    pub waiting: SmallVec<[PieceId; 1]>,
    /// The bio that sent it from the device above.
    pub parent: Option<BioId>,
    /// What it has in flight below, once it has sent something there.
    pub below: Option<Box<Below>>,
    pub by_request: bool,
}

struct Slot {
    bio: Option<InFlight>,
    generation: u32,
}

/// Numbers for bios, used again when free.
#[derive(Default)]
pub(crate) struct Bios {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Bios {
    pub fn insert(&mut self, bio: InFlight) -> BioId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { bio: None, generation: 0 });
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        slot.bio = Some(bio);
        BioId { index, generation: slot.generation }
    }

    pub fn get(&self, id: BioId) -> Option<&InFlight> {
        self.slots.get(id.index as usize).filter(|s| s.generation == id.generation)?.bio.as_ref()
    }

    pub fn get_mut(&mut self, id: BioId) -> Option<&mut InFlight> {
        self.slots.get_mut(id.index as usize).filter(|s| s.generation == id.generation)?.bio.as_mut()
    }

    pub fn remove(&mut self, id: BioId) -> Option<InFlight> {
        let slot = self.slots.get_mut(id.index as usize).filter(|s| s.generation == id.generation)?;
        let bio = slot.bio.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(id.index);
        Some(bio)
    }

    /// How many are in flight.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Bytes of all bios in flight.
    pub fn bytes(&self) -> Bytes {
        self.slots.iter().filter_map(|s| s.bio.as_ref()).map(|b| b.bytes).sum()
    }
}
