//! A completed bio: what was asked of the block layer, and what it waited for.

use crate::bio_id::BioNumber;
use crate::contention::Contention;
use crate::op::{Class, Op};
use crate::owner::Owner;
use crate::stack::Lower;
use crate::task_name::TaskName;
use crate::timeline::Timeline;
use serde::Serialize;
use trace::{Bytes, DevId, Flags, Sector, Tid};

/// A completed bio, with the time it waited for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bio {
    /// Device that it was queued on.
    pub dev: DevId,
    /// Read, write, flush and so on.
    pub op: Op,
    /// Its kind flags ([`crate::KIND`]): sync, read-ahead, metadata and so on.
    #[serde(skip)]
    pub flags: Flags,
    /// First sector.
    pub start: Sector,
    /// Length.
    pub bytes: Bytes,
    /// Task that queued it.
    pub tid: Tid,
    /// Name of that task at that time.
    #[serde(skip)]
    pub task: TaskName,
    /// Owner of the data, if another task sent it.
    #[serde(skip)]
    pub owner: Option<Owner>,
    /// Number of pieces it was split into; 1 if it was not split.
    pub pieces: u32,
    /// Whether its last piece was merged into a request of another bio.
    pub merged: bool,
    /// Whether one request served it whole and carried nothing else.
    pub is_request: bool,
    /// Timestamps of its last completed piece, with the bio's own `Q`: what the bio waited for.
    pub time: Timeline,
    /// Whether requests served it on this device. If not, the device is bio-based (md, dm); see `lower`.
    pub by_request: bool,
    /// What it had in flight on the devices below, if it sent anything there that was recorded.
    pub lower: Option<Lower>,
    /// Contention seen by the request that served its last piece.
    #[serde(skip)]
    pub contention: Contention,
    /// Its number, unique in the recording.
    #[serde(skip)]
    pub number: BioNumber,
    /// The bio that sent it, if that is a recorded bio of a stacked device.
    #[serde(skip)]
    pub parent: Option<BioNumber>,
    /// Whether a stacked device sent it and its parent was not known when it was completed.
    /// [`IoObserver::adopted`](crate::IoObserver::adopted) may give the parent later.
    #[serde(skip)]
    pub orphan: bool,
    /// For a read-ahead: whether its task waited for it, judged by what the task sent next.
    pub awaited: bool,
}

impl Bio {
    /// The class by which contention is counted.
    pub fn class(&self) -> Class {
        Class::of(self.op, self.flags)
    }

    /// Whether a recorded stacked device sent it.
    pub fn is_child(&self) -> bool {
        self.parent.is_some() || self.orphan
    }
}
