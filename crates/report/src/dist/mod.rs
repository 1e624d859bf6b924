//! Distributions by file system, drawn: bcc's histograms, percentiles, and the same a layer below and two below.

mod histogram;
mod json;
mod screen;

pub use json::{json, Distributions};
pub use screen::render;
