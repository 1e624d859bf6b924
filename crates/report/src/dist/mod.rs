//! Renders distributions by file system: bcc's histograms, percentiles, and latencies layer by layer.

mod histogram;
mod json;
mod screen;

pub use json::{json, Distributions};
pub use screen::render;
