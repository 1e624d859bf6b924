//! The files of a recording (docs/capture.md): what they are called, the types that they hold, how they are streamed, packed
//! and freed of names.
//!
//! `record` writes these types and `evidence` reads them, so that the two cannot disagree on a name.
//!
//! **Invariant**: what one version writes, every version reads. What is missing is empty, what is new is ignored, and what
//! has another form counts as absent (`lenient.rs`).

mod datfile;
mod disk;
mod error;
mod lenient;
mod limited;
mod mountinfo;
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

use trace::Cpu;

/// The finished trace.
pub const TRACE: &str = "trace.dat";
/// The trace's head while it is recorded, and for good where no [`TRACE`] could be made.
pub const HEAD: &str = "trace.head";
/// One [`Sample`] per line.
pub const SAMPLES_JSONL: &str = "samples.jsonl";
/// Settings before and after: a [`SystemFile`].
pub const SYSTEM_JSON: &str = "system.json";
/// What ran: a [`Capture`].
pub const CAPTURE_JSON: &str = "capture.json";

/// The name of one CPU's pages.
pub fn raw_name(cpu: Cpu) -> String {
    format!("trace.cpu{}.raw", cpu.0)
}

/// A document as it stands in its file.
fn pretty(document: &impl serde::Serialize) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(document).unwrap_or_default();
    json.push(b'\n');
    json
}
