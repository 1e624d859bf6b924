//! Determines how far `blkparse -d` has shifted the events of a merged file, so that its wall-clock note can be used.
//!
//! blkparse subtracts the time of the first event from all events, but not from notes. The kernel names a task in a note just
//! before the task's first event. The note's time minus the event's time is the shift, less the moment between
//! the two; the largest difference is the closest to the true shift and never exceeds it. In an unshifted file,
//! notes are never later than the event that follows them, so the difference is 0.
//!
//! Example: `fio` is named at 20.000001 s, its first event is at 0.000003 s and was at 20.000004 s. The shift is at least
//! 19.999998 s at least; the first event, now at 0, was at 20.000001 s.

use crate::event::{Action, Detail, Event};
use rustc_hash::FxHashMap;
use units::{Nanos, Tid};

/// Limit on tracked tasks; a few are enough.
const MAX_TASKS: usize = 1000;

/// Estimates the shift from notes and events.
#[derive(Default)]
pub struct Moved {
    /// Time of a task's first name note; `None` after the task's first event.
    named: FxHashMap<Tid, Option<Nanos>>,
    /// Number of named tasks that have no event yet.
    awaited: usize,
    by: Nanos,
}

impl Moved {
    /// Processes an event or a note, in the order of the file.
    pub fn hear(&mut self, e: &Event) {
        match e.action {
            // The idle tasks of all CPUs share number 0, so their notes tell nothing.
            Action::TaskName if e.tid != Tid(0) && self.named.len() < MAX_TASKS => {
                self.named.entry(e.tid).or_insert_with(|| {
                    self.awaited += 1;
                    Some(e.time)
                });
            }
            _ if self.awaited > 0 && !e.action.is_note() => {
                if let Some(noted) = self.named.get_mut(&e.tid).and_then(Option::take) {
                    self.awaited -= 1;
                    self.by = self.by.max(noted.since(e.time));
                }
            }
            _ => {}
        }
    }

    /// The wall-clock note on the clock of the events. If it was taken before their zero, it is moved to zero.
    pub fn wall_clock(&self, note: Event) -> Event {
        let Detail::Wall { seconds, nanos } = note.detail else { return note };
        let ahead = self.by.since(note.time).0;
        // The clock in a hostile file may be ahead by centuries.
        let noted = seconds as u64 * Nanos::SECOND.0 + nanos as u64;
        let wall = noted.saturating_add(ahead);
        let (seconds, nanos) = (wall / Nanos::SECOND.0, (wall % Nanos::SECOND.0) as u32);
        let Ok(seconds) = u32::try_from(seconds) else { return note };
        Event { time: note.time.since(self.by), detail: Detail::Wall { seconds, nanos }, ..note }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: u64, action: Action, tid: u32) -> Event {
        Event { time: Nanos(time), action, tid: Tid(tid), ..Event::default() }
    }

    fn wall(time: u64) -> Event {
        Event { detail: Detail::Wall { seconds: 7, nanos: 999_999_999 }, ..at(time, Action::WallClock, 0) }
    }

    #[test]
    fn the_nearest_note_counts_and_the_clock_goes_with_it() {
        let mut moved = Moved::default();
        for e in [
            at(900, Action::TaskName, 0),
            at(1000, Action::TaskName, 1),
            at(1050, Action::TaskName, 2),
            at(9000, Action::TaskName, 1),
            at(20, Action::Queue, 1),
            at(55, Action::Queue, 2),
            at(56, Action::Queue, 1),
        ] {
            moved.hear(&e);
        }
        assert_eq!(moved.by, Nanos(995));
        // Noted 5 ns before the events' zero: at zero it was 5 ns later.
        let told = moved.wall_clock(wall(990));
        assert_eq!((told.time, told.detail), (Nanos(0), Detail::Wall { seconds: 8, nanos: 4 }));
        assert_eq!(moved.wall_clock(wall(1000)).time, Nanos(5));
        let beyond = Moved { by: Nanos(u64::MAX), ..Moved::default() };
        assert_eq!(beyond.wall_clock(wall(0)).detail, wall(0).detail);
    }

    #[test]
    fn what_was_not_moved_stays() {
        let mut moved = Moved::default();
        moved.hear(&at(1000, Action::TaskName, 1));
        moved.hear(&at(1001, Action::Queue, 1));
        assert_eq!(moved.wall_clock(wall(990)), wall(990));
    }
}
