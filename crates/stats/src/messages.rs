//! Messages of the kernel in the trace, counted by kind: numbers in them are written `N`.
//!
//! Example: `raid5 rmw 645120 2` and `raid5 rmw 8 1` are two of `raid5 rmw N N`. A digit or two that end a word belong to
//! the word: `raid5`, `raid10`. Others are numbers: `cfq4711S` is `cfqNS`.

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
    /// Digits that can be the end of a name: `raid10`.
    const DIGITS_OF_A_NAME: usize = 2;
    /// Characters of a message that matter for its kind.
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

    /// How many messages begin like this (numbers as `N`).
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
