//! The threads that were seen, by number.
//!
//! Events of one thread come in runs, and each looks for it several times: the last one found is found again without hashing.

use crate::thread::Thread;
use rustc_hash::FxHashMap;
use trace::Tid;

/// Threads in the order in which they were first seen.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    all: Vec<(Tid, Thread)>,
    places: FxHashMap<Tid, u32>,
    /// Place of the thread that was found last.
    last: usize,
}

impl Threads {
    /// A thread that was seen.
    #[inline]
    pub fn get(&self, tid: &Tid) -> Option<&Thread> {
        self.place(*tid).map(|at| &self.all[at].1)
    }

    /// A thread that was seen, to be changed.
    #[inline]
    pub fn get_mut(&mut self, tid: &Tid) -> Option<&mut Thread> {
        self.last = self.place(*tid)?;
        Some(&mut self.all[self.last].1)
    }

    /// A thread, added if it is new and there are fewer than `most`.
    #[inline]
    pub fn get_or_add(&mut self, tid: Tid, most: usize) -> Option<&mut Thread> {
        match self.place(tid) {
            Some(at) => self.last = at,
            None if self.all.len() >= most => return None,
            None => {
                self.last = self.all.len();
                self.places.insert(tid, self.last as u32);
                self.all.push((tid, Thread::default()));
            }
        }
        Some(&mut self.all[self.last].1)
    }

    /// All threads with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (&Tid, &Thread)> {
        self.all.iter().map(|(tid, thread)| (tid, thread))
    }

    /// All threads.
    pub fn values(&self) -> impl Iterator<Item = &Thread> {
        self.all.iter().map(|(_, thread)| thread)
    }

    /// All threads, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Thread> {
        self.all.iter_mut().map(|(_, thread)| thread)
    }

    #[inline]
    fn place(&self, tid: Tid) -> Option<usize> {
        if self.all.get(self.last).is_some_and(|(last, _)| *last == tid) {
            return Some(self.last);
        }
        self.places.get(&tid).map(|at| *at as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_one_thread() {
        let mut threads = Threads::default();
        assert!(threads.get(&Tid(7)).is_none() && threads.get_mut(&Tid(7)).is_none());
        for tid in [7, 8, 7, 9, 8] {
            threads.get_or_add(Tid(tid), 2).into_iter().for_each(|t| t.is_known = tid == 8);
        }
        assert_eq!(
            threads.iter().map(|(tid, t)| (tid.0, t.is_known)).collect::<Vec<_>>(),
            [(7, false), (8, true)]
        );
        assert!(threads.get_or_add(Tid(9), 2).is_none(), "there are too many");
        assert!(threads.get_mut(&Tid(8)).is_some_and(|t| t.is_known) && threads.values().count() == 2);
    }
}
