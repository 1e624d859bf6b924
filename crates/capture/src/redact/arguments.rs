//! Redacts the arguments of system calls. The kernel records six registers, however few a call takes: unused ones hold old values,
//! and a C library copies texts through registers (`/usr/bin/pgrep` was found in the sixth argument of an `execve`, which takes three).
//!
//! Arguments that identify a file and the operation are kept: descriptors, flags and commands, as small numbers in the first three
//! arguments. Addresses, lengths and all later arguments are cleared.

use trace::tracedat::Order;

/// Number of arguments that may be kept.
const KEPT: usize = 3;
/// Limit for small numbers: above descriptors (`/proc/sys/fs/nr_open` is 2^20), flags of `open`, and the descriptor commands of `fcntl` and `ioctl`.
const LARGEST: u64 = 1 << 24;
/// Small negative numbers in 32 or 64 bits, for example `AT_FDCWD`.
const NEGATIVE: [std::ops::RangeInclusive<u64>; 2] = [0xffff_f000..=0xffff_ffff, u64::MAX - 0xfff..=u64::MAX];
/// A number with at least this many ASCII characters may be text.
const LETTERS: usize = 3;

/// Clears every argument that is not a small number. `long` is the size of an argument in bytes.
pub fn numbers_only(words: &mut [u8], order: Order, long: usize) {
    for (n, word) in words.chunks_mut(long.max(1)).enumerate() {
        let value = order.uint(word, 0, word.len()).unwrap_or(u64::MAX / 2);
        let small = value < LARGEST && !is_text(value) || NEGATIVE.iter().any(|range| range.contains(&value));
        if n >= KEPT || !small {
            word.fill(0);
        }
    }
}

/// Whether the bytes of a number may be text: printable characters, then zeros.
fn is_text(value: u64) -> bool {
    let bytes = value.to_le_bytes();
    let letters = bytes.iter().take_while(|b| b.is_ascii_graphic()).count();
    letters >= LETTERS && bytes[letters..].iter().all(|b| *b == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(words: [u64; 6]) -> [u64; 6] {
        let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        numbers_only(&mut bytes, Order::Little, 8);
        std::array::from_fn(|n| Order::Little.uint(&bytes, n * 8, 8).unwrap())
    }

    #[test]
    fn descriptors_and_flags_stay_and_texts_go() {
        let cwd = -100i64 as u64;
        assert_eq!(kept([cwd, 0x7f3d_c9a2_1c68, 0o2000000, 0o644, 7, 7]), [cwd, 0, 0o2000000, 0, 0, 0]);
        assert_eq!(kept([3, 0xffff_ffff, 0x5451, 0, 0, 0]), [3, 0xffff_ffff, 0x5451, 0, 0, 0]);
        let text = |t: &[u8; 8]| u64::from_le_bytes(*t);
        assert_eq!(
            kept([text(b"n/pgrep\0"), text(b"cat\0\0\0\0\0"), text(b"dd\0\0\0\0\0\0"), 0, 0, 0])[..2],
            [0, 0]
        );
    }
}
