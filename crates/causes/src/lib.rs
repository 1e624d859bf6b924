//! Why I/O was slow: one file per cause, each with what proves it, what refutes it and what to do.
//!
//! [`judge`] asks all causes in order, the specific ones first. Each claims rows of the tail's time; claimed time is
//! not available to later causes, so shares never exceed the whole.

mod behind;
mod block;
mod by_number;
mod case;
mod catalogue;
mod cause;
mod claimable;
mod counters;
mod cpu;
mod damage;
mod device;
mod driver;
mod growth;
mod hardware;
mod interfering;
mod io_max;
mod journal;
mod limit;
mod measure;
mod memory;
#[cfg(test)]
mod op_builder;
mod paths;
mod proof;
mod raid;
mod remedy;
mod risk;
mod scheduler;
mod shares;
mod significance;
mod slow;
mod target;
mod tested;
#[cfg(test)]
mod tests;
mod thresholds;
#[cfg(test)]
mod trace_builder;
mod unit;
mod verdict;

pub use case::{Case, KEPT_WAITING, MIN_SAMPLES, MIN_SHARE, NOT_SLOW};
pub use catalogue::{all, all_pages, is_in_recordings, nature, pages, title_by_counters};
pub use cause::{Cause, Nature};
pub use counters::judge_counters;
pub use damage::{Damage, DAMAGED, TOO_DAMAGED};
pub use device::alone::flash_takes;
pub use driver::judge;
pub use proof::{Proof, Quantity};
pub use remedy::{Action, Acts, Gain, Remedy};
pub use risk::Risk;
pub use slow::Slow;
pub use tested::{tested, Tested};
pub use thresholds::{WBT_DISK, WBT_FLASH};
pub use trace::works_for_others;
pub use verdict::{Answer, Claim, Confidence, Verdict};

/// The cause that takes no time of any operation: waits for a processor between operations.
pub const OUTSIDE_IO: &str = cpu::outside_io::CAUSE.name;
