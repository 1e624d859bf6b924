//! Live recording through the kernel's tracefs; the result is a capture.
//!
//! [`record`] makes a recording according to a [`Plan`]: it needs root and tracefs, nothing else (no BPF, no compiler,
//! no debugfs). It changes nothing on the machine: it works in a tracefs instance of its own, never writes a tunable
//! (writing one freezes the queue, which is itself a stall), and leaves nothing behind, however it ends.

mod asleep;
mod clock;
mod compat;
mod counts;
mod devices;
mod drain;
mod events;
mod finish;
mod head;
mod host;
mod instance;
mod keep;
mod memory;
mod mounts;
mod own;
mod plan;
mod processes;
mod recorder;
mod report;
mod rights;
mod running;
mod samples;
mod session;
mod symbols;
mod syscalls;
mod system;
mod tasks;
mod text;
mod tracefs;

pub use capture::{At, Capture, Detail, EndedBy, Error, Result, Snapshot};
pub use devices::{Device, Devices};
pub use events::{select, DevFields, Selection};
pub use host::Host;
pub use instance::{clean, Cleaned, CpuStats, Instance};
pub use plan::{Output, Plan, Stop};
pub use recorder::{record, Recorded};
pub use report::{Progress, Report};
pub use rights::keep_few;
pub use symbols::Symbols;
pub use system::snapshot;
pub use tasks::Tasks;
pub use tracefs::Tracefs;
