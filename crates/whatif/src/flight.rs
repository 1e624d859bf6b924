//! Where requests and streams are in a simulation.

use crate::done::Done;
use crate::load::Item;
use crate::sched::Queued;

/// How far it is.
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
    /// Others that joined it.
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

/// What the scheduler sees of it.
pub fn queued(slot: u32, item: &Item) -> Queued {
    Queued { slot, sector: item.sector, write: item.write, sync: item.sync, priority: 1 }
}
