//! Accounts for the time of an operation, to the nanosecond.
//!
//! A [`Ledger`] splits one operation's time into [`Segment`]s that touch and sum to it exactly; a [`RollUp`] adds
//! up many ledgers. Time that cannot be explained has its own reason, `unexplained`.

mod ledger;
mod reason;
mod rollup;

pub use ledger::{Ledger, Segment};
pub use reason::Reason;
pub use rollup::RollUp;
