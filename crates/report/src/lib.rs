//! What people and programs are shown: the screen of `explain`, JSON, tables, exports.

pub mod events;
mod explanation;
mod json;
mod screen;
mod slowest;

pub use explanation::{Explanation, Subject, Trust};
pub use json::to_json;
pub use screen::{render, Style};
pub use slowest::{Slowest, Wanted};
