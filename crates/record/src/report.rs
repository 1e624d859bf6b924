//! What is told during a recording.

use std::time::Duration;
use trace::Bytes;

/// Progress of a recording, reported once per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Time since the start.
    pub time: Duration,
    /// Events recorded so far.
    pub events: u64,
    /// Event rate since the previous report.
    pub events_per_second: f64,
    /// Bytes of pages moved so far.
    pub bytes: Bytes,
    /// Events lost so far.
    pub lost: u64,
}

/// A report during a recording.
#[derive(Clone, Debug)]
pub enum Report<'a> {
    /// A remark in words.
    Note(&'a str),
    /// Recording has started.
    Started,
    /// Progress, once per second.
    Progress(Progress),
}
