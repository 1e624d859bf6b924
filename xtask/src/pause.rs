//! The pause between rounds of a recording that is repeated.

/// Time between the end of one round and the start of the next: what is in flight at an end is over, and the
/// rounds can be told apart.
pub const PAUSE_NS: u64 = 1_000_000;
