//! Splits the requests of a load that exceed a maximal size: `bio_split_rw` in block/blk-merge.c of Linux 6.18.
//!
//! Larger requests are cut from the front into pieces of the maximal size and a rest; each piece waits for its own
//! tag, right after the one before. The I/O is done when all pieces are. Recorded requests are treated as I/Os: what the
//! kernel had split when it was recorded, or had merged in a task's plug, is not restored.
//!
//! **Invariant**: the same bytes at the same places, none larger than allowed.

use super::{Item, Load, Stream, Wait};

impl Load {
    /// The load without requests larger than `largest` bytes.
    pub fn split(&self, largest: u32) -> Load {
        let largest = (largest / 512).max(1) * 512;
        let streams = self.streams.iter().map(|s| split(s, largest)).collect();
        Load { streams, ..*self }
    }
}

fn split(of: &Stream, largest: u32) -> Stream {
    let pieces = |i: &Item| i.bytes.div_ceil(largest).max(1);
    // Depths count I/Os; in the simulation they count pieces.
    let all: u64 = of.items.iter().map(|i| u64::from(pieces(i))).sum();
    let each = all.div_ceil(of.items.len().max(1) as u64) as u32;
    let mut items = Vec::with_capacity(all as usize);
    for i in &of.items {
        for n in 0..pieces(i) {
            let from = n * largest;
            let wait = match i.wait {
                _ if n > 0 => Wait::Got,
                Wait::Below(depth) => Wait::Below((depth - 1) * each + 1),
                Wait::Got => Wait::Got,
            };
            items.push(Item {
                wait,
                gap: if n == 0 { i.gap } else { 0 },
                sector: i.sector + u64::from(from / 512),
                bytes: (i.bytes - from).min(largest),
                preflush: i.preflush && n == 0,
                postflush: i.postflush,
                ..*i
            });
        }
    }
    Stream { items, name: of.name.clone(), support: of.support.clone(), ..*of }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Kind;

    #[test]
    fn pieces_from_the_front_and_a_rest() {
        let item = Item {
            wait: Wait::Below(2),
            gap: 7,
            sector: 100,
            bytes: 10 << 10,
            write: false,
            sync: true,
            class: 0,
            preflush: false,
            postflush: false,
        };
        let stream = Stream {
            name: String::new(),
            kind: Kind::Closed { depth: 2 },
            first: 0,
            items: vec![item, Item { bytes: 4096, sector: 8, ..item }],
            goes_on: true,
            waits_for_tags: false,
            support: String::new(),
        };
        let load = Load { streams: vec![stream], span: 1, overhead: 0 }.split(4096);
        let told: Vec<_> = load.streams[0].items.iter().map(|i| (i.sector, i.bytes, i.gap, i.wait)).collect();
        // Two I/Os of four pieces in all: two per I/O, so fewer than two I/Os in flight means fewer than three pieces.
        assert_eq!(
            told,
            [
                (100, 4096, 7, Wait::Below(3)),
                (108, 4096, 0, Wait::Got),
                (116, 2048, 0, Wait::Got),
                (8, 4096, 7, Wait::Below(3)),
            ]
        );
    }
}
