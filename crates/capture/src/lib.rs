//! The files of a recording: what they are called, and the types that they hold (docs/capture.md).
//!
//! `record` writes these types and `evidence` reads them, so that the two cannot disagree on a name.
//!
//! **Invariant**: what one version writes, every version reads. What is missing is empty, what is new is passed over, and
//! what has another form counts as not said (`lenient.rs`).

mod disk;
mod lenient;
mod mountinfo;
mod processes;
mod recorded;
mod sample;
mod settings;
mod system;

pub use disk::{Disk, Extent, Extents, HardwareQueue, Loop, Partition};
pub use mountinfo::{mountinfo, unescape, unescaped, Mount, Mountinfo};
pub use processes::{OpenFile, Process, Processes};
pub use recorded::{Capture, Chosen, Detail, EndedBy, Loss, Moment, TraceFiles, CAPTURE_SCHEMA};
pub use sample::{Named, Sample};
pub use settings::Settings;
pub use system::{Cgroup, Cgroups, Cpus, Kernel, Snapshot, SystemFile, SYSTEM_SCHEMA};

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

/// A document as it stands in its file.
fn pretty(document: &impl serde::Serialize) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(document).unwrap_or_default();
    json.push(b'\n');
    json
}
