//! The kernel's symbols, as the file carries them, and stacks in their terms.
//!
//! Text as in /proc/kallsyms: `ffffffff81000000 T _text`, with `[module]` behind for a module's. An address
//! belongs to the last symbol at or before it; the very last symbol only marks the end, because nobody says how
//! long it is. Only code (t, T, w, W) is kept: data never stands on a stack.

use super::bytes::Order;
use super::cursor::Record;
use super::format::{Formats, Slot};

/// A sorted table: 12 bytes per symbol and the names in one piece.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    addresses: Vec<u64>,
    /// Where the name of each begins in `names`; one more entry ends the last.
    starts: Vec<u32>,
    names: String,
}

impl Symbols {
    /// Reads the text; lines that make no sense are left out.
    pub fn parse(text: &[u8]) -> Symbols {
        let text = String::from_utf8_lossy(text);
        let mut all: Vec<(u64, &str)> = text
            .lines()
            .filter_map(|line| {
                let mut words = line.split_ascii_whitespace();
                let address = u64::from_str_radix(words.next()?, 16).ok()?;
                let code = matches!(words.next()?, "t" | "T" | "w" | "W");
                let name = words.next()?;
                // Without the right to see addresses all of them are 0.
                (code && address != 0).then_some((address, name))
            })
            .collect();
        // Of several names for one address the first in the file stays, as `trace-cmd report` has it.
        all.sort_by_key(|s| s.0);
        all.dedup_by_key(|s| s.0);
        let mut s = Symbols::default();
        for (address, name) in all {
            s.addresses.push(address);
            s.starts.push(s.names.len() as u32);
            s.names.push_str(name);
        }
        s.starts.push(s.names.len() as u32);
        s
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// The function that an address lies in, and how far into it.
    pub fn find(&self, address: u64) -> Option<(&str, u64)> {
        let i = self.addresses.partition_point(|&a| a <= address).checked_sub(1)?;
        if i + 1 == self.addresses.len() {
            return None;
        }
        let name = &self.names[self.starts[i] as usize..self.starts[i + 1] as usize];
        Some((name, address - self.addresses[i]))
    }
}

/// The event that holds a kernel stack, and where in it the addresses lie.
///
/// Its format declares `caller[8]` on most kernels, but the record goes on: `size` says how many there are.
#[derive(Clone, Copy, Debug)]
pub struct Stacks {
    /// Which event, as an index into [`Formats::events`].
    pub index: usize,
    size: Slot,
    caller: Slot,
    /// Bytes of the kernel's long.
    word: usize,
}

impl Stacks {
    /// Finds the event; `long` is [`TraceDat::long`](super::TraceDat::long).
    pub fn of(formats: &Formats, long: usize) -> Option<Stacks> {
        let index =
            formats.events().iter().position(|e| &*e.name == "kernel_stack" && &*e.system == "ftrace")?;
        let event = &formats.events()[index];
        let (size, caller) = (event.slot(&["size"]), event.slot(&["caller"]));
        (caller.present && matches!(long, 4 | 8)).then_some(Stacks { index, size, caller, word: long })
    }

    /// The addresses, innermost function first, if the record is a stack.
    pub fn addresses<'a>(&self, record: &Record<'a>) -> impl Iterator<Item = u64> + 'a {
        let mine = record.index == self.index;
        let start = self.caller.offset as usize;
        let all = record.data.get(start..).filter(|_| mine).unwrap_or_default();
        let count = if self.size.present { record.int(self.size) as usize } else { usize::MAX };
        addresses(record.order, self.word, all).take(count)
    }
}

/// All ones end a stack early (older kernels).
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
              ffff0020 t third\t[mod]\n0 T hidden\njunk\n",
        );
        assert_eq!(s.len(), 3);
        assert_eq!(s.find(0xffff_0004), Some(("first", 4)));
        assert_eq!(s.find(0xffff_0010), Some(("second", 0)));
        assert_eq!(s.find(0xffff_0019), Some(("second", 9)));
        assert_eq!(s.find(0xffff_ffff), None);
        assert_eq!(s.find(1), None);
    }

    #[test]
    fn a_stack_ends_at_all_ones() {
        let words = [1u32, 2, u32::MAX, 3].map(u32::to_be_bytes).concat();
        assert_eq!(addresses(Order::Big, 4, &words).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(addresses(Order::Little, 8, &[1, 0, 0, 0, 0, 0, 0, 0, 9]).collect::<Vec<_>>(), [1]);
    }
}
