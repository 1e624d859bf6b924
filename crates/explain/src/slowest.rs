//! Keeps the N slowest of any items, each with its duration.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use trace::Nanos;

/// The N slowest items so far.
pub struct Slowest<T> {
    number: usize,
    /// Min-heap of (duration, order of arrival): the fastest kept item is on top.
    heap: BinaryHeap<Reverse<(Nanos, u64)>>,
    kept: HashMap<u64, T>,
    arrived: u64,
}

impl<T> Slowest<T> {
    /// Starts empty; keeps at most `number` items.
    pub fn new(number: usize) -> Slowest<T> {
        let (heap, kept, arrived) = Default::default();
        Slowest { number, heap, kept, arrived }
    }

    /// Whether no item is kept.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Whether an item with this duration would be kept.
    pub fn wants(&self, total: Nanos) -> bool {
        self.heap.len() < self.number
            || self.heap.peek().is_some_and(|Reverse((fastest, _))| *fastest < total)
    }

    /// Adds an item if it is slow enough; of equally slow items the first is kept.
    pub fn add(&mut self, total: Nanos, make: impl FnOnce() -> T) {
        if !self.wants(total) {
            return;
        }
        if self.heap.len() >= self.number {
            if let Some(Reverse((_, id))) = self.heap.pop() {
                self.kept.remove(&id);
            }
        }
        self.arrived += 1;
        self.heap.push(Reverse((total, self.arrived)));
        self.kept.insert(self.arrived, make());
    }

    /// The kept items, unsorted.
    pub fn into_all(self) -> impl Iterator<Item = T> {
        self.kept.into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_are_kept() {
        let mut slowest = Slowest::new(2);
        for (i, total) in [3, 9, 1, 9, 4].into_iter().enumerate() {
            slowest.add(Nanos(total), || i);
        }
        let mut all: Vec<usize> = slowest.into_all().collect();
        all.sort();
        assert_eq!(all, [1, 3]);
        let mut none = Slowest::new(0);
        none.add(Nanos(1), || ());
        assert!(none.is_empty());
    }
}
