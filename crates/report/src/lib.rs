//! Renders an explanation: screen, JSON, tables, HTML page. Nothing here decides.

mod answer;
pub mod compare;
pub mod dist;
pub mod html;
mod json;
mod known_causes;
pub mod operations;
mod render;
#[cfg(feature = "schema")]
pub mod schema;
mod screen;
mod sent_for;
mod slow;
mod slow_rows;
mod slowest;
mod stacked;
mod style;
mod tables;
mod texts;
mod trust;
pub mod what_if;
mod why;
mod window;
mod without;
pub mod wrap;

pub use answer::line;
pub use json::{to_json, to_json_with_texts};
pub use known_causes::KnownCauses;
pub use render::render;
pub use slow::{slowest_operations, slowest_requests};
pub use slowest::requests;
pub use style::{Detail, Style};
pub use tables::{tables, tables_json, tables_text, Kind, Selection, Table, KINDS};
pub use without::{without, Victims};
