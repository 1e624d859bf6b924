//! What is learned of a recording's beginning before it is read: what requests take alone, and who of one name is told apart.
//!
//! A request is split by what is known when it is completed. Where few are ever alone, the first thousands would all be behind others
//! for want of ten samples. So a recording that can be opened twice is read up to where these are known, or so far that reading it costs
//! little; a pipe is split by what it has shown so far.

use crate::siblings::{Apart, Siblings};
use events::Window;
use life::{IoTracker, Services};
use std::path::Path;
use trace::{Batch, DevId, Part, Source, Tid, What};

/// No more than this is read beforehand, in bytes: a tenth of a second.
const MOST: u64 = 32 << 20;

/// Whether enough is known is asked after so many events of either kind.
const STEP: usize = 4096;

/// A device with fewer than one in so many of the requests is not what the recording is about.
const BESIDE: u64 = 20;

/// What was learned of a recording.
#[derive(Default)]
pub(crate) struct Learned {
    /// What requests take alone, by device.
    pub services: Vec<(DevId, Services)>,
    /// Processes and threads that are told apart from others of their name.
    pub apart: Apart,
}

/// Learns from a recording; nothing of what cannot be read, which is reported when it is read as a whole. `processes`: (thread, its
/// process), as far as they are known.
pub(crate) fn learn(place: &Path, window: Option<Window>, processes: &[(Tid, Tid)]) -> Learned {
    let Ok(recording) = trace::open(place) else { return Learned::default() };
    let mut source: Box<dyn Source> = match window {
        Some(Window { start, end }) => Box::new(Part::new(recording.source, start, end)),
        None => recording.source,
    };
    let (mut tracker, mut batch, mut siblings) =
        (IoTracker::default(), Batch::default(), Siblings::new(processes));
    tracker.tell_threads_apart(processes.iter().map(|(thread, _)| *thread), true);
    let mut since = [0; 2];
    while source.position() < MOST && matches!(source.fill(&mut batch), Ok(true)) {
        for task in &batch.tasks {
            if let What::Born { tid, thread, .. } = task.what {
                tracker.born(task.tid, tid, thread);
                siblings.born(task.tid, tid, thread);
            }
        }
        tracker.feed(&batch, &mut siblings);
        since[0] += batch.events.len();
        since[1] += batch.tasks.len();
        if since.iter().all(|read| *read < STEP) {
            continue;
        }
        since = [0; 2];
        let all: u64 = tracker.services().map(|(_, services)| services.requests()).sum();
        let is_beside = |s: &Services| s.requests().saturating_mul(BESIDE) < all;
        if tracker.services().all(|(_, s)| s.is_settled() || is_beside(s)) && !siblings.are_there() {
            break;
        }
    }
    // What seems to have been alone may have had company there.
    if source.quality().files_missing {
        return Learned::default();
    }
    let services = tracker.services().map(|(dev, services)| (dev, services.clone())).collect();
    Learned { services, apart: siblings.apart() }
}
