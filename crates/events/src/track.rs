//! The time between two steps of a request, for `-t`: from got to inserted, from inserted (or got, without a
//! scheduler) to issued, from issued to completed.
//!
//! A request is identified by device and first sector, as in blkparse; that is enough to read a trace by eye. For
//! statistics, the crate `life` identifies requests more precisely.

use rustc_hash::FxHashMap;
use trace::{Action, DevId, Event, Flags, Nanos, Sector, Tid};

/// Maximal number of requests that are followed. If completions are lost, they accumulate; then all are dropped.
const MAX_TRACKS: usize = 1 << 18;

#[derive(Clone, Copy, Default)]
struct Track {
    got: Option<Nanos>,
    inserted: Option<Nanos>,
    issued: Option<Nanos>,
    owner: Tid,
}

/// The kind of wait that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// From getting a request to inserting it.
    Allocation,
    /// From inserting it to issuing it.
    Dispatch,
    /// From issuing it to its completion.
    Completion,
}

/// A wait that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed {
    /// The kind of wait.
    pub wait: Wait,
    /// Its length.
    pub time: Nanos,
    /// The task that got the request.
    pub owner: Tid,
}

/// The requests that are not completed.
#[derive(Default)]
pub struct Tracks {
    by_place: FxHashMap<(DevId, Sector), Track>,
}

impl Tracks {
    /// Processes an event; returns the wait that it ends, if any.
    pub fn note(&mut self, e: &Event) -> Option<Elapsed> {
        if e.flags.has(Flags::PASSTHROUGH) {
            return None;
        }
        if self.by_place.len() >= MAX_TRACKS {
            self.by_place.clear();
        }
        let place = (e.dev, e.sector);
        match e.action {
            Action::Get => {
                let t = self.by_place.entry(place).or_default();
                *t = Track { got: Some(e.time), owner: e.tid, ..Track::default() };
                None
            }
            Action::FrontMerge => {
                // From now on, the request begins at the merged bio.
                let behind = (e.dev, e.sector.after(e.bytes));
                let t = self.by_place.remove(&behind)?;
                self.by_place.insert(place, t);
                None
            }
            Action::Insert => {
                let t = self.by_place.entry(place).or_insert(Track { owner: e.tid, ..Track::default() });
                t.inserted = Some(e.time);
                let from = t.got?;
                Some(Elapsed { wait: Wait::Allocation, time: e.time.since(from), owner: t.owner })
            }
            Action::Issue => {
                let t = self.by_place.get_mut(&place)?;
                t.issued = Some(e.time);
                let from = t.inserted.or(t.got)?;
                Some(Elapsed { wait: Wait::Dispatch, time: e.time.since(from), owner: t.owner })
            }
            Action::Complete => {
                let t = self.by_place.remove(&place)?;
                Some(Elapsed { wait: Wait::Completion, time: e.time.since(t.issued?), owner: t.owner })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::Bytes;

    fn times(steps: &[(Action, u64, u64, u64)]) -> Vec<Option<u64>> {
        let mut tracks = Tracks::default();
        let event = |&(action, sector, sectors, time)| Event {
            action,
            sector: Sector(sector),
            bytes: Bytes::from_sectors(sectors),
            time: Nanos(time),
            ..Event::default()
        };
        steps.iter().map(|s| tracks.note(&event(s)).map(|e| e.time.0)).collect()
    }

    use Action::{Complete as C, FrontMerge as F, Get as G, Insert as I, Issue as D, Requeue as R};

    #[test]
    fn through_a_scheduler_and_past_it() {
        assert_eq!(
            times(&[(G, 0, 8, 20), (I, 0, 8, 50), (D, 0, 8, 90), (C, 0, 8, 200)]),
            [None, Some(30), Some(40), Some(110)]
        );
        assert_eq!(
            times(&[(G, 0, 8, 20), (D, 0, 8, 90), (C, 0, 8, 200), (C, 0, 8, 300)]),
            [None, Some(70), Some(110), None]
        );
    }

    #[test]
    fn a_front_merge_moves_the_request() {
        assert_eq!(
            times(&[(G, 8, 8, 20), (I, 8, 8, 50), (F, 0, 8, 70), (D, 0, 16, 90), (C, 0, 16, 200)]),
            [None, Some(30), None, Some(40), Some(110)]
        );
    }

    #[test]
    fn a_requeued_request_is_measured_from_its_last_issue() {
        assert_eq!(
            times(&[
                (G, 0, 8, 20),
                (I, 0, 8, 50),
                (D, 0, 8, 90),
                (R, 0, 8, 100),
                (D, 0, 8, 150),
                (C, 0, 8, 200)
            ]),
            [None, Some(30), Some(40), None, Some(100), Some(50)]
        );
    }
}
