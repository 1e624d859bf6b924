//! Turns an input into an [`Explanation`]: opens it once, reads it, runs the analysis and judges the causes.
//!
//! ```text
//! Input::open(paths)?.window(w).explain()?  ->  Explanation
//! ```
//!
//! [`Input`] accepts recordings and texts of other tools, from files, folders or standard input. Every view draws an
//! [`Explanation`], or a [`Comparison`] of two. This crate draws nothing: it writes to the terminal only the progress of
//! reading an input and the note that it was interrupted.

pub mod answer;
mod arrivals;
mod beginning;
pub mod blame;
pub mod compare;
mod contradictions;
mod counting;
pub mod device_mapper;
pub mod dist;
mod error;
mod explanation;
pub mod findings;
pub mod gathered;
mod input;
mod interrupt;
mod known;
mod lack;
mod learning;
pub mod names;
pub mod numbers;
pub mod pictured;
mod places;
mod predictions;
mod progress;
mod reading;
mod roles;
mod scope;
mod sent_below;
mod siblings;
mod slowest;
mod slowest_operations;
mod slowest_requests;
mod stream;
mod subject;
pub mod texts;
mod trust;
pub mod where_time;
mod which;

pub use answer::Answer;
pub use arrivals::{Arrivals, Asked};
pub use blame::Blame;
pub use compare::Comparison;
pub use contradictions::{contradictions, Contradiction};
pub use error::Error;
pub use explanation::{latency, Explanation};
pub use input::Input;
pub use interrupt::Interrupt;
pub use known::known;
pub use lack::Lack;
pub use operation::{Asking, By, Scope};
pub use places::{began, Places};
pub use predictions::{predict, Prediction};
pub use progress::Fitting;
pub use scope::{check, device_name};
pub use sent_below::Sent;
pub use slowest_operations::{Choice, SlowestOperations};
pub use slowest_requests::{SlowRequest, SlowestRequests};
pub use subject::Subject;
pub use texts::Texts;
pub use trust::Trust;
