//! An array's own time: what of it passed while the array's thread waited until its write-intent bitmap was on the
//! disks.
//!
//! One thread (`raid5d`, `raid1d`, `raid10d`; drivers/md) sends what was written on to the members. Before that it
//! writes the bitmap and sleeps (`md_bitmap_unplug`, drivers/md/md-bitmap.c); until it wakes it sends nothing of any
//! write.
//!
//! ```text
//!  0 ms  fio        Q on md0                     in md itself
//!  1 ms  md0_raid5  writes the bitmap, sleeps    until the bitmap is on the disks
//! 21 ms  md0_raid5  wakes                        in md itself
//! 22 ms  md0_raid5  Q on sda                     in sda
//! ```
//!
//! Which thread is the array's is known by who queued the write's own bios below. Workers of `group_thread_cnt` are
//! none.

use crate::history::History;
use crate::served::Entry;
use crate::thread::{State, Thread};
use crate::wait::Wait;
use crate::walk::{queuer, timeline, Walk};
use ledger::Reason;
use trace::{Nanos, Tid};

/// The array's thread: who queued the first bio below from `b` on, or the last one before. Not whoever wrote: what that
/// sleeps for shows in its own stretches.
fn thread_of<'a>(history: &'a History, entry: &Entry, b: Nanos) -> Option<(Tid, &'a Thread)> {
    let below = entry.below.as_ref()?;
    let began = |e: &&Entry| timeline(&e.done).start();
    let next = below.iter().filter(|e| began(e) >= b).min_by_key(began);
    let tid = queuer(&next.or_else(|| below.iter().max_by_key(began))?.done);
    let thread = history.thread(tid).filter(|t| tid != queuer(&entry.done) && t.works.is_empty())?;
    Some((tid, thread))
}

impl Walk<'_> {
    /// Covers the time from `a` to `b` that a bio spent in md or dm itself.
    pub(crate) fn in_driver(&mut self, entry: &Entry, a: Nanos, b: Nanos, depth: u8) {
        let history = self.history;
        let mut now = a;
        if let Some((tid, thread)) = thread_of(history, entry, b) {
            let all: Vec<_> = thread.between(a, b).map(|(s, to)| (*s, to)).collect();
            for (at, (stretch, to)) in all.iter().enumerate() {
                let State::Asleep(left) = stretch.state else { continue };
                if stretch.stack.is_none_or(|id| history.texts.wait(id) != Wait::RaidBitmap) {
                    continue;
                }
                let wake = all.get(at + 1).and_then(|(next, _)| match next.state {
                    State::Woken(wake) => Some(wake),
                    _ => None,
                });
                let (from, to) = (stretch.from.max(now), (*to).min(b));
                self.leaf(Reason::Stacking, now, from, depth);
                self.sleep(left, stretch.stack, wake.as_ref(), tid, from, to, depth);
                now = to;
            }
        }
        self.leaf(Reason::Stacking, now, b, depth);
    }
}
