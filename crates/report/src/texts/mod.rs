//! Renders the output of other tools: runs side by side, their differences, and the causes that counters show.

mod brief;
mod json;
mod order;
mod screen;
mod table;

pub(crate) use brief::render as render_brief;
pub(crate) use json::explained;
pub(crate) use screen::{beside, render};
