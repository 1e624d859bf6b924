//! What is to be recorded, for how long, and where it goes.

use capture::Detail;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A recording to be made.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How much.
    pub detail: Detail,
    /// Devices by name (`sda`, `/dev/sda1`, `254:0`); none means all.
    pub devices: Vec<String>,
    /// Size of the kernel's buffer for each CPU in KiB; none lets iowhy choose.
    pub buffer_kib: Option<u64>,
    /// Where the capture goes.
    pub output: Output,
    /// When it ends. A signal ends it always.
    pub stop: Stop,
}

/// Where a capture goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A folder, which is made if it is not there.
    Folder(PathBuf),
    /// A tar stream on standard output; the command's own output then goes to standard error.
    Stream,
}

/// What ends a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A time.
    After(Duration),
    /// The end of this command (the first word is the program).
    Command(Vec<OsString>),
    /// Only a signal.
    Signal,
}
