//! Writes numbers and words into a byte buffer, padded, without `std::fmt` (which costs five times as
//! much per event).

/// The minimal width of a field, and its alignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Width {
    /// Minimal number of characters; a longer text is not cut.
    pub min: u16,
    /// Whether the text is left-aligned.
    pub left: bool,
}

impl Width {
    /// Right-aligned, at least `min` wide.
    pub const fn right(min: u16) -> Width {
        Width { min, left: false }
    }

    /// Left-aligned, at least `min` wide.
    pub const fn left(min: u16) -> Width {
        Width { min, left: true }
    }
}

const BLANKS: [u8; 64] = [b' '; 64];
const ZEROS: [u8; 64] = [b'0'; 64];

fn fill(out: &mut Vec<u8>, with: &[u8; 64], mut count: usize) {
    while count > 0 {
        let step = count.min(with.len());
        out.extend_from_slice(&with[..step]);
        count -= step;
    }
}

/// Bytes of a cell: the longest number has 20 digits, and padding up to this width costs nothing.
const CELL: usize = 24;

/// `00`, `01`, ... `99`.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut n = 0;
    while n < 100 {
        pairs[n] = [b'0' + (n / 10) as u8, b'0' + (n % 10) as u8];
        n += 1;
    }
    pairs
};

/// Appends a number padded to `min` columns, at most a cell. A whole cell of padding is appended (a copy of
/// fixed length is a few instructions, one of any length a call), the digits are written over it, and the
/// excess is cut off.
#[inline]
fn cell(out: &mut Vec<u8>, mut n: u64, padding: u8, min: usize) {
    let digits = if n < 10 { 1 } else { n.ilog10() as usize + 1 };
    let mut at = digits.max(min);
    let start = out.len();
    let end = start + at;
    out.extend_from_slice(&[padding; CELL]);
    let cell: &mut [u8; CELL] = (&mut out[start..start + CELL]).try_into().expect("a cell");
    while n >= 100 {
        at -= 2;
        [cell[at], cell[at + 1]] = PAIRS[(n % 100) as usize];
        n /= 100;
    }
    if n >= 10 {
        [cell[at - 2], cell[at - 1]] = PAIRS[n as usize];
    } else {
        cell[at - 1] = b'0' + n as u8;
    }
    out.truncate(end);
}

/// Appends a word, padded with blanks.
#[inline]
pub fn word(out: &mut Vec<u8>, text: &[u8], width: Width) {
    let missing = (width.min as usize).saturating_sub(text.len());
    if missing == 0 {
        out.extend_from_slice(text);
    } else if width.left {
        out.extend_from_slice(text);
        fill(out, &BLANKS, missing);
    } else {
        fill(out, &BLANKS, missing);
        out.extend_from_slice(text);
    }
}

/// Appends a number, padded with blanks.
#[inline]
pub fn number(out: &mut Vec<u8>, n: u64, width: Width) {
    let min = width.min as usize;
    if width.left {
        let start = out.len();
        cell(out, n, b' ', 0);
        fill(out, &BLANKS, (start + min).saturating_sub(out.len()));
    } else {
        fill(out, &BLANKS, min.saturating_sub(CELL));
        cell(out, n, b' ', min.min(CELL));
    }
}

/// Appends a number without padding.
#[inline]
pub fn plain(out: &mut Vec<u8>, n: u64) {
    cell(out, n, b' ', 0);
}

/// Appends a number with zeros before it, at least `min` wide.
#[inline]
pub fn zero_padded(out: &mut Vec<u8>, n: u64, min: u16) {
    let min = min as usize;
    fill(out, &ZEROS, min.saturating_sub(CELL));
    cell(out, n, b'0', min.min(CELL));
}

/// Appends a text that any process may have chosen: control characters, which could control a terminal or break
/// a line, become `?`. So do both bytes of those above ASCII (U+0080 to U+009F in UTF-8): `C2 9B`
/// alone begins an escape sequence.
#[inline]
pub fn foreign(out: &mut Vec<u8>, text: &[u8]) {
    let start = out.len();
    out.extend_from_slice(text);
    for c in &mut out[start..] {
        if c.is_ascii_control() && *c != b'\t' {
            *c = b'?';
        }
    }
    let mut rest = &mut out[start..];
    while let Some(at) = rest.iter().position(|c| *c == 0xC2) {
        if matches!(rest.get(at + 1), Some(0x80..=0x9F)) {
            rest[at..at + 2].fill(b'?');
        }
        rest = &mut rest[at + 1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(f: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        f(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_as_std_prints_them() {
        for n in [0, 1, 9, 10, 99, 100, 12345, 1 << 32, u64::MAX] {
            assert_eq!(made(|o| plain(o, n)), n.to_string());
            assert_eq!(made(|o| number(o, n, Width::right(12))), format!("{n:>12}"));
            assert_eq!(made(|o| number(o, n, Width::left(12))), format!("{n:<12}"));
            assert_eq!(made(|o| zero_padded(o, n, 9)), format!("{n:09}"));
        }
        assert_eq!(made(|o| number(o, 7, Width::right(200))).len(), 200);
    }

    #[test]
    fn foreign_text_cannot_steer_a_terminal() {
        assert_eq!(made(|o| foreign(o, b"a\x1b[2J\n\tb")), "a?[2J?\tb");
        assert_eq!(made(|o| foreign(o, "\u{9b}2J \u{c2}\u{a9}".as_bytes())), "??2J \u{c2}\u{a9}");
    }
}
