//! Away from home: real applications under conditions drawn at random, with a truth that no opinion made.
//!
//! A [`condition::Condition`] is drawn from a seed and the catalogue (lab/apps/catalogue.toml), and written down. [`rig::Rig`] runs it on a slow
//! disk and records it; then it is run again, the same work, with one thing taken away each time. [`truth`] says what helped, as the
//! application reports it; [`score`] compares what iowhy answers.
//!
//! Invariant: a condition, and which causes stand for what is taken away, are written before anything is recorded.

mod apart;
mod away;
mod catalogue;
mod chance;
mod condition;
mod helped;
mod in_guest;
mod kept;
mod rig;
mod score;
mod truth;
mod without;

pub use away::draw;
pub use catalogue::folder;
pub use kept::keep;
pub use rig::Rig;
pub use score::judge;
pub use without::{compare as without, What};
