//! The answer in words: one sentence, then one screen, or JSON.

mod arrays;
mod blocks;
mod gain;
mod healthy;
mod json;
mod line;
mod namesakes;
mod predicted;
mod screen;
mod waited;
pub(crate) mod words;

pub(crate) use arrays::also;
pub(crate) use blocks::{Blocks, INDENT, LINES};
pub(crate) use gain::with_gain;
pub(crate) use json::{to_json, Answered};
pub(crate) use line::explains;
pub use line::line;
pub(crate) use predicted::{without as without_json, Absence};
pub use screen::render;
pub(crate) use waited::{by_culprit_and_cause, others_in_words};
pub(crate) use words::{confidence, device, operations};
