//! Renders the answers of `whatif` as text and JSON: latencies under other settings, the load, the order of requests.

mod json;
mod schedule;
mod screen;
mod suggestion;

pub use json::Supposed;
pub use schedule::schedule;
pub(crate) use screen::grouped;
pub use screen::{load, predicted, sweep};
pub use suggestion::suggested;
