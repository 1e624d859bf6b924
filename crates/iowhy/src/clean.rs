//! Makes printed text safe: it may contain names from a recording or a mail, which are arbitrary. None of them may move
//! the cursor, change colours or ring the bell: such characters are shown as `?`.

use std::borrow::Cow;

/// The only escape sequences that are allowed: bold, and its end.
const OURS: [&str; 2] = ["\x1b[1m", "\x1b[0m"];

/// The text with `?` for control characters, except for ends of lines, tabs, and the program's own bold headings. It
/// replaces characters that change the direction of writing, too: a line could appear different from what it is.
pub fn clean(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(harmful) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match OURS.iter().find(|own| rest.starts_with(**own)) {
            Some(own) => {
                out.push_str(own);
                rest = &rest[own.len()..];
            }
            None => {
                out.push('?');
                rest = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_but_text() {
        assert_eq!(clean("a\tb\nc"), "a\tb\nc");
        assert_eq!(
            clean("\x1b[1mWHY\x1b[0m fio\x1b[31m\x07\u{9b}2J\u{202e}x"),
            "\x1b[1mWHY\x1b[0m fio?[31m??2J?x"
        );
    }
}
