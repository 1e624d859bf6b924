//! The kernel's symbols in a recording, and the stacks that refer to them.
//!
//! The text is that of /proc/kallsyms: `ffffffff81000000 T _text`, followed by `[module]` for a module's symbol. An address
//! belongs to the last symbol at or before it. The very last symbol covers only its first byte, because its length
//! is unknown. Only code (t, T, w, W) is kept: data never occurs in a stack.

use super::bytes::Order;
use super::cursor::Record;
use super::format::{Formats, Slot};

/// A sorted table of positions in the unmodified text. A kernel has 200,000 symbols, a recording's stacks
/// refer to some hundred, and parsing all would take much of the time that a short recording needs.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// Addresses, each with the offset of its name in `text`.
    places: Vec<(u64, u32)>,
    text: Vec<u8>,
}

impl Symbols {
    /// Parses the text; invalid lines are left out.
    pub fn parse(text: Vec<u8>) -> Symbols {
        let (mut places, mut at) = (Vec::with_capacity(text.len() / BYTES_PER_SYMBOL), 0);
        let ends = memchr::memchr_iter(b'\n', &text).chain([text.len()]);
        for end in ends.take_while(|end| u32::try_from(*end).is_ok()) {
            if let Some((address, name)) = code(&text[at..end]) {
                places.push((address, (at + name) as u32));
            }
            at = end + 1;
        }
        // If one address has several names, the first in the file is kept, as in `trace-cmd report`.
        places.sort_by_key(|s| s.0);
        places.dedup_by_key(|s| s.0);
        Symbols { places, text }
    }

    /// Number of symbols.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no symbols.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The function that contains an address, and the offset of the address in it.
    pub fn find(&self, address: u64) -> Option<(&str, u64)> {
        let i = self.places.partition_point(|&(a, _)| a <= address).checked_sub(1)?;
        let (begins, name) = self.places[i];
        // The last symbol matches exactly, for work items: their function is given by its start address.
        if i + 1 == self.places.len() && address != begins {
            return None;
        }
        let name = self.text[name as usize..].split(u8::is_ascii_whitespace).next()?;
        Some((std::str::from_utf8(name).ok()?, address - begins))
    }
}

/// Text per kept symbol: a line of code in /proc/kallsyms has some 45 bytes, and every second line is code.
const BYTES_PER_SYMBOL: usize = 90;

/// The address in a line of code, and the offset of the name in the line. Example: `ffffffff81000000 T _text` is
/// (0xffffffff81000000, 19). Half of all lines are data and are rejected at their kind, to save time.
fn code(line: &[u8]) -> Option<(u64, usize)> {
    // A 64-bit address has 16 digits.
    let space = match line.get(16) {
        Some(b' ') => 16,
        _ => line.iter().position(|b| *b == b' ')?,
    };
    let (kind, name) = (line.get(space + 1)?, space + 3);
    if !matches!(kind, b't' | b'T' | b'w' | b'W') || line.get(space + 2) != Some(&b' ') {
        return None;
    }
    let is_name = line.get(name).is_some_and(|b| !b.is_ascii_whitespace());
    if space == 0 || space > 16 || !is_name {
        return None;
    }
    let mut value = 0u64;
    for digit in &line[..space] {
        let digit = HEX[usize::from(*digit)];
        if digit > 15 {
            return None;
        }
        value = value << 4 | u64::from(digit);
    }
    // Without the right to see addresses, all of them are 0.
    (value != 0).then_some((value, name))
}

/// The value of each byte as a hexadecimal digit; 255 if it is not one.
const HEX: [u8; 256] = {
    let mut table = [255; 256];
    let mut n = 0;
    while n < 16 {
        let lower = b"0123456789abcdef"[n];
        table[lower as usize] = n as u8;
        table[lower.to_ascii_uppercase() as usize] = n as u8;
        n += 1;
    }
    table
};

/// Location of kernel stacks: their event and its fields.
///
/// The format declares `caller[8]` on most kernels, but the record is longer: `size` gives the number of addresses.
#[derive(Clone, Copy, Debug)]
pub struct Stacks {
    /// The event, as an index into [`Formats::events`].
    pub index: usize,
    size: Slot,
    caller: Slot,
    /// Size in bytes of the kernel's long.
    word: usize,
}

impl Stacks {
    /// Finds the event; `long` is [`TraceDat::long`](super::TraceDat::long). `None` without it.
    pub fn of(formats: &Formats, long: usize) -> Option<Stacks> {
        let index =
            formats.events().iter().position(|e| &*e.name == "kernel_stack" && &*e.system == "ftrace")?;
        let event = &formats.events()[index];
        let (size, caller) = (event.slot(&["size"]), event.slot(&["caller"]));
        (caller.present && matches!(long, 4 | 8)).then_some(Stacks { index, size, caller, word: long })
    }

    /// The addresses, innermost function first; empty if the record is no stack.
    pub fn addresses<'a>(&self, record: &Record<'a>) -> impl Iterator<Item = u64> + 'a {
        let mine = record.index == self.index;
        let start = self.caller.offset as usize;
        let all = record.data.get(start..).filter(|_| mine).unwrap_or_default();
        let count = if self.size.present { record.int(self.size) as usize } else { usize::MAX };
        addresses(record.order, self.word, all).take(count)
    }
}

/// The addresses; a word of all ones ends a stack early (older kernels).
fn addresses(order: Order, word: usize, caller: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let end = if word == 4 { u32::MAX.into() } else { u64::MAX };
    caller.chunks_exact(word).filter_map(move |c| order.uint(c, 0, word)).take_while(move |&a| a != end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_symbol_before_an_address() {
        let s = Symbols::parse(
            b"ffff0010 T second\nffff0000 t first\nffff0000 T alias\nffff0018 D data\n\
              ffff0020 t third\t[mod]\n0 T hidden\njunk\n"
                .to_vec(),
        );
        assert_eq!(s.len(), 3);
        assert_eq!(s.find(0xffff_0004), Some(("first", 4)));
        assert_eq!(s.find(0xffff_0010), Some(("second", 0)));
        assert_eq!(s.find(0xffff_0019), Some(("second", 9)));
        assert_eq!(s.find(0xffff_ffff), None);
        assert_eq!(s.find(1), None);
        // Of the last symbol, only the first byte is known.
        let last = s.places.last().unwrap().0;
        assert!(s.find(last).is_some_and(|(_, into)| into == 0));
        assert_eq!(s.find(last + 1), None);
    }

    #[test]
    fn a_stack_ends_at_all_ones() {
        let words = [1u32, 2, u32::MAX, 3].map(u32::to_be_bytes).concat();
        assert_eq!(addresses(Order::Big, 4, &words).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(addresses(Order::Little, 8, &[1, 0, 0, 0, 0, 0, 0, 0, 9]).collect::<Vec<_>>(), [1]);
    }
}
