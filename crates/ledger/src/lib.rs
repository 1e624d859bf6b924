//! Where the time of an operation went, to the nanosecond.
//!
//! A [`Ledger`] splits one operation's time into [`Segment`]s that touch and sum to it exactly; a [`RollUp`] adds
//! up many. What cannot be explained has a reason of its own, `unexplained`.

mod ledger;
mod reason;
mod rollup;

pub use ledger::{Ledger, Segment};
pub use reason::Reason;
pub use rollup::RollUp;
