//! Numbers and words into a byte buffer, padded, without going through `std::fmt` (which costs five times as
//! much per event).

/// How wide a field is at least, and on which side it is filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Width {
    /// At least so many characters; a longer text is not cut.
    pub min: u16,
    /// Whether the text stands at the left of it.
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

/// The decimal digits of a number, at the end of the array.
struct Digits {
    text: [u8; 20],
    start: usize,
}

impl Digits {
    #[inline]
    fn new(mut n: u64) -> Digits {
        let mut d = Digits { text: [b'0'; 20], start: 20 };
        loop {
            d.start -= 1;
            d.text[d.start] = b'0' + (n % 10) as u8;
            n /= 10;
            if n == 0 {
                return d;
            }
        }
    }

    #[inline]
    fn as_bytes(&self) -> &[u8] {
        &self.text[self.start..]
    }
}

/// Appends a word.
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

/// Appends a number.
#[inline]
pub fn number(out: &mut Vec<u8>, n: u64, width: Width) {
    word(out, Digits::new(n).as_bytes(), width);
}

/// Appends a number without padding.
#[inline]
pub fn plain(out: &mut Vec<u8>, n: u64) {
    out.extend_from_slice(Digits::new(n).as_bytes());
}

/// Appends a number with zeros before it, at least `min` wide.
#[inline]
pub fn zero_padded(out: &mut Vec<u8>, n: u64, min: u16) {
    let digits = Digits::new(n);
    fill(out, &ZEROS, (min as usize).saturating_sub(digits.as_bytes().len()));
    out.extend_from_slice(digits.as_bytes());
}

/// Appends a text that any process may have chosen: control characters, which could steer a terminal or break
/// a line in two, become `?`.
#[inline]
pub fn foreign(out: &mut Vec<u8>, text: &[u8]) {
    let start = out.len();
    out.extend_from_slice(text);
    for c in &mut out[start..] {
        if c.is_ascii_control() && *c != b'\t' {
            *c = b'?';
        }
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
    }
}
