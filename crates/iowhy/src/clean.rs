//! What is printed may hold names from a recording or a mail, and those may hold anything. Nothing of it may move the
//! cursor, change colours or ring: what would is shown as `?`.

use std::borrow::Cow;

/// Our own: bold, and its end.
const OURS: [&str; 2] = ["\x1b[1m", "\x1b[0m"];

/// The text without control characters, except for ends of lines, tabs, and our own headings in bold. Characters that turn
/// the direction of writing are among them: they make a line read otherwise than it is.
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
