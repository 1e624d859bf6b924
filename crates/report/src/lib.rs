//! An explanation as people and programs are shown it: the screen, JSON, tables, the page. Nothing here decides.

mod answer;
pub mod compare;
pub mod dist;
pub mod html;
mod json;
pub mod operations;
mod screen;
mod sent_for;
mod slow_rows;
mod slowest;
mod stacked;
mod tables;
mod texts;
mod trust;
mod without;
pub mod wrap;

pub use answer::line;
pub use json::{to_json, to_json_with_texts};
pub use screen::{render, Detail, Style};
pub use slowest::{requests, requests_json};
pub use tables::{tables, tables_json, tables_text, Kind, Selection, Table, KINDS};
pub use without::{without, without_somebody_json};
