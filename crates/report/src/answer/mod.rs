//! The answer in words: one sentence, then one screen, or JSON.

mod json;
mod line;
mod screen;
mod words;

pub(crate) use json::to_json;
pub use line::line;
pub use screen::render;
