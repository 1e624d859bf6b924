//! Counts the requests and bios that the tracker noted on tapes, one tape after the other, on whichever thread is idle.
//!
//! **Invariant**: a thread dequeues a tape only while it holds the lock of the counts, so tapes are counted in order.

use stats::{Served, Tape};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Maximal number of queued tapes. If more arrive, no thread is idle: the thread that hands a tape over counts first.
const WAITING: usize = 6;

/// The queue of tapes and the counts so far.
#[derive(Default)]
pub(crate) struct Counting {
    tapes: Mutex<Tapes>,
    served: Mutex<Served>,
}

/// Tapes to be counted, and empty tapes for reuse.
#[derive(Default)]
struct Tapes {
    full: VecDeque<Tape>,
    empty: Vec<Tape>,
}

impl Counting {
    /// Takes over the counts so far from `served`; [`Counting::end`] returns them.
    pub fn begin(&self, served: &mut Served) {
        std::mem::swap(served, &mut lock(&self.served));
    }

    /// Queues a tape and leaves an empty one in its place; does nothing if the tape is empty.
    pub fn hand_over(&self, tape: &mut Tape) {
        if tape.is_empty() {
            return;
        }
        while lock(&self.tapes).full.len() >= WAITING {
            self.count_with(lock(&self.served));
        }
        let mut tapes = lock(&self.tapes);
        let empty = tapes.empty.pop().unwrap_or_default();
        tapes.full.push_back(std::mem::replace(tape, empty));
    }

    /// Counts one tape. False if the queue is empty or another thread is counting.
    pub fn count(&self) -> bool {
        match self.served.try_lock() {
            Ok(served) => self.count_with(served),
            Err(TryLockError::Poisoned(poisoned)) => self.count_with(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => false,
        }
    }

    /// Counts all remaining tapes and moves the counts to `served`.
    pub fn end(&self, served: &mut Served) {
        while self.count_with(lock(&self.served)) {}
        std::mem::swap(served, &mut lock(&self.served));
    }

    fn count_with(&self, mut served: MutexGuard<'_, Served>) -> bool {
        let Some(mut tape) = lock(&self.tapes).full.pop_front() else { return false };
        served.count(&mut tape);
        lock(&self.tapes).empty.push(tape);
        true
    }
}

/// Locks, even if a thread panicked while it held the lock: the counts are still usable.
pub(crate) fn lock<S>(state: &Mutex<S>) -> MutexGuard<'_, S> {
    state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `count` does not block if there is nothing to count.
    #[test]
    fn where_there_is_no_tape_nothing_is_counted() {
        let counting = Counting::default();
        assert!(!counting.count());
        let held = lock(&counting.served);
        assert!(!counting.count(), "somebody is counting");
        drop(held);
        counting.hand_over(&mut Tape::default());
        assert!(!counting.count(), "an empty tape is kept by who has it");
    }
}
