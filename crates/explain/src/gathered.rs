//! Collects the events of some requests in a second reading of a recording.

use life::{has_extent, IoObserver, IoTracker, Op, Request};
use trace::{Action, Batch, Event, Nanos, Sector, Tid};

/// A request and its events.
pub struct Gathered {
    /// The request.
    pub request: Request,
    /// Its events, each with the name of its task at that time.
    pub events: Vec<(Event, String)>,
    /// Number of further events that were not kept.
    pub left_out: u64,
}

/// Collects the events of several requests from batches.
#[derive(Default)]
pub struct Gathering {
    /// One entry per request, in the order in which the requests were given.
    pub all: Vec<Gathered>,
    most: usize,
    tracker: IoTracker,
}

/// An observer that ignores everything: only the names of tasks are needed.
pub struct Nobody;
impl IoObserver for Nobody {}

impl Gathering {
    /// Starts without events; keeps at most `most` events of each request.
    pub fn of(requests: impl Iterator<Item = Request>, most: usize) -> Gathering {
        let gathered = |request| Gathered { request, events: vec![], left_out: 0 };
        Gathering { all: requests.map(gathered).collect(), most, tracker: IoTracker::default() }
    }

    /// Processes a batch of the second reading.
    pub fn feed(&mut self, batch: &Batch) {
        let (first, last) = span(batch);
        let during = |r: &Request| r.time.start() <= last && first <= r.time.completed;
        let mut near: Vec<_> = self.all.iter_mut().filter(|g| during(&g.request)).collect();
        for event in &batch.events {
            if event.action == Action::TaskName {
                self.tracker.step(event, batch, &mut Nobody);
            }
            if near.is_empty() || !has_extent(event.action) {
                continue;
            }
            for gathered in near.iter_mut().filter(|g| belongs(event, &g.request)) {
                if gathered.events.len() < self.most {
                    let names = self.tracker.names();
                    gathered.events.push((*event, names.text(names.of(event.tid)).to_string()));
                } else {
                    gathered.left_out += 1;
                }
            }
        }
    }
}

/// The first and last time in a batch. Requests that ended before or begin after need not be compared with its events.
pub fn span(batch: &Batch) -> (Nanos, Nanos) {
    let (mut first, mut last) = (Nanos(u64::MAX), Nanos(0));
    let mut see = |t: Nanos| (first, last) = (first.min(t), last.max(t));
    batch.events.iter().for_each(|e| see(e.time));
    batch.tasks.iter().for_each(|t| see(t.time));
    (first, last)
}

/// Whether an event belongs to a request: same device, within its time, same sectors. A flush has no sectors: its own issue and
/// completion belong to it.
pub fn belongs(e: &Event, r: &Request) -> bool {
    if e.dev != r.dev || e.time < r.time.start() || e.time > r.time.completed {
        return false;
    }
    let op = Op::of(e);
    if r.op == Op::Flush {
        return op == Op::Flush && (e.time == r.time.start() || e.time == r.time.completed);
    }
    if op == Op::Flush {
        let flush = [r.time.preflush, r.time.postflush];
        return flush.iter().flatten().any(|f| e.time == f.issued || e.time == f.completed);
    }
    let end = r.start.after(r.bytes);
    let event_end = e.sector.after(e.bytes).max(Sector(e.sector.0.saturating_add(1)));
    op == r.op
        && e.sector < end.max(Sector(r.start.0.saturating_add(1)))
        && event_end > r.start
        && same_task(e, r.tid)
}

/// Before the issue, another task's I/O on the same sectors does not belong to the request. From the issue on, the event has the task
/// that happened to run.
fn same_task(e: &Event, tid: Tid) -> bool {
    !matches!(e.action, Action::Queue | Action::Get | Action::Split) || e.tid == tid
}
