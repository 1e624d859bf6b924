//! Texts of other tools, drawn: their runs side by side, what differs between these, the causes that counters show.

mod brief;
mod json;
mod screen;
mod table;

pub(crate) use brief::render as render_brief;
pub(crate) use json::explained;
pub(crate) use screen::{beside, render};
