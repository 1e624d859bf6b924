//! What people and programs are shown: the screen of `explain`, JSON, tables, exports.

mod compare;
pub mod dist;
mod explanation;
pub mod findings;
mod gathered;
pub mod html;
mod in_driver;
mod json;
mod known;
pub mod operations;
pub mod pictured;
mod screen;
mod sent_for;
mod slow_rows;
mod slowest;
mod tables;
mod told;
pub mod where_time;
pub mod wrap;

pub use compare::{
    choose, Comparison, Condition, Difference, First, Metric, Outcome, Ranges, Row, RunOf, Tails,
};
pub use explanation::{Explanation, Subject, Trust};
pub use json::to_json;
pub use known::known;
pub use screen::{render, Style};
pub use slowest::{Slowest, Wanted};
pub use tables::{tables, tables_json, tables_text, Kind, Selection, Table, KINDS};
pub use told::Told;
