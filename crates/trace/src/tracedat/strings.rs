//! Texts in kernel memory: a `const char *` field contains only their address.
//!
//! The kernel lists the texts that its events use in `printk_formats`, one per line: `0xffffffff82a1b29b : "scale down"`.

use rustc_hash::FxHashMap;

/// Limit on lines, more than any kernel has; further lines are left out.
const MAX_STRINGS: usize = 1 << 17;

/// The texts by address.
#[derive(Clone, Debug, Default)]
pub struct Strings(FxHashMap<u64, Box<str>>);

impl Strings {
    /// Parses the list; invalid lines are left out.
    pub fn parse(text: &[u8]) -> Strings {
        let text = String::from_utf8_lossy(text);
        let line = |line: &str| {
            let (address, rest) = line.split_once(" : \"")?;
            let address = u64::from_str_radix(address.trim().trim_start_matches("0x"), 16).ok()?;
            Some((address, rest.strip_suffix('"')?.into()))
        };
        Strings(text.lines().filter_map(line).take(MAX_STRINGS).collect())
    }

    /// The text at an address.
    pub fn find(&self, address: u64) -> Option<&str> {
        self.0.get(&address).map(|s| &**s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_printk_formats() {
        let s =
            Strings::parse(b"0xffffffff82a1b29b : \"scale down\"\n0x10 : \"a \" b\"\njunk\n0xz : \"x\"\n");
        assert_eq!(s.find(0xffff_ffff_82a1_b29b), Some("scale down"));
        assert_eq!(s.find(0x10), Some("a \" b"));
        assert_eq!(s.find(0), None);
    }
}
