//! The lab: slow I/O whose cause is known, because the lab made it.
//!
//! A [`Scenario`] is a short file: a disk, a load, the one cause that makes it slow, and a twin without that cause.
//! [`bench::run`] makes it on this machine, [`machine::Machine`] in a virtual one, and records it; [`keep`] keeps the recording small; [`judge`] asks
//! `iowhy explain` and compares with the truth; [`table`] writes the outcome down.
//!
//! Invariant: nothing of a scenario's truth is in its recording. `iowhy` sees what any user would give it.

pub mod apps;
pub mod bench;
mod checkup;
mod folder;
mod guest;
mod judge;
mod keep;
mod kernels;
pub mod machine;
mod outcome;
mod remedy;
mod scenario;
mod shrink;
mod table;

pub use checkup::checkup;
pub use folder::kept;
pub use judge::{judge, Judged, Said};
pub use keep::keep;
pub use kernels::kernels;
pub use outcome::Outcome;
pub use remedy::{pick, proof_of, Proof};
pub use scenario::{all, Half, Remedy, Role, Scenario, Setting};
pub use shrink::shrink;
pub use table::table;
