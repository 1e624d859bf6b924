//! The table of bios in flight.

use crate::bio_id::BioId;
use crate::op::Op;
use crate::owner::Owner;
use crate::piece::PieceId;
use crate::stack::Below;
use crate::task_name::TaskName;
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
    /// The bio on the device above that sent it.
    pub parent: Option<BioId>,
    /// The upper device and row, if its parent was not known when it was queued.
    pub orphan_of: Option<(u32, Sector)>,
    /// What it has in flight below; `None` until it sends something there.
    pub below: Option<Box<Below>>,
    pub by_request: bool,
    /// For a read-ahead: whether its task has reached the data.
    pub awaited: bool,
}

/// Storage for a bio. Bios are overwritten in place, like pieces.
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

/// Bios by index; indexes are reused.
#[derive(Default)]
pub(crate) struct Bios {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Bios {
    /// Adds a bio. The caller fills it in: the fields still hold the values of an earlier bio.
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

    /// Removes a bio. Its contents can be read until the next `insert`.
    pub fn remove(&mut self, id: BioId) -> Option<&mut InFlight> {
        let slot = self.slots.get_mut(id.index as usize).filter(|s| s.has(id))?;
        slot.in_use = false;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(id.index);
        Some(&mut slot.bio)
    }

    /// Number of bios in flight.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// All bios in flight.
    pub fn all(&self) -> impl Iterator<Item = &InFlight> {
        self.slots.iter().filter(|s| s.in_use).map(|s| &s.bio)
    }

    /// Bytes of all bios in flight.
    pub fn bytes(&self) -> Bytes {
        self.all().map(|bio| bio.bytes).sum()
    }
}
