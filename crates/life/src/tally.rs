//! Counts over the whole recording, including every event that could not be matched.

use serde::Serialize;
use trace::{Bytes, DevId, Nanos};

/// Counts over the whole recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tally {
    /// Bios queued.
    pub bios: u64,
    /// Bytes of all bios queued.
    pub bytes_queued: Bytes,
    /// Bytes of bios completed.
    pub bytes_completed: Bytes,
    /// Bytes of bios in flight at the end.
    pub bytes_in_flight: Bytes,
    /// Bytes of bios whose completion was lost.
    pub bytes_lost: Bytes,
    /// Requests completed.
    pub requests: u64,
    /// Requests in flight at the end.
    pub requests_in_flight: u64,
    /// Requests whose completion was lost (their sector was used again, or the table was full).
    pub requests_lost: u64,
    /// Start of the oldest bio or request in flight at the end, without writeback, and its device.
    #[serde(skip)]
    pub oldest_in_flight: Option<(DevId, Nanos)>,
    /// Bios, or parts of one, in flight at the end without a request.
    pub bios_in_flight: u64,
    /// Events whose beginning was not seen, on a device without losses so far: the I/O was in flight when the
    /// recording began.
    pub began_before: u64,
    /// Completions without a known issue, after losses.
    pub completions_unmatched: u64,
    /// Issues of something that was not queued, after losses.
    pub issues_unmatched: u64,
    /// Merges, splits, inserts and requeues of something that was not seen.
    pub others_unmatched: u64,
    /// Steps with an earlier time than the step before: the clocks of two CPUs disagree.
    pub backward_steps: u64,
}

/// Bios of one class on one device that are in flight at the end although requests have completed parts of them,
/// perhaps long before. Those requests are counted as completed, but the bios are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// Number of such bios.
    pub bios: u64,
    /// Bytes that they ask for.
    pub bytes: Bytes,
    /// Bytes of these that requests have completed.
    pub served: Bytes,
}

impl Unfinished {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: Unfinished) {
        self.bios += other.bios;
        self.bytes += other.bytes;
        self.served += other.served;
    }
}

impl Tally {
    /// Events without a match that cannot be explained by the beginning of the recording.
    pub fn unmatched(&self) -> u64 {
        self.completions_unmatched + self.issues_unmatched + self.others_unmatched
    }
}
