//! Converts between flags and the column of letters for the kind of I/O (`%d`, "RWBS").
//!
//! In order: `F` flush first, then one of `R` read, `W` write, `D` discard, `N` none of them (or a zone
//! operation: `ZA` append, `ZR` reset, `ZRA` reset all, `ZF` finish, `ZO` open, `ZC` close), then `F` forced
//! to the medium (FUA), `A` read-ahead, `S` a task waits, `M` metadata.
//!
//! Example: `FWFSM` is a metadata write with a flush before it and FUA.

use crate::event::Flags;
use units::Bytes;

/// The letters of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rwbs {
    letters: [u8; Rwbs::MAX],
    len: u8,
}

/// Zone operations and their letters; the longer names come first so that they match first.
const ZONE: [(&[u8], Flags); 6] = [
    (b"ZRA", Flags::ZONE_RESET_ALL),
    (b"ZA", Flags::ZONE_APPEND),
    (b"ZR", Flags::ZONE_RESET),
    (b"ZF", Flags::ZONE_FINISH),
    (b"ZO", Flags::ZONE_OPEN),
    (b"ZC", Flags::ZONE_CLOSE),
];

/// The letters after the direction, in their fixed order.
const MODIFIERS: [(u8, Flags); 4] =
    [(b'F', Flags::FUA), (b'A', Flags::AHEAD), (b'S', Flags::SYNC), (b'M', Flags::META)];

impl Rwbs {
    /// Most letters: `F`, a zone operation of three letters, four modifiers.
    const MAX: usize = 8;

    /// The letters for a kind of I/O. A read of no bytes is `N`, as in blkparse: a flush without
    /// data looks like one.
    #[inline]
    pub fn new(flags: Flags, bytes: Bytes) -> Rwbs {
        let mut r = Rwbs { letters: [0; Rwbs::MAX], len: 0 };
        if flags.has(Flags::FLUSH) {
            r.push(b'F');
        }
        if flags.0 >> 16 != 0 && r.push_zone(flags) {
        } else if flags.has(Flags::DISCARD) {
            r.push(b'D');
        } else if flags.has(Flags::WRITE) {
            r.push(b'W');
        } else if bytes.0 > 0 {
            r.push(b'R');
        } else {
            r.push(b'N');
        }
        for (letter, flag) in MODIFIERS {
            if flags.has(flag) {
                r.push(letter);
            }
        }
        r
    }

    fn push(&mut self, letter: u8) {
        self.letters[self.len as usize] = letter;
        self.len += 1;
    }

    #[cold]
    fn push_zone(&mut self, flags: Flags) -> bool {
        let found = ZONE.iter().find(|(_, f)| flags.has(*f));
        for &letter in found.map_or(&b""[..], |(letters, _)| letters) {
            self.push(letter);
        }
        found.is_some()
    }

    /// The letters as text.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.letters[..self.len as usize]
    }

    /// The flags for these letters; `None` if the text is invalid. `B` is what blkparse before 2011
    /// wrote for a barrier, the flush of that time.
    pub fn parse(text: &[u8]) -> Option<Flags> {
        let (mut flags, rest) = match text {
            [b'F', rest @ ..] => (Flags::FLUSH, rest),
            _ => (Flags(0), text),
        };
        let (direction, mut rest) = match rest {
            [b'R', rest @ ..] => (Flags::READ, rest),
            [b'W', rest @ ..] => (Flags::WRITE, rest),
            [b'D', rest @ ..] => (Flags::DISCARD.with(Flags::WRITE), rest),
            [b'N', rest @ ..] => (Flags(0), rest),
            _ => ZONE.iter().find_map(|(name, flag)| Some((*flag, rest.strip_prefix(*name)?)))?,
        };
        flags = flags.with(direction);
        if let [b'B', more @ ..] = rest {
            flags = flags.with(Flags::FLUSH);
            rest = more;
        }
        for (letter, flag) in MODIFIERS {
            if rest.first() == Some(&letter) {
                flags = flags.with(flag);
                rest = &rest[1..];
            }
        }
        rest.is_empty().then_some(flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(flags: Flags, bytes: u64) -> String {
        String::from_utf8(Rwbs::new(flags, Bytes(bytes)).as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn letters_in_blkparse_order() {
        let w = Flags::WRITE;
        assert_eq!(letters(Flags::READ, 512), "R");
        assert_eq!(letters(Flags::READ, 0), "N");
        assert_eq!(letters(Flags::FLUSH, 0), "FN");
        assert_eq!(letters(w.with(Flags::DISCARD).with(Flags::SYNC), 512), "DS");
        let all =
            w.with(Flags::FLUSH).with(Flags::FUA).with(Flags::AHEAD).with(Flags::SYNC).with(Flags::META);
        assert_eq!(letters(all, 512), "FWFASM");
        assert_eq!(letters(w.with(Flags::ZONE_RESET_ALL), 0), "ZRA");
    }

    #[test]
    fn letters_and_flags_are_inverse() {
        let shown = [
            Flags::WRITE,
            Flags::FLUSH,
            Flags::SYNC,
            Flags::AHEAD,
            Flags::META,
            Flags::FUA,
            Flags::DISCARD.with(Flags::WRITE),
        ];
        for set in 0..1 << shown.len() {
            let flags =
                (0..shown.len()).filter(|i| set >> i & 1 == 1).fold(Flags(0), |all, i| all.with(shown[i]));
            let text = Rwbs::new(flags, Bytes(0));
            assert_eq!(Rwbs::parse(text.as_bytes()), Some(flags), "{text:?}");
        }
    }

    #[test]
    fn other_words_are_refused() {
        for word in ["", "F", "X", "WQ", "RR", "WSF", "Z", "NN", "write"] {
            assert_eq!(Rwbs::parse(word.as_bytes()), None, "{word}");
        }
    }
}
