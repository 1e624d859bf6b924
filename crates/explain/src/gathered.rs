//! The events of some requests, gathered in a second reading.

use life::{has_extent, IoObserver, IoTracker, Op, Request};
use trace::{Action, Batch, Event, Nanos, Sector, Tid};

/// The events of one request.
pub struct Gathered {
    /// Whose they are.
    pub request: Request,
    /// Events, each with what its task was called.
    pub events: Vec<(Event, String)>,
    /// How many more there were.
    pub left_out: u64,
}

/// What is gathered; a reading feeds it.
#[derive(Default)]
pub struct Gathering {
    /// One for each request, in the order in which they were given.
    pub all: Vec<Gathered>,
    most: usize,
    tracker: IoTracker,
}

/// The names of tasks are followed, lives are not.
pub struct Nobody;
impl IoObserver for Nobody {}

impl Gathering {
    /// At most `most` events of each request.
    pub fn of(requests: impl Iterator<Item = Request>, most: usize) -> Gathering {
        let gathered = |request| Gathered { request, events: vec![], left_out: 0 };
        Gathering { all: requests.map(gathered).collect(), most, tracker: IoTracker::default() }
    }

    /// Takes in a batch of the second reading.
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

/// The first and last time in a batch: what is over before or begins after need not be compared with each of
/// its events.
pub fn span(batch: &Batch) -> (Nanos, Nanos) {
    let (mut first, mut last) = (Nanos(u64::MAX), Nanos(0));
    let mut see = |t: Nanos| (first, last) = (first.min(t), last.max(t));
    batch.events.iter().for_each(|e| see(e.time));
    batch.tasks.iter().for_each(|t| see(t.time));
    (first, last)
}

/// Whether an event is a step in the life of a request: on its device, within its time, on its sectors. A
/// flush has no sectors; its own issue and completion are shown.
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

/// Another task's I/O on the same sectors before the request was issued is not this one's; from the issue on
/// the task is the one that ran.
fn same_task(e: &Event, tid: Tid) -> bool {
    !matches!(e.action, Action::Queue | Action::Get | Action::Split) || e.tid == tid
}
