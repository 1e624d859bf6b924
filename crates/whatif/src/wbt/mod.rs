//! Writeback throttling: block/blk-wbt.c and the limits of block/blk-rq-qos.c, Linux 6.18.
//!
//! Writes that no task waits for, and those of an fsync, take a place before they take a tag; direct writes and reads do not.
//! There are `max_depth` places ([`Limits`]): all of them for an fsync or while tasks that dirty pages are throttled, otherwise a
//! quarter beside reads and half without. A window of 100 ms begins with a write that gets a place.
//! If reads and at least three writes were completed in it, the **shortest** read decides at its end: if it took longer in the
//! device than the target, the places are halved (and windows become shorter, 100 ms / sqrt(step + 1)); else they are doubled back,
//! and beyond that as long as only writes are seen. A waiter is admitted when a write is completed and less than half of the
//! places are taken; with a volatile cache only when none is.
//!
//! [`Throttle`] has assumptions about what the kernel knows and a recording lacks, to be tried both ways: whether tasks were throttled
//! for dirty pages (`wb_recent_wait`), and whether writes that a task waits for are direct. All writes that no task waits for
//! are treated alike: without reads, the flusher's own get a quarter of the places in the kernel, here half.
//!
//! **Invariant**: no request waits while none has a place.
//!
//! Example, 256 requests: 16 places, 8 normal, 4 beside reads. After a window whose shortest read was too slow: 8, 4 and 2.

mod limits;

use crate::refusal::Refusal;
use crate::sched::Slot;
use limits::{Limits, WINDOW};
use serde::Serialize;
use std::collections::VecDeque;

/// `RWB_MIN_WRITE_SAMPLES`.
const ENOUGH_WRITES: u32 = 3;
/// `RWB_UNKNOWN_BUMP`: number of windows without enough data until the step returns towards 0.
const PATIENCE: u32 = 5;
/// `HZ / 10`: reads within this time count as competing I/O (`close_io`).
const CLOSE: u64 = 100_000_000;

/// Why a recording in which writeback throttling delayed writes is refused (block/blk-wbt.c).
pub const HELD: &str =
    "writeback throttling held writes back in the recording: its depth limit at the start \
is known only to the kernel, and how many would be in flight without it was not recorded. Record with \
wbt_lat_usec 0, or try a setting for a moment and compare: iowhy compare BEFORE AFTER";

/// The settings of writeback throttling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Throttle {
    /// The target for the shortest read of a window in the device, in nanoseconds (`wbt_lat_usec`).
    pub target: u64,
    /// Whether the device has a volatile cache (`write_cache`).
    pub write_back: bool,
    /// Assumption: tasks are throttled for dirty pages.
    pub dirtiers_wait: bool,
    /// Assumption: writes that a task waits for are those of fsync, not direct ones.
    pub holds_sync: bool,
}

impl Throttle {
    /// Parses `wbt_lat_usec`, 0 is off. `cache`: the text of `queue/write_cache`.
    pub fn asked(value: u64, cache: Option<&str>) -> Result<Option<Throttle>, Refusal> {
        if value == 0 {
            return Ok(None);
        }
        let cache =
            cache.ok_or("queue/write_cache of the recording is not known, and throttling goes by it")?;
        Ok(Some(Throttle {
            target: value.saturating_mul(1000),
            write_back: cache.trim() == "write back",
            dirtiers_wait: false,
            holds_sync: false,
        }))
    }

    /// All combinations of assumptions. `background`, `sync`: whether there are writes that no task, or a task, waits for.
    pub fn assumptions(self, background: bool, sync: bool) -> Vec<Throttle> {
        let both = |of: bool| if of { vec![false, true] } else { vec![false] };
        let with = |dirtiers_wait| both(sync).into_iter().map(move |s| (dirtiers_wait, s));
        both(background)
            .into_iter()
            .flat_map(with)
            .map(|(dirtiers_wait, holds_sync)| Throttle { dirtiers_wait, holds_sync, ..self })
            .collect()
    }
}

/// Completions in a window.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    shortest_read: Option<u64>,
    writes: u32,
}

/// The state of writeback throttling (`struct rq_wb`).
pub struct Wbt {
    set: Throttle,
    limits: Limits,
    taken: u32,
    /// Waiting writes, and whether a task waits for each.
    waiting: VecDeque<(Slot, bool)>,
    seen: Seen,
    unknown: u32,
    window: u64,
    /// The end of the window, if there is one.
    ends: Option<u64>,
    last_read: Option<u64>,
    /// A read in the device, and the time of its issue.
    slow_read: Option<(Slot, u64)>,
}

impl Wbt {
    /// The initial state. `queue_depth`: as `blk_queue_depth`, SCSI's, else `nr_requests`.
    pub fn new(set: Throttle, queue_depth: u32) -> Wbt {
        Wbt {
            set,
            limits: Limits::new(queue_depth),
            taken: 0,
            waiting: VecDeque::new(),
            seen: Seen::default(),
            unknown: 0,
            window: WINDOW,
            ends: None,
            last_read: None,
            slow_read: None,
        }
    }

    /// Whether a request needs a place (`wbt_should_throttle`).
    pub fn holds(&self, write: bool, sync: bool) -> bool {
        write && (!sync || self.set.holds_sync)
    }

    /// A read is queued.
    pub fn read_queued(&mut self, now: u64) {
        self.last_read = Some(now);
    }

    fn limit(&self, now: u64, sync: bool) -> u32 {
        match self.last_read {
            _ if sync || self.set.dirtiers_wait => self.limits.max,
            Some(at) if now < at + CLOSE => self.limits.background,
            _ => self.limits.normal,
        }
    }

    /// A write needs a place. Returns whether it has one, else it waits; and if a window begins, the time for [`look`](Wbt::look).
    pub fn enter(&mut self, now: u64, slot: Slot, sync: bool) -> (bool, Option<u64>) {
        if !self.waiting.is_empty() || self.taken >= self.limit(now, sync) {
            self.waiting.push_back((slot, sync));
            return (false, None);
        }
        self.taken += 1;
        (true, self.begin(now))
    }

    /// Begins a window, if there is none; returns its end.
    fn begin(&mut self, now: u64) -> Option<u64> {
        if self.ends.is_some() {
            return None;
        }
        self.window = self.limits.window();
        self.ends = Some(now + self.window);
        self.ends
    }

    /// A read goes to the device.
    pub fn read_issued(&mut self, now: u64, slot: Slot) {
        self.slow_read.get_or_insert((slot, now));
    }

    /// A read was completed after `took` nanoseconds in the device.
    pub fn read_done(&mut self, now: u64, slot: Slot, took: u64) {
        self.last_read = Some(now);
        self.slow_read = self.slow_read.filter(|(of, _)| *of != slot);
        if self.ends.is_some() {
            self.seen.shortest_read = Some(self.seen.shortest_read.map_or(took, |s| s.min(took)));
        }
    }

    /// A write was completed, with or without a place.
    pub fn write_done(&mut self) {
        self.seen.writes += u32::from(self.ends.is_some());
    }

    /// Frees the place of a write; adds the waiters that get places to `woken` (`wbt_rqw_done`).
    pub fn leave(&mut self, now: u64, woken: &mut Vec<Slot>) {
        self.taken = self.taken.saturating_sub(1);
        let limit = match self.set.write_back && !self.set.dirtiers_wait {
            true => 0,
            false => self.limits.normal,
        };
        if self.taken == 0 || (self.taken < limit && limit - self.taken >= self.limits.background / 2) {
            self.wake(now, woken);
        }
    }

    /// Admits waiters in order until one gets no place.
    fn wake(&mut self, now: u64, woken: &mut Vec<Slot>) {
        while let Some((slot, sync)) = self.waiting.front().copied() {
            if self.taken >= self.limit(now, sync) {
                return;
            }
            self.taken += 1;
            self.waiting.pop_front();
            woken.push(slot);
        }
    }

    /// A window has ended (`wb_timer_fn`). Returns the end of the next one, if there is one.
    pub fn look(&mut self, now: u64, woken: &mut Vec<Slot>) -> Option<u64> {
        let before = self.taken;
        self.ends = None;
        let seen = std::mem::take(&mut self.seen);
        let slow = self.slow_read.map_or(0, |(_, since)| now - since);
        let target = self.set.target;
        let exceeded = slow > self.window || (slow > target && seen.shortest_read.is_none());
        match seen.shortest_read.filter(|_| seen.writes >= ENOUGH_WRITES) {
            _ if exceeded => self.down(true),
            Some(shortest) if shortest > target => self.down(true),
            Some(_) => self.up(now, woken),
            None if seen.writes > 0 || self.set.dirtiers_wait || before > 0 => self.up(now, woken),
            None => {
                self.unknown += 1;
                if self.unknown >= PATIENCE && self.limits.step > 0 {
                    self.up(now, woken);
                } else if self.unknown >= PATIENCE && self.limits.step < 0 {
                    self.down(false);
                }
            }
        }
        if self.limits.step != 0 || before > 0 {
            return self.begin(now);
        }
        None
    }

    fn up(&mut self, now: u64, woken: &mut Vec<Slot>) {
        if self.limits.up() {
            self.unknown = 0;
            self.wake(now, woken);
        }
    }

    fn down(&mut self, hard: bool) {
        if self.limits.down(hard) {
            self.unknown = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const SET: Throttle =
        Throttle { target: 2 * MS, write_back: false, dirtiers_wait: false, holds_sync: false };

    fn places(w: &Wbt) -> (i32, u32, u32, u32) {
        (w.limits.step, w.limits.max, w.limits.normal, w.limits.background)
    }

    #[test]
    fn a_quarter_beside_reads_half_without_all_for_fsync() {
        let mut w = Wbt::new(SET, 256);
        assert_eq!(w.enter(0, 0, false), (true, Some(100 * MS)));
        assert!((1..8).all(|slot| w.enter(0, slot, false) == (true, None)));
        assert!(!w.enter(0, 8, false).0);
        let mut w = Wbt::new(SET, 256);
        w.read_queued(MS);
        assert!((0..4).all(|slot| w.enter(2 * MS, slot, false).0));
        assert!(!w.enter(2 * MS, 4, false).0);
        // A later write waits behind, even if there is a place for it.
        assert!(!w.enter(2 * MS, 5, true).0);
        let mut w = Wbt::new(Throttle { dirtiers_wait: true, ..SET }, 256);
        w.read_queued(MS);
        assert_eq!((0..20).filter(|slot| w.enter(2 * MS, *slot, false).0).count(), 16);
        assert!(!w.holds(false, true) && !w.holds(true, true) && w.holds(true, false));
    }

    /// Beside reads 4 places: the first completion leaves 3, and 8 - 3 is enough to admit one. With a volatile cache all
    /// places must be free first, and then 4 are admitted at once.
    #[test]
    fn who_waits_is_let_in() {
        for (write_back, expected) in [(false, [1, 1, 1, 1]), (true, [0, 0, 0, 4])] {
            let mut w = Wbt::new(Throttle { write_back, ..SET }, 256);
            w.read_queued(0);
            (0..10).for_each(|slot| _ = w.enter(0, slot, false));
            let let_in = [1, 2, 3, 4].map(|ms| {
                let mut woken = Vec::new();
                w.leave(ms * MS, &mut woken);
                woken.len()
            });
            assert_eq!(let_in, expected);
        }
    }

    #[test]
    fn the_shortest_read_of_a_window_tells() {
        let (mut w, mut woken) = (Wbt::new(SET, 64), Vec::new());
        w.read_queued(0);
        assert_eq!(w.enter(0, 0, false), (true, Some(100 * MS)));
        let mut window = |w: &mut Wbt, now, reads: &[u64], writes| {
            reads.iter().for_each(|took| w.read_done(now, 9, *took));
            (0..writes).for_each(|_| w.write_done());
            (w.look(now, &mut woken), places(w))
        };
        // Too few writes to blame: counts as writes only, and places are added.
        assert_eq!(window(&mut w, 100 * MS, &[3 * MS], 2), (Some(200 * MS), (-1, 31, 16, 8)));
        // The shorter read meets the target: more places, up to 48 of 64.
        assert_eq!(window(&mut w, 200 * MS, &[90 * MS, 2 * MS], 3).1, (-2, 48, 24, 12));
        // It does not: back to step 0, then down, with a shorter window.
        assert_eq!(window(&mut w, 300 * MS, &[3 * MS, 5 * MS], 3).1, (0, 16, 8, 4));
        assert_eq!(window(&mut w, 400 * MS, &[3 * MS], 3), (Some(400 * MS + 72_727_272), (1, 8, 4, 2)));
        // No read was completed, and one is in the device for longer than the target.
        w.read_issued(401 * MS, 7);
        assert_eq!(window(&mut w, 472 * MS, &[], 9).1, (2, 4, 2, 1));
    }

    #[test]
    fn windows_that_tell_nothing_lead_back_to_the_middle_and_end() {
        let (mut w, mut woken) = (Wbt::new(SET, 64), Vec::new());
        w.read_queued(0);
        w.enter(0, 0, false);
        w.read_done(MS, 9, 9 * MS);
        (0..3).for_each(|_| w.write_done());
        let mut at = w.look(100 * MS, &mut woken);
        assert_eq!(places(&w).0, 1);
        w.leave(101 * MS, &mut woken);
        let mut looks = 0;
        while let Some(now) = at {
            at = w.look(now, &mut woken);
            looks += 1;
        }
        assert_eq!((looks, places(&w).0), (5, 0));
    }
}
