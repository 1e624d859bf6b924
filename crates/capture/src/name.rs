//! The names of the files of a recording.

use trace::Cpu;

/// Name of the finished trace.
pub const TRACE: &str = "trace.dat";
/// Name of the trace's head, while recording and if no [`TRACE`] could be made.
pub const HEAD: &str = "trace.head";
/// Name of the file of samples: one [`Sample`](crate::Sample) per line.
pub const SAMPLES_JSONL: &str = "samples.jsonl";
/// Name of the file of settings before and after: a [`SystemFile`](crate::SystemFile).
pub const SYSTEM_JSON: &str = "system.json";
/// Name of the file about the recording itself: a [`Capture`](crate::Capture).
pub const CAPTURE_JSON: &str = "capture.json";

/// The name of the file with one CPU's pages: `trace.cpu3.raw`.
pub fn raw_name(cpu: Cpu) -> String {
    format!("trace.cpu{}.raw", cpu.0)
}
