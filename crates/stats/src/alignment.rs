//! Writes of whole blocks of 4 KiB, and others: how much longer the device takes for those.
//!
//! A disk with physical sectors of 4 KiB that lets itself be addressed by 512 bytes reads a sector before it writes a part of it;
//! flash has pages of 4 KiB or more. A write that begins or ends within a block costs it a read more. Compared is like with
//! like: writes of about the same size that met about as many others in the device; or, where no whole ones met so few, more: they
//! took no less for that.
//!
//! Example: writes of 4 KiB with nothing else in flight: 400 at multiples of 4 KiB took 1 ms each, 100 others 9 ms.
//! Of the time of those others 8 of 9 parts are the price of their place.

use crate::note::Note;
use life::Op;
use trace::{Bytes, Flags, Nanos, Sector};

/// The physical sector of "advanced format" disks (IDEMA LBA Counts and Long Data Sector; T13 ACS-3, word 106), the page of most flash.
pub const BLOCK: Bytes = Bytes(4096);

/// Sizes in powers of two from [`BLOCK`] on; larger ones are taken together.
const SIZES: usize = 10;

/// Others in the device: none, 1, 2 to 3, ...; 64 and more are taken together.
const DEPTHS: usize = 8;

/// Fewer than this of either are chance.
const LEAST: u64 = 25;

/// Whether it writes a part of a block.
#[inline]
pub fn unaligned(op: Op, start: Sector, bytes: Bytes) -> bool {
    const SECTORS: u64 = BLOCK.0 / 512;
    op == Op::Write && bytes.0 > 0 && (start.0 % SECTORS != 0 || bytes.0 % BLOCK.0 != 0)
}

#[derive(Clone, Copy, Debug, Default)]
struct Writes {
    count: u64,
    time: Nanos,
}

/// The writes of one device.
#[derive(Clone, Debug, Default)]
pub struct Alignment {
    /// Of those that are not whole blocks, those of whole blocks' length: only their place is wrong.
    misplaced: u64,
    /// By size, by others in the device, whole blocks and others.
    rows: [[[Writes; 2]; DEPTHS]; SIZES],
}

/// How those that write parts of blocks fared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unaligned {
    /// How many there were.
    pub count: u64,
    /// Those among them whose length is whole blocks: a partition that begins within a block makes all of them so.
    pub misplaced: u64,
    /// Writes of whole blocks.
    pub aligned: u64,
    /// Of those beside which there were enough others of whole blocks: the mean `D2C`, and that of the others.
    pub took: Option<(Nanos, Nanos)>,
}

impl Alignment {
    /// Adds a request that was in the device for `d2c`. Those that are flushed through take longer for that and do not count.
    #[inline]
    pub(crate) fn record(&mut self, n: &Note, d2c: Nanos) {
        if n.op != Op::Write || n.bytes.0 == 0 || n.flags.has(Flags::FUA) || n.flags.has(Flags::FLUSH) {
            return;
        }
        let size = (n.bytes.0.div_ceil(BLOCK.0).next_power_of_two().trailing_zeros() as usize).min(SIZES - 1);
        let depth = (64 - n.ahead().leading_zeros() as usize).min(DEPTHS - 1);
        let is_part = unaligned(n.op, n.start, n.bytes);
        self.misplaced += u64::from(is_part && n.bytes.0 % BLOCK.0 == 0);
        let writes = &mut self.rows[size][depth][is_part as usize];
        writes.count += 1;
        writes.time += d2c;
    }

    /// Compares them.
    pub fn compare(&self) -> Unaligned {
        let (mut out, mut compared) =
            (Unaligned { count: 0, misplaced: self.misplaced, aligned: 0, took: None }, 0u64);
        let (mut took, mut would_have) = (0f64, 0f64);
        for row in &self.rows {
            for (depth, [whole, part]) in row.iter().enumerate() {
                out.aligned += whole.count;
                out.count += part.count;
                let like = row[depth..].iter().map(|[whole, _]| whole).find(|whole| whole.count >= LEAST);
                let Some(whole) = like.filter(|_| part.count >= LEAST) else { continue };
                compared += part.count;
                took += part.time.0 as f64;
                would_have += whole.time.0 as f64 / whole.count as f64 * part.count as f64;
            }
        }
        if compared > 0 {
            let mean = |sum: f64| Nanos((sum / compared as f64) as u64);
            out.took = Some((mean(took), mean(would_have)));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::{Contention, Request};

    fn write(start: u64, bytes: u64, ahead: u32, flags: Flags) -> Note {
        let r = Request {
            op: Op::Write,
            start: Sector(start),
            bytes: Bytes(bytes),
            flags: Flags::WRITE.with(flags),
            contention: Contention { beside: [ahead, 0, 0, 0, 0], ..Contention::default() },
            ..Request::default()
        };
        Note::of(&r, 0)
    }

    #[test]
    fn parts_of_blocks() {
        for (start, bytes, is) in [
            (0, 4096, false),
            (8, 8192, false),
            (1, 4096, true),
            (8, 512, true),
            (8, 6144, true),
            (8, 0, false),
        ] {
            assert_eq!(unaligned(Op::Write, Sector(start), Bytes(bytes)), is, "{start} {bytes}");
        }
        assert!(!unaligned(Op::Read, Sector(1), Bytes(512)));
    }

    #[test]
    fn like_is_compared_with_like() {
        let mut a = Alignment::default();
        for _ in 0..25 {
            a.record(&write(8, 4096, 0, Flags::SYNC), Nanos(1000));
            a.record(&write(9, 3584, 0, Flags::SYNC), Nanos(9000));
            // Elsewhere in size and in depth: nothing to compare with.
            a.record(&write(9, 1 << 20, 0, Flags::SYNC), Nanos(50_000));
            a.record(&write(9, 4096, 4, Flags::SYNC), Nanos(70_000));
            // Flushed through, and for that reason slow.
            a.record(&write(9, 4096, 0, Flags::FUA), Nanos(90_000));
        }
        assert_eq!(
            a.compare(),
            Unaligned { count: 75, misplaced: 50, aligned: 25, took: Some((Nanos(9000), Nanos(1000))) }
        );
    }

    #[test]
    fn whole_ones_beside_more_others_are_like_enough() {
        let mut a = Alignment::default();
        for _ in 0..25 {
            a.record(&write(9, 4096, 0, Flags::SYNC), Nanos(9000));
            a.record(&write(8, 4096, 4, Flags::SYNC), Nanos(3000));
            a.record(&write(8, 4096, 9, Flags::SYNC), Nanos(5000));
            // Beside fewer: may be faster for that.
            a.record(&write(9, 4096, 60, Flags::SYNC), Nanos(50_000));
        }
        assert_eq!(
            a.compare(),
            Unaligned { count: 50, misplaced: 50, aligned: 50, took: Some((Nanos(9000), Nanos(3000))) }
        );
    }

    #[test]
    fn a_few_are_chance() {
        let mut a = Alignment::default();
        for i in 0..49 {
            a.record(&write(8 + i % 2, 4096, 0, Flags::SYNC), Nanos(1000));
        }
        // 25 and 24.
        assert_eq!(a.compare().took, None);
        a.record(&write(9, 4096, 0, Flags::SYNC), Nanos(1000));
        assert_eq!(a.compare().took, Some((Nanos(1000), Nanos(1000))));
    }
}
