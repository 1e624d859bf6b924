//! Detects files that are in one folder but belong to different recordings.
//!
//! blktrace starts all its devices at once, and for each device the file of one CPU begins with a note of the wall clock
//! (`trace_note_time`, kernel/trace/blktrace.c). These notes tell recordings apart with certainty: one recording has one
//! note per device, the notes are moments apart, they agree about the wall clock, and no record precedes them.
//! Without these notes, only a long time between the starts of files is suspicious.
//!
//! Example: `vda.blktrace.0` of Monday and `vda.blktrace.1` of Sunday: CPU 1 begins a day before the recording.

use crate::event::{Action, Detail, Event};
use std::path::Path;
use units::Nanos;

/// The start of one file.
pub struct Start<'a> {
    /// Path of the file.
    pub path: &'a Path,
    /// The device in the file's name.
    pub device: &'a str,
    /// The first record of the file.
    pub first: Event,
}

/// One program starts all devices in one loop: within 0.14 ms in the bundled recordings. A host so busy
/// that it takes longer than this loses everything else too.
const STARTED_TOGETHER: Nanos = Nanos(10 * Nanos::SECOND.0);

/// Allowed difference between the clocks of processors or between two readings of the wall clock: far more than occurs.
const CLOCKS_DIFFER: Nanos = Nanos::SECOND;

/// Longest plausible time between the starts of files without notes: a CPU is rarely idle for an hour.
const IDLE: Nanos = Nanos(3600 * Nanos::SECOND.0);

impl Start<'_> {
    /// The wall-clock time at zero of the trace's clock, in nanoseconds since 1970; `None` without a wall-clock note.
    fn epoch(&self) -> Option<u128> {
        match (self.first.action, self.first.detail) {
            (Action::WallClock, Detail::Wall { seconds, nanos }) => {
                let wall = seconds as u128 * Nanos::SECOND.0 as u128 + nanos as u128;
                wall.checked_sub(self.first.time.0 as u128)
            }
            _ => None,
        }
    }
}

/// A warning that names two files of different recordings; `None` if all files can belong together.
pub fn different(starts: &[Start]) -> Option<String> {
    let noted: Vec<(&Start, u128)> = starts.iter().filter_map(|s| Some((s, s.epoch()?))).collect();
    let ask = "are they of the same recording?";
    let (early, late) = (noted.iter().min_by_key(|n| n.1), noted.iter().max_by_key(|n| n.1));
    if let (Some((a, from)), Some((b, to))) = (early, late) {
        if to - from > CLOCKS_DIFFER.0 as u128 {
            return Some(format!(
                "{} and {} do not agree about the time by {} s, so their events cannot be put in order: {ask}",
                a.path.display(),
                b.path.display(),
                (to - from) / Nanos::SECOND.0 as u128
            ));
        }
    }
    let by_time = |n: &&(&Start, u128)| n.0.first.time;
    if let (Some((a, _)), Some((b, _))) = (noted.iter().min_by_key(by_time), noted.iter().max_by_key(by_time))
    {
        let apart = b.first.time.since(a.first.time);
        if apart > STARTED_TOGETHER {
            return Some(format!(
                "the recordings in {} and {} were started {} s apart: {ask}",
                a.path.display(),
                b.path.display(),
                apart.0 / Nanos::SECOND.0
            ));
        }
    }
    for (noted, _) in &noted {
        let before =
            |s: &&Start| s.device == noted.device && noted.first.time.since(s.first.time) > CLOCKS_DIFFER;
        if let Some(before) = starts.iter().find(before) {
            return Some(format!(
                "{} begins {} s before the recording in {} was started: {ask}",
                before.path.display(),
                noted.first.time.since(before.first.time).0 / Nanos::SECOND.0,
                noted.path.display()
            ));
        }
    }
    let by_time = |s: &&Start| s.first.time;
    let (a, b) = (starts.iter().min_by_key(by_time)?, starts.iter().max_by_key(by_time)?);
    let apart = b.first.time.since(a.first.time);
    (apart > IDLE).then(|| {
        format!(
            "{} and {} begin {} s apart: {ask}",
            a.path.display(),
            b.path.display(),
            apart.0 / Nanos::SECOND.0
        )
    })
}
