//! Learns from the beginning of a recording, before it is read: the latencies of requests alone, and which tasks of one name to distinguish.
//!
//! A request is split by what is known at its completion. If few requests are ever alone, the first thousands would all be behind others for
//! lack of ten samples. So a recording that can be opened twice is first read until these are known, or up to 32 MiB; a pipe is split by
//! what it has shown so far.

use crate::siblings::{Apart, Siblings};
use events::Window;
use life::{IoTracker, Services};
use std::path::Path;
use trace::{Batch, DevId, Part, Source, Tid, What};

/// Maximal number of bytes that are read beforehand: about 0.1 s.
const MOST: u64 = 32 << 20;

/// Number of block events or task events between two checks of whether enough is known.
const STEP: usize = 4096;

/// A device with less than 1/20 of the requests is not what the recording is about.
const BESIDE: u64 = 20;

/// What was learned from a recording.
#[derive(Default)]
pub(crate) struct Learned {
    /// Latencies of requests alone, by device.
    pub services: Vec<(DevId, Services)>,
    /// Processes and threads to distinguish from others of the same name.
    pub apart: Apart,
}

/// Learns from the recording at `place`. Returns nothing if it cannot be read: that is reported when the whole is read. `processes`: pairs of
/// a thread and its process, as far as known.
pub(crate) fn learn(place: &Path, window: Option<Window>, processes: &[(Tid, Tid)]) -> Learned {
    let Ok(recording) = trace::open(place) else { return Learned::default() };
    let mut source: Box<dyn Source> = match window {
        Some(Window { start, end }) => Box::new(Part::new(recording.source, place, start, end)),
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
    // If files are missing, requests that seem to be alone may have been in contention with unrecorded ones.
    if source.quality().files_missing {
        return Learned::default();
    }
    let services = tracker.services().map(|(dev, services)| (dev, services.clone())).collect();
    Learned { services, apart: siblings.apart() }
}
