//! Converts the letters of the `rwbs` field to blktrace's category bits.
//!
//! The kernel writes the letters in a fixed order (kernel/trace/blktrace.c, blk_fill_rwbs); the meaning of `F` depends on
//! its position: `[F preflush] operation [F fua] [A read-ahead] [S sync] [M metadata] [U atomic]`, the
//! operation being `R`, `W`, `WZ` (write zeroes, newer kernels), `D`, `DE` (secure erase), `F` (a flush itself),
//! `ZA ZR ZRA ZF ZO ZC` (zones) or `N` (all others: write zeroes on older kernels, passthrough).
//!
//! ```text
//! FWFSM  preflush, write, FUA, sync, metadata       FF  a flush request
//! ```
//!
//! blktrace derives the direction from the operation's number (odd: write), so a flush counts as a read there
//! and here; in both cases it has no bytes.

use crate::event::Flags;

/// Category bits of a `rwbs` text. `data`: the event has sectors, which tells the two meanings of `N` apart.
#[inline]
pub fn flags(rwbs: &[u8], data: bool) -> Flags {
    let mut flags = Flags(0);
    let mut rest = rwbs;
    if let [b'F', next, ..] = rest {
        if matches!(next, b'R' | b'W' | b'D' | b'F' | b'N' | b'Z') {
            flags = Flags::FLUSH;
            rest = &rest[1..];
        }
    }
    let (operation, len) = operation(rest, data);
    flags = flags.with(operation);
    for letter in rest.get(len..).unwrap_or_default() {
        flags = flags.with(match letter {
            b'F' => Flags::FUA,
            b'A' => Flags::AHEAD,
            b'S' => Flags::SYNC,
            b'M' => Flags::META,
            _ => Flags(0),
        });
    }
    flags
}

/// The operation at the start, and its number of letters.
#[inline]
fn operation(letters: &[u8], data: bool) -> (Flags, usize) {
    let write = Flags::WRITE;
    match letters {
        [b'R', ..] => (Flags::READ, 1),
        [b'W', b'Z', ..] => (write, 2),
        [b'W', ..] => (write, 1),
        [b'D', b'E', ..] => (write.with(Flags::DISCARD), 2),
        [b'D', ..] => (write.with(Flags::DISCARD), 1),
        [b'F', ..] => (Flags::READ.with(Flags::FLUSH), 1),
        [b'Z', b'A', ..] => (write.with(Flags::ZONE_APPEND), 2),
        [b'Z', b'R', b'A', ..] => (write.with(Flags::ZONE_RESET_ALL), 3),
        [b'Z', b'R', ..] => (write.with(Flags::ZONE_RESET), 2),
        [b'Z', b'F', ..] => (Flags::READ.with(Flags::ZONE_FINISH), 2),
        [b'Z', b'O', ..] => (Flags::READ.with(Flags::ZONE_OPEN), 2),
        [b'Z', b'C', ..] => (write.with(Flags::ZONE_CLOSE), 2),
        [b'N', ..] if data => (write, 1),
        [b'N', ..] => (Flags::PASSTHROUGH, 1),
        _ => (Flags(0), 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_by_their_place() {
        let (r, w, f) = (Flags::READ, Flags::WRITE, Flags::FLUSH);
        let all = [
            ("R", r),
            ("RA", r.with(Flags::AHEAD)),
            ("WS", w.with(Flags::SYNC)),
            ("FWFSM", f.with(w).with(Flags::FUA).with(Flags::SYNC).with(Flags::META)),
            ("FF", f.with(r)),
            ("F", f.with(r)),
            ("FS", f.with(r).with(Flags::SYNC)),
            ("WFS", w.with(Flags::FUA).with(Flags::SYNC)),
            ("D", w.with(Flags::DISCARD)),
            ("DES", w.with(Flags::DISCARD).with(Flags::SYNC)),
            ("WZ", w),
            ("ZRA", w.with(Flags::ZONE_RESET_ALL)),
            ("ZAS", w.with(Flags::ZONE_APPEND).with(Flags::SYNC)),
            ("N", w),
            ("", Flags(0)),
            ("?", Flags(0)),
        ];
        for (letters, want) in all {
            assert_eq!(flags(letters.as_bytes(), true), want, "{letters}");
        }
        assert_eq!(flags(b"N", false), Flags::PASSTHROUGH);
    }
}
