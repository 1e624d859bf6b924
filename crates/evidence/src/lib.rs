//! Reads the settings and samples beside a recording: evidence that no event contains.
//!
//! [`System`] is the settings of the recorded machine: queues, md arrays, mounts, memory. It is read from
//! all texts beside a trace ([`System::read`]), in the forms that people save by hand: output of `cat`, `grep .`, `ls -l`,
//! `lsblk`. Every value is a [`Fact`] with its file and line, so that a cause can quote its source. Nothing
//! is guessed: a missing value is `None`, a line that is not understood is counted.
//!
//! The output of other tools is read by `tooltext`, which uses this crate, because people paste settings between tables
//! ([`Lines`]); this crate does not depend on it.

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
mod source;
mod system;

pub use capture::{Extent, CAPTURE_JSON, SAMPLES_JSONL};
pub use cgroup::Cgroup;
pub use device::{Device, WriteCache};
pub use document::Lines;
pub use extent::Placed;
pub use fact::{At, Conflict, Fact, Place, Spot};
pub use folder::{MOST_BYTES, MOST_BYTES_IN_ALL, MOST_FILES};
pub use iostat::{Iostat, Rates};
pub use limited::{Limit, Limited};
pub use md::Md;
pub use mount::Mount;
pub use processes::{Asleep, OpenFile, Processes};
pub use recorded::Recorded;
pub use samples::{CpuUse, DiskUse, Interval, Io, SampleQuality, Samples, Stalled};
pub use source::{Document, Skipped};
pub use system::{is_device_name, whole_disk, System};
