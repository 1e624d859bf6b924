//! Finds the part of an md array's own time in which the array's thread waited for its write-intent bitmap to be on
//! the disks.
//!
//! One thread (`raid5d`, `raid1d`, `raid10d`; drivers/md) sends writes to the members. Before that it writes the
//! bitmap and sleeps (`md_bitmap_unplug`, drivers/md/md-bitmap.c). Until it wakes, it sends nothing of any write.
//!
//! ```text
//!  0 ms  fio        Q on md0                     in md itself
//!  1 ms  md0_raid5  writes the bitmap, sleeps    until the bitmap is on the disks
//! 21 ms  md0_raid5  wakes                        in md itself
//! 22 ms  md0_raid5  Q on sda                     in sda
//! ```
//!
//! The array's thread is the task that queued the write's own bios below. Workers of `group_thread_cnt` do not count.

use crate::history::History;
use crate::served::Entry;
use crate::stretch::Sleep;
use crate::thread::Thread;
use crate::wait::Wait;
use trace::{Nanos, Tid};

/// The array's thread: the task that queued the first bio below from `b` on, or else the last one before. The writing
/// task itself is excluded: its own stretches already show its sleeps.
fn thread_of<'a>(history: &'a History, entry: &Entry, b: Nanos) -> Option<(Tid, &'a Thread)> {
    let below = entry.below.as_ref()?;
    let began = |e: &&Entry| e.done.timeline().start();
    let next = below.iter().filter(|e| began(e) >= b).min_by_key(began);
    let tid = next.or_else(|| below.iter().max_by_key(began))?.done.queuer();
    let thread = history.thread(tid).filter(|t| tid != entry.done.queuer() && t.works.is_empty())?;
    Some((tid, thread))
}

/// Sleeps of the array's thread for its bitmap from `a` to `b`, while it had a bio that it had not sent on.
pub(crate) fn sleeps(history: &History, entry: &Entry, a: Nanos, b: Nanos) -> Vec<Sleep> {
    let Some((tid, thread)) = thread_of(history, entry, b) else { return vec![] };
    let for_bitmap = |s: &Sleep| s.stack.is_some_and(|id| history.texts.wait(id) == Wait::RaidBitmap);
    thread.sleeps_between(tid, a, b).filter(for_bitmap).collect()
}
