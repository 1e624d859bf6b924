//! Files that lie together but were not recorded together.
//!
//! blktrace starts all its devices at once, and of each device one CPU's file begins with a note of the wall clock
//! (`trace_note_time`, kernel/trace/blktrace.c). By that files can be told apart for certain: a recording has one such
//! note per device, they are moments apart, they agree about what time it was, and nothing was recorded before them.
//! Without these notes only a long time between the beginnings of files is odd.
//!
//! Example: `vda.blktrace.0` of Monday and `vda.blktrace.1` of Sunday: CPU 1 begins a day before the recording.

use crate::event::{Action, Detail, Event};
use std::path::Path;
use units::Nanos;

/// How one file begins.
pub struct Start<'a> {
    /// The file.
    pub path: &'a Path,
    /// The device, by the file's name.
    pub device: &'a str,
    /// Its first record.
    pub first: Event,
}

/// All devices are started by one program in one loop: in the bundled recordings within 0.14 ms. A host that is so busy
/// that it takes longer than this loses everything else too.
const STARTED_TOGETHER: Nanos = Nanos(10 * Nanos::SECOND.0);

/// By how much the clocks of processors, or two readings of the wall clock, can differ: far more than they do.
const CLOCKS_DIFFER: Nanos = Nanos::SECOND;

/// Where there is no note of the wall clock: a CPU that is idle for an hour is rare.
const IDLE: Nanos = Nanos(3600 * Nanos::SECOND.0);

impl Start<'_> {
    /// When 1970 was by the trace's clock, in nanoseconds before its zero.
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

/// Says by which two files it is seen that they are not of one recording.
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
