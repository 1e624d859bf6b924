//! A completed bio: what was asked of the block layer, and what it waited for.

use crate::contention::Contention;
use crate::holding::Owner;
use crate::names::TaskName;
use crate::op::{Class, Op};
use crate::stack::Lower;
use crate::timeline::Timeline;
use serde::Serialize;
use trace::{Bytes, DevId, Flags, Sector, Tid};

/// A completed bio.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bio {
    /// The device.
    pub dev: DevId,
    /// The operation.
    pub op: Op,
    /// What kind.
    #[serde(skip)]
    pub flags: Flags,
    /// Where it started.
    pub start: Sector,
    /// How much it asked for.
    pub bytes: Bytes,
    /// Who queued it.
    pub tid: Tid,
    /// What that task was called then.
    #[serde(skip)]
    pub task: TaskName,
    /// Whose data it is, if it was sent for another task.
    #[serde(skip)]
    pub owner: Option<Owner>,
    /// Into how many pieces it was cut; 1: it was not.
    pub pieces: u32,
    /// Whether its last piece was merged into a request of another bio.
    pub merged: bool,
    /// Whether it went through as one request that carried nothing else.
    pub is_request: bool,
    /// Steps of the piece that was completed last, beginning with the bio's own `Q`: what the bio waited for.
    pub time: Timeline,
    /// Whether requests served it here; if not, the device is bio-based (md, dm) and `lower` tells.
    pub by_request: bool,
    /// What it had in flight on the devices below, if it sent anything there and that was recorded.
    pub lower: Option<Lower>,
    /// Who else was there, from the request that served its last piece.
    #[serde(skip)]
    pub contention: Contention,
    /// Its number; no other bio of the recording has it.
    #[serde(skip)]
    pub number: BioNumber,
    /// The bio that sent it, where that is one of a stacked device that is recorded as well.
    #[serde(skip)]
    pub parent: Option<BioNumber>,
    /// Whether a stacked device sent it of which it was not known, when it was over, for which of its bios:
    /// [`IoObserver::adopted`](crate::IoObserver::adopted) may tell later.
    #[serde(skip)]
    pub orphan: bool,
    /// Of a read ahead: whether its task waited for it, as far as what it sent next shows.
    pub awaited: bool,
}

/// Tells the bios of a recording apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BioNumber(pub u64);

impl Bio {
    /// The class it competes in.
    pub fn class(&self) -> Class {
        Class::of(self.op, self.flags)
    }

    /// Whether it was sent by a stacked device that is recorded as well.
    pub fn is_child(&self) -> bool {
        self.parent.is_some() || self.orphan
    }
}
