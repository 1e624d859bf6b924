//! Messages of the kernel in the trace, counted by kind: numbers in them are written `N`.
//!
//! Example: `raid5 rmw 645120 2` and `raid5 rmw 8 1` are two of `raid5 rmw N N`.

use rustc_hash::FxHashMap;

/// Counts of messages.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    kinds: FxHashMap<String, u64>,
    others: u64,
    scratch: String,
}

impl Messages {
    /// Kinds that are told apart.
    const MAX_KINDS: usize = 1000;
    /// Characters of a message that matter for its kind.
    const MAX_LENGTH: usize = 128;

    /// Counts a message.
    pub fn record(&mut self, text: &[u8]) {
        self.scratch.clear();
        let mut in_number = false;
        for c in String::from_utf8_lossy(&text[..text.len().min(Self::MAX_LENGTH)]).trim_end().chars() {
            match (c.is_ascii_digit(), in_number) {
                (true, true) => {}
                (true, false) => self.scratch.push('N'),
                (false, _) => self.scratch.push(if c.is_control() { ' ' } else { c }),
            }
            in_number = c.is_ascii_digit();
        }
        if let Some(n) = self.kinds.get_mut(&self.scratch) {
            *n += 1;
        } else if self.kinds.len() < Self::MAX_KINDS {
            self.kinds.insert(self.scratch.clone(), 1);
        } else {
            self.others += 1;
        }
    }

    /// How many messages begin like this (numbers as `N`; note that `raid5` has become `raidN`).
    pub fn beginning(&self, with: &str) -> u64 {
        self.kinds.iter().filter(|(k, _)| k.starts_with(with)).map(|(_, n)| n).sum()
    }

    /// All kinds, the most frequent first.
    pub fn by_count(&self) -> Vec<(&str, u64)> {
        let mut all: Vec<_> = self.kinds.iter().map(|(k, n)| (k.as_str(), *n)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        all
    }

    /// Messages of kinds that are not told apart.
    pub fn others(&self) -> u64 {
        self.others
    }
}
