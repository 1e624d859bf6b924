//! Removes terminal control sequences: colours, cursor positions, titles (ECMA-48, 5.4 and 8.3.89). `script`, and tools that detect a
//! terminal, write them to files, where they make adjacent words unreadable.
//!
//! ```text
//! ESC [ 0 ; 3 3 m 12M ESC [ 0 ; 0 m        12M
//! ```
//!
//! **Invariant**: a text without the escape character is unchanged; lines keep their numbers.

use std::borrow::Cow;

const ESC: char = '\u{1b}';
/// Limit on characters of a sequence: a title has a few dozen.
const LONGEST: usize = 256;

/// The text without control sequences.
pub(crate) fn without(text: &str) -> Cow<'_, str> {
    if !text.contains(ESC) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split(ESC);
    let mut plain = parts.next().unwrap_or("").to_owned();
    parts.for_each(|part| plain.push_str(&part[length(part)..]));
    Cow::Owned(plain)
}

/// Bytes of a sequence after the escape character; 0 if it is truncated.
fn length(text: &str) -> usize {
    let mut chars = text.char_indices().take(LONGEST);
    let Some((_, first)) = chars.next() else { return 0 };
    let end = match first {
        // A control sequence ends with a letter or another character of this range, after any numbers.
        '[' => chars.take_while(|(_, c)| *c != '\n').find(|(_, c)| ('@'..='~').contains(c)),
        // A title ends with a bell, or before the next escape.
        ']' => chars.take_while(|(_, c)| *c != '\n').find(|(_, c)| *c == '\u{7}'),
        '(' | ')' => chars.next(),
        '0'..='~' => return first.len_utf8(),
        _ => None,
    };
    end.map_or(0, |(at, c)| at + c.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn what_a_terminal_shows_is_left() {
        for (with, plain) in [
            ("\u{1b}[0;34musr sys\u{1b}[0;0m|\u{1b}[1m 12M\u{1b}[m\n", "usr sys| 12M\n"),
            ("\u{1b}]0;root@db: ~\u{7}# iostat\u{1b}[K\n", "# iostat\n"),
            ("\u{1b}(B\u{1b}[?25l7 8\u{1b}=\n", "7 8\n"),
            ("a\u{1b}", "a"),
            ("a\u{1b}[12\nb", "a[12\nb"),
            ("plain [0m", "plain [0m"),
        ] {
            assert_eq!(without(with), plain, "{with:?}");
        }
    }
}
