//! Kernel messages in the trace, counted by kind. Numbers in them are replaced by `N`.
//!
//! Example: `raid5 rmw 645120 2` and `raid5 rmw 8 1` are both of kind `raid5 rmw N N`. One or two digits at the end of
//! a word belong to the word: `raid5`, `raid10`. Other digits are numbers: `cfq4711S` is `cfqNS`.

use rustc_hash::FxHashMap;

/// Counts of messages.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    kinds: FxHashMap<String, u64>,
    others: u64,
    scratch: String,
}

impl Messages {
    /// Largest number of kinds that are distinguished.
    const MAX_KINDS: usize = 1000;
    /// Largest number of digits that can end a name: `raid10`.
    const DIGITS_OF_A_NAME: usize = 2;
    /// Number of bytes of a message that determine its kind.
    const MAX_LENGTH: usize = 128;

    /// Counts a message.
    pub fn record(&mut self, text: &[u8]) {
        self.scratch.clear();
        let text = String::from_utf8_lossy(&text[..text.len().min(Self::MAX_LENGTH)]);
        let mut rest = text.trim_end();
        while let Some(c) = rest.chars().next() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if digits == 0 {
                self.scratch.push(if c.is_control() { ' ' } else { c });
                rest = &rest[c.len_utf8()..];
                continue;
            }
            let (number, behind) = rest.split_at(digits);
            let in_word = self.scratch.ends_with(|c: char| c.is_alphabetic());
            let ends_word = !behind.starts_with(char::is_alphanumeric);
            if in_word && ends_word && digits <= Self::DIGITS_OF_A_NAME {
                self.scratch.push_str(number);
            } else {
                self.scratch.push('N');
            }
            rest = behind;
        }
        if let Some(n) = self.kinds.get_mut(&self.scratch) {
            *n += 1;
        } else if self.kinds.len() < Self::MAX_KINDS {
            self.kinds.insert(self.scratch.clone(), 1);
        } else {
            self.others += 1;
        }
    }

    /// Number of messages whose kind begins with this text (numbers as `N`).
    pub fn beginning(&self, with: &str) -> u64 {
        self.kinds.iter().filter(|(k, _)| k.starts_with(with)).map(|(_, n)| n).sum()
    }

    /// All kinds with their counts, the most frequent first.
    pub fn by_count(&self) -> Vec<(&str, u64)> {
        let mut all: Vec<_> = self.kinds.iter().map(|(k, n)| (k.as_str(), *n)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        all
    }

    /// Number of messages of kinds that are not distinguished.
    pub fn others(&self) -> u64 {
        self.others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_no_part_of_a_kind_and_names_are() {
        let mut m = Messages::default();
        for text in [
            "raid5 rmw 645120 2",
            "raid5 rmw 8 1\n",
            "cfq4711S / 3",
            "cfq5A",
            "bfq123",
            "raid10",
            "7",
            "a\t1é",
        ] {
            m.record(text.as_bytes());
        }
        let kinds: Vec<_> = m.by_count();
        let expected = [
            ("raid5 rmw N N", 2),
            ("N", 1),
            ("a Né", 1),
            ("bfqN", 1),
            ("cfqNA", 1),
            ("cfqNS / N", 1),
            ("raid10", 1),
        ];
        assert_eq!(kinds, expected);
        assert_eq!((m.beginning("raid5 rmw"), m.others()), (2, 0));
    }
}
