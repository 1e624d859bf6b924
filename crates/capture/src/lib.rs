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

/// Name of the finished trace.
pub const TRACE: &str = "trace.dat";
/// Name of the trace's head, while recording and if no [`TRACE`] could be made.
pub const HEAD: &str = "trace.head";
/// Name of the file of samples: one [`Sample`] per line.
pub const SAMPLES_JSONL: &str = "samples.jsonl";
/// Name of the file of settings before and after: a [`SystemFile`].
pub const SYSTEM_JSON: &str = "system.json";
/// Name of the file about the recording itself: a [`Capture`].
pub const CAPTURE_JSON: &str = "capture.json";

/// The name of the file with one CPU's pages: `trace.cpu3.raw`.
pub fn raw_name(cpu: Cpu) -> String {
    format!("trace.cpu{}.raw", cpu.0)
}

/// A document as indented JSON with a final newline.
fn pretty(document: &impl serde::Serialize) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(document).unwrap_or_default();
    json.push(b'\n');
    json
}
