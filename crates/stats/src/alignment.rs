//! Compares writes of whole 4 KiB blocks with other writes: how much longer the device takes for the latter.
//!
//! A disk with physical sectors of 4 KiB that accepts addresses in 512 bytes must read a sector before it writes part
//! of it; flash has pages of 4 KiB or more. A write that begins or ends within a block costs an additional read.
//! Writes of about the same size are compared that met about as many others in the device; or, if too few aligned ones
//! met so few, aligned ones that met more: that does not make them faster.
//!
//! Example: writes of 4 KiB with nothing else in flight: 400 at multiples of 4 KiB took 1 ms each, 100 others 9 ms.
//! 8/9 of the time of the others are due to their alignment.

use crate::note::Note;
use life::Op;
use trace::{Bytes, Flags, Nanos, Sector};

/// Physical sector of "advanced format" disks (IDEMA LBA Counts and Long Data Sector; T13 ACS-3, word 106), and page of most flash.
pub const BLOCK: Bytes = Bytes(4096);

/// Number of size classes, in powers of two from [`BLOCK`] on. The last one has all larger sizes.
const SIZES: usize = 10;

/// Number of classes of others in the device: none, 1, 2 to 3, ...; the last one has 64 and more.
const DEPTHS: usize = 8;

/// Smallest number of writes that is compared. Fewer are chance.
const LEAST: u64 = 25;

/// Whether a write covers only part of some block.
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

/// The writes of one device, aligned and unaligned.
#[derive(Clone, Debug, Default)]
pub struct Alignment {
    /// Number of unaligned writes whose length is whole blocks: only their start is unaligned.
    misplaced: u64,
    /// By size, by others in the device, and by whether they are unaligned.
    rows: [[[Writes; 2]; DEPTHS]; SIZES],
}

/// How unaligned writes compare with aligned ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unaligned {
    /// Number of unaligned writes.
    pub count: u64,
    /// Number of these whose length is whole blocks. If a partition begins within a block, all of its writes are so.
    pub misplaced: u64,
    /// Number of aligned writes (whole blocks).
    pub aligned: u64,
    /// Mean `D2C` of the unaligned writes that could be compared, and of the aligned ones; `None` if none could be.
    pub took: Option<(Nanos, Nanos)>,
}

impl Alignment {
    /// Adds a request that was in the device for `d2c`. Writes with FUA or a flush take longer anyway and do not count.
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

    /// Compares unaligned writes with aligned ones.
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
            // Different size and different depth: nothing to compare with.
            a.record(&write(9, 1 << 20, 0, Flags::SYNC), Nanos(50_000));
            a.record(&write(9, 4096, 4, Flags::SYNC), Nanos(70_000));
            // Writes with FUA, which are slow for that reason.
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
            // With fewer others in the device: may be faster for that reason.
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
        // 25 and 24 writes.
        assert_eq!(a.compare().took, None);
        a.record(&write(9, 4096, 0, Flags::SYNC), Nanos(1000));
        assert_eq!(a.compare().took, Some((Nanos(1000), Nanos(1000))));
    }
}
