//! The slowest operations: where every nanosecond of each went, as a tree.
//!
//! ```text
//! Kept (an account)  ->  branch  ->  fold  ->  line  ->  screen
//!                        a tree     shorter    words     or JSON
//! ```

mod branch;
mod events;
mod fold;
mod json;
mod line;
mod names;
mod screen;
mod shares;
mod slowest;
mod words;

pub use events::Events;
pub use json::json;
pub use names::{all_names, no_operation_is_called};
pub use screen::render;
pub use slowest::{Choice, SlowestOperations};
pub use words::{commit, Places};

#[cfg(test)]
mod tests;

use trace::{Batch, Nanos};

/// When a recording began, from its first batch: at its first event that is no note.
pub fn began(batch: &Batch) -> Option<Nanos> {
    let block = batch.events.iter().find(|e| !e.action.is_note()).map(|e| e.time);
    let text = |e: &&trace::TaskEvent| matches!(e.what, trace::What::Text { .. });
    let task = batch.tasks.iter().find(|e| !text(e)).map(|e| e.time);
    block.into_iter().chain(task).min()
}
