//! How the device's time for a request grows with the bytes that are already in it.
//!
//! If requests are of one size, their number shows the same ([`ByDepth`](crate::ByDepth)). If not, the number misleads: a device whose
//! capacity is counted in pages holds many small requests or a few large ones, and many small ones are not more to transfer. So requests
//! of about the same size are compared: those that met few bytes in the device, and those that met many.
//!
//! Example: reads of 4 KiB that met up to 64 KiB in the device took 0.3 ms, those that met 512 KiB to 1 MiB took 2 ms: the device
//! transfers about 500 MB a second, and that is what they wait for. If they also took 0.3 ms, it could transfer more.

use crate::note::Note;
use trace::{Bytes, Nanos};

/// Upper end of the smallest class of sizes, and of bytes in the device (above none).
const UNIT: u64 = 4096;

/// Number of size classes, in powers of two. The last one has all larger sizes.
const SIZES: usize = 12;

/// Number of classes of bytes in the device: none, then powers of two from [`UNIT`] on. The last one has all larger ones.
const AHEAD: usize = 16;

/// Smallest number of requests that is compared. Fewer are chance.
const LEAST: u64 = 25;

#[derive(Clone, Copy, Debug, Default)]
struct Requests {
    count: u64,
    time: Nanos,
}

/// Requests by their size and by the bytes that were in the device.
#[derive(Clone, Debug, Default)]
pub struct ByBytes {
    rows: [[Requests; AHEAD]; SIZES],
}

/// Latency of requests of like size with few and with many bytes in the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BytesGrowth {
    /// Number of requests with many bytes in the device.
    pub count: u64,
    /// Their mean `D2C`.
    pub many: Nanos,
    /// Mean `D2C` of like requests with few bytes in the device: at most half as many, their own included.
    pub few: Nanos,
}

impl ByBytes {
    /// Adds a request that was in the device for `d2c`.
    #[inline]
    pub(crate) fn record(&mut self, n: &Note, d2c: Nanos) {
        let row = &mut self.rows[size(n.bytes)][ahead(n.beside_bytes)];
        row.count += 1;
        row.time += d2c;
    }

    /// Compares requests that met the fewest bytes with those that met at least twice as many and took the most time, for each size.
    pub fn growth(&self) -> Option<BytesGrowth> {
        let (mut count, mut took, mut would_have) = (0u64, 0f64, 0f64);
        for (size, row) in self.rows.iter().enumerate() {
            let mut enough = row.iter().enumerate().filter(|(_, r)| r.count >= LEAST);
            let Some((few_at, few)) = enough.next() else { continue };
            // All bytes to be transferred until one of them is done, its own included.
            let own = UNIT << size;
            let twice = |at: usize| most(at - 1) + own >= 2 * (most(few_at) + own);
            let Some((_, many)) = enough.filter(|(at, _)| twice(*at)).max_by_key(|(_, r)| r.time) else {
                continue;
            };
            count += many.count;
            took += many.time.0 as f64;
            would_have += few.time.0 as f64 / few.count as f64 * many.count as f64;
        }
        let mean = |sum: f64| Nanos((sum / count as f64) as u64);
        (count > 0).then(|| BytesGrowth { count, many: mean(took), few: mean(would_have) })
    }
}

/// Index of the size class: up to 4 KiB, up to 8 KiB, ...
fn size(bytes: Bytes) -> usize {
    power(bytes).min(SIZES - 1)
}

/// Index of the class of bytes in the device: none, up to 4 KiB, up to 8 KiB, ...
fn ahead(bytes: Bytes) -> usize {
    match bytes.0 {
        0 => 0,
        _ => (power(bytes) + 1).min(AHEAD - 1),
    }
}

/// The most bytes of a class.
fn most(ahead: usize) -> u64 {
    match ahead {
        0 => 0,
        at => UNIT << (at - 1),
    }
}

/// Exponent of the smallest power of two of [`UNIT`] that is at least `bytes`.
fn power(bytes: Bytes) -> usize {
    let units = bytes.0.div_ceil(UNIT).max(1).checked_next_power_of_two();
    units.map_or(usize::MAX - 1, |n| n.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::{Contention, Request};

    const KIB: u64 = 1 << 10;

    /// Adds `count` requests: their size in KiB, KiB in the device, and latency in us.
    fn tell(by: &mut ByBytes, n: u64, own: u64, beside: u64, us: u64) {
        let contention = Contention { beside_bytes: Bytes(beside * KIB), ..Contention::default() };
        let r = Request { bytes: Bytes(own * KIB), contention, ..Request::default() };
        (0..n).for_each(|_| by.record(&Note::of(&r, 0), Nanos(us * 1000)));
    }

    fn growth(by: &ByBytes) -> Option<(u64, u64, u64)> {
        by.growth().map(|g| (g.count, g.few.0 / 1000, g.many.0 / 1000))
    }

    #[test]
    fn like_is_compared_with_like() {
        let mut by = ByBytes::default();
        tell(&mut by, 100, 4, 0, 300);
        tell(&mut by, 300, 4, 1000, 2000);
        // Large ones alone take as long as small ones beside large ones: the device's time does not grow.
        tell(&mut by, 50, 1024, 0, 2000);
        assert_eq!(growth(&by), Some((300, 300, 2000)));
        tell(&mut by, 100, 1024, 4000, 8000);
        // 300 of 4 KiB and 100 of 1 MiB: (300 x 2 + 100 x 8) / 400, and (300 x 0.3 + 100 x 2) / 400.
        assert_eq!(growth(&by), Some((400, 725, 3500)));
    }

    #[test]
    fn too_few_or_not_twice_as_much_is_no_growth() {
        let mut by = ByBytes::default();
        tell(&mut by, LEAST, 64, 64, 300);
        tell(&mut by, LEAST - 1, 64, 2048, 900);
        assert_eq!(growth(&by), None);
        tell(&mut by, 1, 64, 2048, 900);
        assert_eq!(growth(&by), Some((LEAST, 300, 900)));
        let mut near = ByBytes::default();
        tell(&mut near, 100, 1024, 0, 300);
        tell(&mut near, 100, 1024, 1024, 900);
        // At least 512 KiB and its own MiB are not twice its own MiB.
        assert_eq!(growth(&near), None);
        tell(&mut near, 30, 1024, 1025, 900);
        assert_eq!(growth(&near), Some((30, 300, 900)));
    }

    #[test]
    fn any_size_has_a_place() {
        let mut by = ByBytes::default();
        for bytes in [0, 1, u64::MAX / KIB] {
            tell(&mut by, 1, bytes, bytes, 1);
        }
        assert_eq!(growth(&by), None);
        assert_eq!(
            (ahead(Bytes(0)), ahead(Bytes(1)), ahead(Bytes(4097)), ahead(Bytes(u64::MAX))),
            (0, 1, 2, 15)
        );
    }
}
