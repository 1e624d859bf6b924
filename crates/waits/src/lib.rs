//! The table of waits: who waited, for what, because of whom.
//!
//! Each operation's account is added to one [`Table`] when the operation ends, as rows of victim, chain of waits, culprit and latency
//! bucket. All judgements and pictures query this table.
//!
//! Invariant: the rows of a victim and bucket sum to the time of its operations in that bucket, to the nanosecond.

mod balance;
mod bio_parts;
mod bios;
mod bounds;
mod bucket;
mod chain;
mod culprit;
mod links;
mod operations;
mod overflow;
mod parts;
mod phase;
mod prediction;
mod question;
mod seconds;
mod sums;
mod table;
mod victim;
mod who;
mod without;

pub use bio_parts::BioParts;
pub use bios::Bios;
pub use bounds::Bounds;
pub use bucket::Bucket;
pub use chain::{Chain, ChainId, FunctionId, Link};
pub use culprit::{Culprit, CulpritId, CulpritKind};
pub use operations::Accounts;
pub use phase::Phase;
pub use prediction::{Prediction, Way};
pub use question::{culprit_words, Row, Selection};
pub use seconds::{Second, Seconds};
pub use sums::{Cell, Cut, Sums};
pub use table::{Part, Table, Waiting};
pub use victim::{Asked, Victim, VictimId};
pub use without::{Absent, AbsentId, Those, Without};
