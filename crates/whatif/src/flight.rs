//! The state of requests and streams in a simulation.

use crate::done::Done;
use crate::load::Item;
use crate::sched::Queued;

/// The current step of a request.
#[derive(Clone, Copy, Default, PartialEq)]
pub enum Step {
    #[default]
    Pre,
    Data,
    Post,
}

/// A request.
#[derive(Clone, Default)]
pub struct Flight {
    pub done: Done,
    pub item: Option<Item>,
    pub step: Step,
    /// Other requests that joined it.
    pub joined: Vec<Done>,
}

/// A stream.
#[derive(Default)]
pub struct State {
    pub next: usize,
    pub in_flight: u32,
    pub last: u64,
    pub turns: u64,
    pub blocked: bool,
    pub scheduled: bool,
}

/// The scheduler's view of a request.
pub fn queued(slot: u32, item: &Item) -> Queued {
    Queued { slot, sector: item.sector, write: item.write, sync: item.sync, priority: 1 }
}
