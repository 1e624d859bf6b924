//! Measures how much of what a device reads was read before: what no cache in front of it kept.
//!
//! At most [`MOST`] blocks of 4 KiB are remembered for each device, however much it reads. If there are more, those of
//! every other hash (of 64 KiB) are forgotten, and each of the rest stands for twice as many.
//!
//! Example: files of 200 MiB that are read repeatedly, with 48 MiB of cache: after the first round everything was read before.

use crate::alignment::BLOCK;
use rustc_hash::FxHashSet;
use trace::{Bytes, Sector};

/// Largest number of blocks remembered. They fit into a CPU's cache (with a larger table a recording of small reads
/// took a tenth longer in total), and give a share to 1/100 (1 / sqrt(n)).
const MOST: usize = 1 << 13;
/// Number of blocks that are remembered or forgotten together: most reads need one lookup.
const TOGETHER: u64 = 16;
/// Largest number of blocks of a read that count: 64 MiB, more than any driver takes at once.
const LARGEST: u64 = 1 << 14;
/// Spreads successive block numbers over all hashes (Knuth, The Art of Computer Programming 3, 6.4: 2^64 by the golden ratio).
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Blocks that one device read.
#[derive(Clone, Debug, Default)]
pub struct Reread {
    seen: FxHashSet<u64>,
    /// One in 2^`rarity` groups of blocks is remembered.
    rarity: u32,
    all: u64,
    again: u64,
}

impl Reread {
    /// Adds a read. Not inlined: the function that counts requests is large enough.
    #[inline(never)]
    pub(crate) fn record(&mut self, start: Sector, bytes: Bytes) {
        const SECTORS: u64 = BLOCK.0 / 512;
        let (first, end) = (start.0 / SECTORS, start.after(bytes).0.div_ceil(SECTORS));
        let end = end.min(first.saturating_add(LARGEST));
        let mut block = first;
        while block < end {
            let behind = (block | (TOGETHER - 1)).saturating_add(1).min(end);
            if is_chosen(block, self.rarity) {
                (block..behind).for_each(|block| self.block(block));
            }
            block = behind;
        }
    }

    fn block(&mut self, block: u64) {
        let stands_for = 1u64 << self.rarity;
        self.all += stands_for;
        match self.seen.insert(block) {
            true if self.seen.len() > MOST => {
                self.rarity += 1;
                let rarity = self.rarity;
                self.seen.retain(|block| is_chosen(*block, rarity));
            }
            true => {}
            false => self.again += stands_for,
        }
    }

    /// Bytes that were read, and bytes of these that had been read before, in whole blocks.
    pub fn bytes(&self) -> [Bytes; 2] {
        [self.all, self.again].map(|blocks| Bytes(blocks.saturating_mul(BLOCK.0)))
    }
}

/// Whether the first `rarity` bits of the hash of the block's group are 0.
#[inline]
fn is_chosen(block: u64, rarity: u32) -> bool {
    (block / TOGETHER).wrapping_mul(SPREAD).leading_zeros() >= rarity
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(reads: impl Iterator<Item = (u64, u64)>) -> [u64; 2] {
        let mut reread = Reread::default();
        reads.for_each(|(start, bytes)| reread.record(Sector(start), Bytes(bytes)));
        assert!(reread.seen.len() <= MOST);
        reread.bytes().map(|bytes| bytes.0)
    }

    #[test]
    fn what_is_read_again_counts_block_by_block() {
        // Two blocks, then the second of them with the one after it, then a sector of the first.
        assert_eq!(after([(0, 8192), (8, 8192), (1, 512)].into_iter()), [5 * 4096, 2 * 4096]);
        assert_eq!(after([(0, 0)].into_iter()), [0, 0]);
    }

    #[test]
    fn more_than_can_be_remembered_is_estimated() {
        // 4 GiB once, and then the first quarter of it again.
        let blocks = 1 << 20;
        let [all, again] = after((0..blocks).chain(0..blocks / 4).map(|block| (8 * block, 4096)));
        let near = |value: u64, truth: u64| (value as f64 / truth as f64 - 1.0).abs() < 0.05;
        assert!(near(all, 5 << 30) && near(again, 1 << 30), "{all} {again}");
    }
}
