//! What people and programs are shown: the screen of `explain`, JSON, tables, exports.

mod below;
mod btt;
mod compare;
pub mod dist;
pub mod events;
mod explanation;
pub mod html;
mod json;
pub mod operations;
mod screen;
mod slowest;
mod tables;
mod told;
mod where_time;

pub use below::below;
pub use btt::{BttExport, BttOptions};
pub use compare::{choose, Comparison, Condition, Difference, Metric, Outcome, Ranges, Row, RunOf, Tails};
pub use explanation::{Explanation, Subject, Trust};
pub use json::to_json;
pub use screen::{render, Style};
pub use slowest::{Slowest, Wanted};
pub use tables::{tables, tables_json, tables_text, Kind, Selection, Table, KINDS};
pub use told::Told;
