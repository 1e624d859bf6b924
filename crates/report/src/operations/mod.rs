//! Shows the slowest operations: an account of every nanosecond, as a tree.
//!
//! ```text
//! SampledOperation (an account)  ->  branch  ->  fold  ->  line  ->  screen
//!                        a tree     shorter    words     or JSON
//! ```

mod branch;
mod events;
mod fold;
mod json;
mod line;
mod screen;
mod shares;
mod words;

pub use events::{Events, Gathered};
pub(crate) use json::{told, Operation, OperationSummary};
pub use screen::render;

#[cfg(test)]
mod tests;
