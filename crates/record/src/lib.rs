//! Live recording through the kernel's tracefs, and the capture that it leaves.
//!
//! [`record`] makes a recording by a [`Plan`]: it needs root and tracefs, nothing else (no BPF, no compiler,
//! no debugfs). It harms nothing: everything happens in a tracefs instance of its own, no tunable is ever
//! written (writing one freezes the queue, which is itself a stall), and nothing of it survives, however it ends.

mod clock;
mod compat;
mod counts;
mod datfile;
mod devices;
mod drain;
mod error;
mod events;
mod finish;
mod instance;
mod keep;
mod memory;
mod mounts;
mod own;
mod pack;
mod plan;
mod processes;
mod recorder;
mod redact;
mod running;
mod samples;
mod session;
mod stream;
mod symbols;
mod syscalls;
mod system;
mod tasks;
mod text;
mod tracefs;
mod unpack;

pub use capture::{Capture, Detail, EndedBy, Snapshot};
pub use datfile::{Head, Pages, Region};
pub use devices::{Device, Devices};
pub use error::{At, Error, Result};
pub use events::{select, DevFields, Selection};
pub use instance::{clean, Cleaned, CpuStats, Instance};
pub use pack::{open_packed, pack, Packed};
pub use plan::{Output, Plan, Stop};
pub use recorder::{record, Host, Progress, Recorded, Report};
pub use redact::redact;
pub use stream::{Parts, Stream};
pub use symbols::Symbols;
pub use system::snapshot;
pub use tasks::Tasks;
pub use tracefs::Tracefs;
pub use unpack::{assemble, looks_like_tar, unpack, Unpacked};
