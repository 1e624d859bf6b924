//! The plan of a recording: what, for how long, and where to.

use capture::Detail;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A plan for [`record`](crate::record).
#[derive(Clone, Debug)]
pub struct Plan {
    /// The level of detail.
    pub detail: Detail,
    /// Devices as the user names them (`sda`, `/dev/sda1`, `254:0`); empty means all.
    pub devices: Vec<String>,
    /// Size of the kernel's buffer per CPU in KiB; `None` lets iowhy choose.
    pub buffer_kib: Option<u64>,
    /// Destination of the capture.
    pub output: Output,
    /// Condition that ends the recording. A signal always ends it, too.
    pub stop: Stop,
}

/// Destination of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A folder, created if it does not exist.
    Folder(PathBuf),
    /// A tar stream on standard output; the command's own output then goes to standard error.
    Stream,
}

/// Condition that ends a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The recording has lasted this long.
    After(Duration),
    /// This command exits (the first word is the program).
    Command(Vec<OsString>),
    /// Only a signal.
    Signal,
}
