//! Compares two recordings, or two runs in texts: is it better or worse?
//!
//! Differences of settings and load come first: they tell whether the rest compares like with like. Then each percentile with its ratio
//! and, where latencies were recorded one by one, the 95 % range of the ratio ([`stats::Estimate`]). A ratio whose range contains 1 is
//! *no difference shown*, never "the same". Summaries, such as fio's output, have no range, and a note says so.

mod blamed;
mod comparison;
mod condition;
mod kinds;
mod metrics;
mod mixed;
mod moved;
mod outcome;
mod pair;
mod recordings;
#[cfg(test)]
mod tests;
mod texts;
mod verdict;

pub use blamed::Blamed;
pub use comparison::{Comparison, Difference, Metric, Ranges, Row, Tails};
pub use condition::{Condition, Tested, Untried};
pub use mixed::First;
pub use moved::Moved;
pub use outcome::Outcome;
pub use texts::{choose, RunOf};
pub use verdict::{span, times};
