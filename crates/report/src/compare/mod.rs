//! Renders a comparison as text and JSON.

mod json;
mod screen;

pub use json::{json, Comparison};
pub use screen::render;
pub(crate) use screen::worth;
