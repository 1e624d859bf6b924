//! How bios and requests, and bios of stacked devices, hang together: for those who list every I/O.

use crate::names::TaskName;
use crate::piece::Part;
use crate::tracker::IoTracker;
use smallvec::SmallVec;
use trace::{Bytes, DevId, Nanos, Sector};

/// A bio in a request: all of it, unless it was split and went into several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Where the bio starts.
    pub start: Sector,
    /// The whole bio's length.
    pub bytes: Bytes,
    /// When the bio was queued.
    pub queued: Nanos,
    /// When it had got the request, or had joined it.
    pub joined: Option<Nanos>,
    /// Whether it joined a request of another bio.
    pub merged: bool,
    /// Whose it was.
    pub task: TaskName,
}

/// A bio of a stacked device being sent on to a device below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remapped {
    /// From this device.
    pub upper: DevId,
    /// To this one.
    pub lower: DevId,
    /// `Q2A`: the time since the upper bio was queued, if that bio is known.
    pub waited: Option<Nanos>,
    /// Whose the upper bio was.
    pub task: TaskName,
}

impl IoTracker {
    /// The bios in a request.
    pub(crate) fn shares(&self, parts: &[Part]) -> SmallVec<[Share; 4]> {
        let share = |part: &Part| {
            let bio = self.bios.get(part.bio)?;
            let Part { joined, merged, .. } = *part;
            let (start, bytes, queued, task) = (bio.start, bio.bytes, bio.queued, bio.task);
            Some(Share { start, bytes, queued, joined, merged, task })
        };
        parts.iter().filter_map(share).collect()
    }
}
