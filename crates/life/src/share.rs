//! How bios, requests and bios of stacked devices relate, for observers that list every I/O.

use crate::bios::Bios;
use crate::piece::Part;
use crate::task_name::TaskName;
use smallvec::SmallVec;
use trace::{Bytes, DevId, Nanos, Sector};

/// A bio in a request: all of it, unless the bio was split over several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// First sector of the bio.
    pub start: Sector,
    /// Length of the whole bio.
    pub bytes: Bytes,
    /// When the bio was queued.
    pub queued: Nanos,
    /// When it got the request or joined it.
    pub joined: Option<Nanos>,
    /// Whether it was merged into a request of another bio.
    pub merged: bool,
    /// Task that queued the bio.
    pub task: TaskName,
}

/// A bio of a stacked device being sent on to a device below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remapped {
    /// The stacked device.
    pub upper: DevId,
    /// The device that the bio is sent to.
    pub lower: DevId,
    /// `Q2A`: time since the upper bio was queued; `None` if that bio is not known.
    pub waited: Option<Nanos>,
    /// Task that queued the upper bio.
    pub task: TaskName,
}

impl Bios {
    /// The bios in a request.
    pub fn shares(&self, parts: &[Part]) -> SmallVec<[Share; 4]> {
        let share = |part: &Part| {
            let bio = self.get(part.bio)?;
            let Part { joined, merged, .. } = *part;
            let (start, bytes, queued, task) = (bio.start, bio.bytes, bio.queued, bio.task);
            Some(Share { start, bytes, queued, joined, merged, task })
        };
        parts.iter().filter_map(share).collect()
    }
}
