//! The documents beside a recording: what was found in each, or why it was not read.

use crate::fact::At;
use serde::Serialize;

/// Statistics on a document that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Document {
    /// Name within the capture.
    pub file: String,
    /// The kinds that were found in it: `sysfs`, `mounts`, ...
    pub kinds: Vec<&'static str>,
    /// Number of non-blank lines; for a JSON document, of values.
    pub lines: u32,
    /// Number of these that no kind could parse.
    pub unknown: u32,
    /// Location of the first of these.
    pub first_unknown: Option<At>,
}

/// A document that was not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Path within the capture.
    pub file: String,
    /// The reason, in words.
    pub why: String,
}
