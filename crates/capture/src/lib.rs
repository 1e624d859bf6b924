//! The files of a recording (docs/capture.md): their names, the types that they contain, and how they are streamed, packed
//! and redacted.
//!
//! `record` writes these types and `evidence` reads them, so that both agree on the names.
//!
//! **Invariant**: every version can read what any version wrote. A missing value is empty, an unknown one is ignored, and one of
//! an unexpected form counts as missing (`lenient.rs`).

mod datfile;
mod disk;
mod error;
mod json;
mod lenient;
mod limited;
mod mountinfo;
mod name;
mod pack;
mod processes;
mod recorded;
mod redact;
mod role;
mod sample;
mod settings;
mod stream;
mod system;
mod unpack;

pub use datfile::{Head, Pages, Region};
pub use disk::{Disk, Extent, Extents, HardwareQueue, Loop, Partition};
pub use error::{At, Error, Result};
pub use limited::{CpuLimit, Limited, MemoryAbove, MemoryLimit};
pub use mountinfo::{mountinfo, unescape, unescaped, Mount, Mountinfo};
pub use name::{raw_name, CAPTURE_JSON, HEAD, SAMPLES_JSONL, SYSTEM_JSON, TRACE};
pub use pack::{open_packed, pack, Packed};
pub use processes::{Asleep, OpenFile, Process, Processes};
pub use recorded::{Capture, Chosen, Detail, EndedBy, Loss, Moment, TraceFiles, CAPTURE_SCHEMA};
pub use redact::redact;
pub use role::{is_job, is_recorder, server, writes_behind, Role};
pub use sample::{Named, Sample};
pub use settings::Settings;
pub use stream::{Parts, Stream};
pub use system::{Cgroup, Cgroups, Cpus, Kernel, Snapshot, SystemFile, SYSTEM_SCHEMA};
pub use unpack::{assemble, looks_like_tar, unpack, Unpacked};
