//! Selects the kernel's symbols that a recording needs.
//!
//! All symbols are 5 to 15 MB of text; the stacks and work functions of a recording refer to some hundred of
//! them. These are found without decoding: every word in the raw data that could be an address
//! of kernel code selects the symbol that contains it. That selects a few too many, never one too few.

use capture::{At, Error, Result};
use rustc_hash::FxHashSet;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Bytes examined at a time.
const CHUNK: usize = 1 << 20;
/// Ring-buffer records, and the fields in them, are aligned to 4 bytes.
const STEP: usize = 4;

/// Symbols of code and data, sorted by address.
#[derive(Debug, Default)]
pub struct Symbols {
    text: String,
    /// Address of each symbol and the range of its line in `text`; sorted by address.
    lines: Vec<(u64, std::ops::Range<usize>)>,
    used: FxHashSet<usize>,
}

impl Symbols {
    /// Reads `/proc/kallsyms`; an error if addresses are hidden.
    pub fn read(path: &Path) -> Result<Symbols> {
        let text = fs::read(path).at("reading", path)?;
        let symbols = Symbols::parse(String::from_utf8_lossy(&text).into_owned());
        if symbols.lines.is_empty() {
            return Err(Error::refused(
                format!("{}: addresses are hidden", path.display()),
                "stacks need root and kernel.kptr_restrict below 2",
            ));
        }
        Ok(symbols)
    }

    /// Parses the text of kallsyms. Lines with address 0 (hidden from this user) are left out.
    pub fn parse(text: String) -> Symbols {
        let mut lines = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let range = start..start + line.len();
            start = range.end;
            match line.split(' ').next().and_then(|a| u64::from_str_radix(a, 16).ok()) {
                Some(address) if address > 0 => lines.push((address, range)),
                _ => {}
            }
        }
        lines.sort_by_key(|l| l.0);
        Symbols { text, lines, used: FxHashSet::default() }
    }

    /// The lines of all symbols.
    pub fn all(&self) -> Vec<u8> {
        self.write(|_| true)
    }

    /// The lines of symbols that [`Symbols::look`] found in use, and of the last code symbol, which marks the end of the previous one.
    pub fn used(&self) -> Vec<u8> {
        let is_code = |(_, range): &(u64, std::ops::Range<usize>)| {
            let kind = self.text[range.clone()].split(' ').nth(1);
            matches!(kind, Some("t" | "T" | "w" | "W"))
        };
        let end = self.lines.iter().rposition(is_code);
        self.write(|i| self.used.contains(&i) || Some(i) == end)
    }

    fn write(&self, keep: impl Fn(usize) -> bool) -> Vec<u8> {
        let lines = self.lines.iter().enumerate().filter(|(i, _)| keep(*i));
        let mut out = Vec::new();
        for (_, (_, range)) in lines {
            out.extend_from_slice(self.text[range.clone()].as_bytes());
            if out.last() != Some(&b'\n') {
                out.push(b'\n');
            }
        }
        out
    }

    /// Marks the symbols that words of `data` refer to. `word` is the kernel's word size, 4 or 8 bytes.
    pub fn look(&mut self, mut data: impl Read, word: usize) -> std::io::Result<()> {
        // On 32-bit kernels, nearly every number may be an address, so all symbols are kept.
        if word != 8 {
            self.used.extend(0..self.lines.len());
            return Ok(());
        }
        let Some((first, _)) = self.lines.iter().find(|l| l.0 > u64::from(u32::MAX)) else { return Ok(()) };
        let first = *first;
        let mut seen = FxHashSet::default();
        let mut buffer = vec![0; CHUNK];
        let mut have = 0;
        loop {
            let n = data.read(&mut buffer[have..])?;
            if n == 0 {
                break;
            }
            let end = have + n;
            let mut at = 0;
            while at + 8 <= end {
                let bytes: [u8; 8] = buffer[at..at + 8].try_into().unwrap_or_default();
                let value = u64::from_ne_bytes(bytes);
                if value >= first && value != u64::MAX && seen.insert(value) {
                    self.mark(value);
                }
                at += STEP;
            }
            buffer.copy_within(at..end, 0);
            have = end - at;
        }
        Ok(())
    }

    /// Marks the symbol that contains `address`, under all its names.
    fn mark(&mut self, address: u64) {
        let mut i = self.lines.partition_point(|l| l.0 <= address);
        let Some(begin) = i.checked_sub(1).map(|i| self.lines[i].0) else { return };
        while i > 0 && self.lines[i - 1].0 == begin {
            i -= 1;
            self.used.insert(i);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "0000000000001000 A fixed_percpu\nffffffff81000000 T _stext\nffffffff81000100 T read\n\
                        ffffffff81000100 T alias\nffffffff81000200 t write\t[xfs]\n";

    #[test]
    fn only_symbols_pointed_into_are_kept() {
        let mut s = Symbols::parse(TEXT.into());
        let mut data = vec![0u8; 12];
        data.extend_from_slice(&0xffff_ffff_8100_0123u64.to_ne_bytes());
        s.look(&data[..], 8).unwrap();
        let kept = String::from_utf8(s.used()).unwrap();
        // The last one only marks the end of the previous one.
        let end = "ffffffff81000200 t write\t[xfs]\n";
        assert_eq!(kept, format!("ffffffff81000100 T read\nffffffff81000100 T alias\n{end}"));
    }

    #[test]
    fn a_pointer_across_two_reads_is_seen() {
        let mut s = Symbols::parse(TEXT.into());
        let mut data = vec![0u8; CHUNK - 4];
        data.extend_from_slice(&0xffff_ffff_8100_0201u64.to_ne_bytes());
        s.look(&data[..], 8).unwrap();
        assert_eq!(String::from_utf8(s.used()).unwrap(), "ffffffff81000200 t write\t[xfs]\n");
    }

    #[test]
    fn hidden_addresses_are_no_symbols() {
        let s = Symbols::parse("0000000000000000 T read\njunk\n".into());
        assert!(s.all().is_empty());
    }
}
