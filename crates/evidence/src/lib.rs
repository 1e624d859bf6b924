//! What the system itself says about a recording: the evidence that no event carries.
//!
//! [`System`] is the settings that the recorded machine had: queues, md arrays, mounts, memory. It is read from
//! whatever text lies beside a trace ([`System::read`]), in the shapes people save by hand: `cat`, `grep .`, `ls -l`,
//! `lsblk`. Every value is a [`Fact`] that remembers its file and line, so that a cause can quote its source. Nothing
//! is guessed: what is not said is `None`, a line not understood is counted.
//!
//! What other tools printed is read by `tooltext`, which uses this crate, because people paste settings between tables
//! ([`Lines`]); nothing here knows of it.

mod cgroup;
mod changes;
mod device;
mod document;
mod extent;
mod fact;
mod folder;
mod iostat;
mod limited;
mod md;
mod mount;
mod processes;
mod recorded;
mod samples;
mod system;

pub use capture::{Extent, CAPTURE_JSON, SAMPLES_JSONL};
pub use cgroup::Cgroup;
pub use device::{Device, WriteCache};
pub use document::{Document, Lines};
pub use extent::Placed;
pub use fact::{At, Conflict, Fact, Place, Spot};
pub use folder::{Skipped, MOST_BYTES, MOST_BYTES_IN_ALL, MOST_FILES};
pub use iostat::{Iostat, Rates};
pub use limited::{Limit, Limited};
pub use md::Md;
pub use mount::Mount;
pub use processes::{Asleep, OpenFile, Processes};
pub use recorded::Recorded;
pub use samples::{CpuUse, DiskUse, Interval, Io, SampleQuality, Samples, Stalled};
pub use system::{is_device_name, whole_disk, System};
