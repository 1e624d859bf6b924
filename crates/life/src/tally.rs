//! What did not work out: nothing vanishes, so every event that found no place in a life is counted.

use serde::Serialize;
use trace::{Bytes, DevId, Nanos};

/// Counts over the whole recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tally {
    /// Bios queued.
    pub bios: u64,
    /// Bytes of all bios that were queued.
    pub bytes_queued: Bytes,
    /// Bytes of bios that were completed.
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
    /// Of all in flight at the end, but for writeback, the one that began first: on which device, and when.
    #[serde(skip)]
    pub oldest_in_flight: Option<(DevId, Nanos)>,
    /// Bios in flight at the end that have no request.
    pub bios_in_flight: u64,
    /// Events of something whose beginning was not seen, on a device that had lost nothing so far:
    /// it was in flight when the recording began.
    pub began_before: u64,
    /// Completions of something whose issue was not seen, after losses.
    pub completions_unmatched: u64,
    /// Issues of something that was never queued, after losses.
    pub issues_unmatched: u64,
    /// Merges, splits, inserts and requeues of something that was never seen.
    pub others_unmatched: u64,
    /// Cases in which a later step has an earlier time: the clocks of two CPUs disagree.
    pub backward_steps: u64,
}

/// Bios of one class on one device that are in flight at the end although requests that carried parts of them were completed, long before
/// perhaps: these are counted, and the bios are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// How many.
    pub bios: u64,
    /// What they ask for.
    pub bytes: Bytes,
    /// What of it requests have completed.
    pub served: Bytes,
}

impl Unfinished {
    /// Adds others.
    pub fn add(&mut self, other: Unfinished) {
        self.bios += other.bios;
        self.bytes += other.bytes;
        self.served += other.served;
    }
}

impl Tally {
    /// All events that found no place, and for which the beginning of the recording is no excuse.
    pub fn unmatched(&self) -> u64 {
        self.completions_unmatched + self.issues_unmatched + self.others_unmatched
    }
}
