//! The slowest requests, event by event, from a second reading.

use crate::slowest::belongs;
use life::{has_extent, Class, Lives, Request, Sink};
use stats::{Pictures, SlowRequest};
use trace::{Action, Batch, Event};

/// Requests of each class that are told so.
const OF_A_CLASS: usize = 12;
/// Events of one request; one of 256 merged bios has 770.
const MOST_EVENTS: usize = 40;

/// The events of some requests.
#[derive(Default)]
pub struct Events {
    all: Vec<Gathered>,
    lives: Lives,
}

/// The events of one request.
pub struct Gathered {
    slow: SlowRequest,
    request: Request,
    /// Events, each with what its task was called.
    pub shown: Vec<(Event, String)>,
    /// How many more there were.
    pub left_out: u64,
}

struct Nobody;
impl Sink for Nobody {}

impl Events {
    /// Of the slowest of each class; nothing gathered yet.
    pub fn of_slowest(pictures: &Pictures) -> Events {
        let gathered = |slow: &SlowRequest| {
            let SlowRequest { dev, op, start, bytes, tid, time, .. } = *slow;
            let request = Request { dev, op, start, bytes, tid, time, ..Request::default() };
            Gathered { slow: slow.clone(), request, shown: vec![], left_out: 0 }
        };
        let slowest = Class::ALL.into_iter().flat_map(|c| pictures.slowest(c).iter().take(OF_A_CLASS));
        Events { all: slowest.map(gathered).collect(), lives: Lives::default() }
    }

    /// Takes in a batch of the second reading.
    pub fn gather(&mut self, batch: &Batch) {
        for event in &batch.events {
            if event.action == Action::TaskName {
                self.lives.step(event, batch, &mut Nobody);
            }
            if !has_extent(event.action) {
                continue;
            }
            for slow in self.all.iter_mut().filter(|slow| belongs(event, &slow.request)) {
                if slow.shown.len() < MOST_EVENTS {
                    let names = self.lives.names();
                    slow.shown.push((*event, names.text(names.of(event.tid)).to_string()));
                } else {
                    slow.left_out += 1;
                }
            }
        }
    }

    /// The events of a request, if it is one of them.
    pub fn of(&self, slow: &SlowRequest) -> Option<&Gathered> {
        self.all.iter().find(|g| g.slow == *slow && !g.shown.is_empty())
    }
}
