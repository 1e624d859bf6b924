//! Counting what the lives note on tapes: one after the other, by whichever thread has nothing else to do.
//!
//! **Invariant**: a tape is taken off the queue by who holds the counts, so tapes are counted in their order.

use stats::{Served, Tape};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Tapes that wait at most. More say that nobody finds the time, and then who brings them counts.
const WAITING: usize = 6;

/// Tapes, and what was counted of them.
#[derive(Default)]
pub(crate) struct Counting {
    tapes: Mutex<Tapes>,
    served: Mutex<Served>,
}

/// Tapes to be counted, and empty ones.
#[derive(Default)]
struct Tapes {
    full: VecDeque<Tape>,
    empty: Vec<Tape>,
}

impl Counting {
    /// Goes on with these counts.
    pub fn begin(&self, served: &mut Served) {
        std::mem::swap(served, &mut lock(&self.served));
    }

    /// Takes a tape that has something on it, and gives an empty one for it.
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

    /// Counts a tape. False if there is none, or somebody is counting.
    pub fn count(&self) -> bool {
        match self.served.try_lock() {
            Ok(served) => self.count_with(served),
            Err(TryLockError::Poisoned(poisoned)) => self.count_with(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => false,
        }
    }

    /// Counts all that is left, and gives the counts back.
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

/// The state, also where a panic has left it locked: its counts are still counts.
pub(crate) fn lock<S>(state: &Mutex<S>) -> MutexGuard<'_, S> {
    state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who finds nothing to count goes on to something else.
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
