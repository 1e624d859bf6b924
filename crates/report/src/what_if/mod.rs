//! `whatif`: latencies under other settings, the load that was found, the order of requests; as text and as JSON.

mod json;
mod schedule;
mod screen;
mod suggestion;

pub use json::Supposed;
pub use schedule::schedule;
pub use screen::{load, predicted, sweep};
pub use suggestion::suggested;
