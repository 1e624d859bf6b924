//! Values in the order in which they came, as a bounded row of blocks, for a block bootstrap.
//!
//! A block is a stretch of consecutive values, kept as their distribution. When the row is full, neighbours are merged
//! and blocks become twice as long: 1, 2, 4, ... values. So any number of values fits, and their correlation over time
//! is kept, at a coarser step.
//!
//! **Invariant**: all blocks but the last have the same length, a power of two; together they hold every value.
//!
//! ```text
//! MOST_BLOCKS = 4:   [5] [7] [6] [9]   and one more, 8:   [5 7] [6 9] [8]
//! ```

use crate::distribution::Distribution;
use crate::op_key::OpKey;
use life::{Bio, Class};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use trace::{DevId, Nanos};

/// Largest number of blocks in a row. A bootstrap over 64 and more has intervals hardly wider than one over any
/// number: Student's t is 2.00 there, against 1.96.
pub const MOST_BLOCKS: usize = 128;

/// A row of blocks, in the order of their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    length: u64,
    blocks: Vec<Distribution>,
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks { length: 1, blocks: Vec::new() }
    }
}

impl Blocks {
    /// Adds the next value.
    pub fn record(&mut self, value: u64) {
        match self.blocks.last_mut() {
            Some(last) if last.count() < self.length => return last.record(value),
            _ => {}
        }
        if self.blocks.len() == MOST_BLOCKS {
            *self = self.doubled();
            if self.blocks.last().is_some_and(|last| last.count() < self.length) {
                return self.record(value);
            }
        }
        let mut block = Distribution::new();
        block.record(value);
        self.blocks.push(block);
    }

    /// The same values in blocks twice as long.
    pub fn doubled(&self) -> Blocks {
        let pair = |pair: &[Distribution]| {
            let mut sum = pair[0].clone();
            pair.get(1).into_iter().for_each(|second| sum.merge(second));
            sum
        };
        Blocks { length: self.length * 2, blocks: self.blocks.chunks(2).map(pair).collect() }
    }

    /// The blocks, in order.
    pub fn each(&self) -> &[Distribution] {
        &self.blocks
    }

    /// Number of values in each block but the last.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The distribution of all values.
    pub fn all(&self) -> Distribution {
        let mut sum = Distribution::new();
        self.blocks.iter().for_each(|b| sum.merge(b));
        sum
    }
}

/// Phases of a bio that are kept in order, named as in [`Phases`](crate::Phases).
pub const PHASES_IN_ORDER: [&str; 4] = ["q2c", "q2g", "i2d", "d2c"];

/// Latencies kept in order: bios by device and class with their phases, operations by group.
#[derive(Clone, Debug, Default)]
pub struct InOrder {
    /// Bios by device and class, one row for each of [`PHASES_IN_ORDER`]. Only those that are asked about.
    pub bios: FxHashMap<(DevId, Class), [Blocks; PHASES_IN_ORDER.len()]>,
    /// Operations by kind, file system and device.
    pub operations: BTreeMap<OpKey, Blocks>,
    /// Number of values without a row, because there were too many rows.
    pub left_out: u64,
}

/// Largest number of rows of either kind; each takes up to about 500 KB.
const MOST_ROWS: usize = 128;

impl InOrder {
    /// Adds a completed bio.
    pub fn bio(&mut self, b: &Bio) {
        let key = (b.dev, b.class());
        if self.bios.len() >= MOST_ROWS && !self.bios.contains_key(&key) {
            self.left_out += 1;
            return;
        }
        let rows = self.bios.entry(key).or_default();
        let times = [b.time.q2c(), b.time.q2g(), b.time.i2d(), b.time.d2c()];
        for (row, time) in rows.iter_mut().zip(times) {
            if let Some(time) = time {
                row.record(time.0);
            }
        }
    }

    /// Adds a completed operation.
    pub fn operation(&mut self, key: OpKey, total: Nanos) {
        if self.operations.len() >= MOST_ROWS && !self.operations.contains_key(&key) {
            self.left_out += 1;
            return;
        }
        self.operations.entry(key).or_default().record(total.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_value_is_lost_and_all_blocks_but_the_last_are_full(values in prop::collection::vec(0u64..1 << 40, 0..2000)) {
            let mut blocks = Blocks::default();
            values.iter().for_each(|v| blocks.record(*v));
            prop_assert_eq!(blocks.all(), values.iter().copied().collect::<Distribution>());
            prop_assert!(blocks.each().len() <= MOST_BLOCKS);
            let full = blocks.each().iter().rev().skip(1).all(|b| b.count() == blocks.length());
            prop_assert!(full);
            // The first block holds the first values.
            let first: Distribution = values.iter().copied().take(blocks.length() as usize).collect();
            prop_assert_eq!(blocks.each().first().cloned().unwrap_or_default(), first);
        }
    }
}
