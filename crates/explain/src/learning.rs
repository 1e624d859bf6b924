//! Learns from the beginning of a recording, before it is read: the latencies of requests alone, which tasks of one name to distinguish, and
//! what was on its way when it began.
//!
//! A request is split by what is known at its completion. If few requests are ever alone, the first thousands would all be behind others for
//! lack of ten samples. So a recording that can be opened twice is first read until these are known, or up to 32 MiB; a pipe is split by
//! what it has shown so far.

use crate::siblings::{Apart, Siblings};
use events::Window;
use life::{Class, Flusher, IoObserver, IoTracker, Names, Request, Services, Underway};
use std::collections::BTreeMap;
use std::path::Path;
use trace::{Batch, DevId, Nanos, Part, Source, Tid, What};

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
    /// What was on its way when the recording began.
    pub underway: Vec<Underway>,
    /// The tasks named there, with their names.
    pub names: Vec<(Tid, String)>,
}

/// Listens to the requests of the beginning.
struct Listener {
    siblings: Siblings,
    /// The first flusher that sends writeback to each device, with its name.
    flushers: BTreeMap<DevId, (Tid, String)>,
    /// The task that is throttled for writing to each device, with its name; `None` if there are several.
    throttled: BTreeMap<DevId, Option<(Tid, String)>>,
}

impl IoObserver for Listener {
    fn request(&mut self, r: &Request, names: &Names) {
        self.siblings.request(r, names);
        self.flushes(r, names);
    }
}

impl Listener {
    /// Notes that a task is throttled for writing to a device.
    fn throttles(&mut self, dev: DevId, tid: Tid, names: &Names) {
        let name = names.text(names.of(tid));
        let known = self.throttled.entry(dev).or_insert_with(|| Some((tid, name.into())));
        if known.as_ref().is_some_and(|(_, known)| known != name) {
            *known = None;
        }
    }

    /// What was on its way to a device, with its flusher.
    fn with_flusher(&self, underway: Underway) -> Underway {
        let throttled = self.throttled.get(&underway.dev).and_then(|only| Some(only.as_ref()?.0));
        let flusher =
            self.flushers.get(&underway.dev).map(|(tid, _)| Flusher { tid: *tid, owner: None, throttled });
        Underway { flusher, ..underway }
    }

    /// Notes who sent a request, if that is a flusher's writeback.
    fn flushes(&mut self, r: &Request, names: &Names) {
        if r.class() == Class::Background && r.time.queued.is_some() && !self.flushers.contains_key(&r.dev) {
            let name = names.text(r.task);
            if trace::is_flusher(name) {
                self.flushers.insert(r.dev, (r.tid, name.into()));
            }
        }
    }
}

/// Learns from the recording at `place`. `again`: its events, if the recording that is open can be read twice. Returns nothing if it cannot be
/// read: that is reported when the whole is read. `processes`: pairs of a thread and its process, as far as known.
pub(crate) fn learn(
    place: &Path,
    again: Option<Box<dyn Source>>,
    window: Option<Window>,
    processes: &[(Tid, Tid)],
) -> Learned {
    let opened = || trace::open(place).ok().map(|recording| recording.source);
    let Some(source) = again.filter(|_| window.is_none()).or_else(opened) else { return Learned::default() };
    let mut source = match window {
        Some(Window { start, end }) => Box::new(Part::new(source, place, start, end)),
        None => source,
    };
    source.without_symbols();
    let (mut tracker, mut batch) = (IoTracker::default(), Batch::default());
    let mut listener = Listener {
        siblings: Siblings::new(processes),
        flushers: BTreeMap::new(),
        throttled: BTreeMap::new(),
    };
    tracker.tell_threads_apart(processes.iter().map(|(thread, _)| *thread), true);
    let (mut since, mut begun) = ([0; 2], 0);
    while source.position() < MOST && matches!(source.fill(&mut batch), Ok(true)) {
        for task in &batch.tasks {
            if let What::Born { tid, thread, .. } = task.what {
                tracker.born(task.tid, tid, thread);
                listener.siblings.born(task.tid, tid, thread);
            }
        }
        tracker.feed(&batch, &mut listener);
        for task in &batch.tasks {
            if let What::Dirtied { dev } = task.what {
                listener.throttles(dev, task.tid, tracker.names());
            }
        }
        since[0] += batch.events.len();
        since[1] += batch.tasks.len();
        if since.iter().all(|read| *read < STEP) {
            continue;
        }
        since = [0; 2];
        // As long as requests complete that were in a device from the beginning, more may come.
        let more = tracker.begun_before();
        if std::mem::replace(&mut begun, more) < more {
            continue;
        }
        let all: u64 = tracker.services().map(|(_, services)| services.requests()).sum();
        let is_beside = |s: &Services| s.requests().saturating_mul(BESIDE) < all;
        if tracker.services().all(|(_, s)| s.is_settled() || is_beside(s)) && !listener.siblings.are_there() {
            break;
        }
    }
    // If files are missing, requests that seem to be alone may have been in contention with unrecorded ones.
    if source.quality().files_missing {
        return Learned::default();
    }
    let services = tracker.services().map(|(dev, services)| (dev, services.clone())).collect();
    tracker.cut_off(Nanos(0)).iter().for_each(|r| listener.flushes(r, tracker.names()));
    let underway = tracker.underway().into_iter().map(|u| listener.with_flusher(u)).collect();
    let throttled = listener.throttled.into_values().flatten();
    let names = listener.flushers.into_values().chain(throttled).collect();
    Learned { services, apart: listener.siblings.apart(), underway, names }
}
