//! A document as words: what mailers do to it is undone once, so that no reader of a tool's output has to know.
//!
//! Marks of quoting are taken off, and lines are forgotten except for where they began. A table that was quoted, wrapped
//! at column 72 or flattened to one line is then the same row of words as when its tool printed it:
//!
//! ```text
//! > > Device:   r/s    w/s          Device: r/s w/s sda
//! > > sda      1.00   2.00          1.00 2.00                   both: Device: r/s w/s sda 1.00 2.00
//! ```
//!
//! A row of a table in Markdown (`| sda | 1.00 |`) loses its bars and rulers in the same way.
//!
//! **Invariant**: words are those of the document, in its order; only runs of `>` and the bars and rulers of such tables
//! are left out.

use evidence::Spot;

/// Lines longer than this get a column in each [`Spot`]: no mailer and no tool here makes them, but flattening does.
pub(crate) const LONG_LINE: usize = 400;

/// A word of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'a> {
    pub text: &'a str,
    pub spot: Spot,
    /// First in its line, marks of quoting aside.
    pub first: bool,
    /// A blank line, or a change in how deep it is quoted, stands before it.
    pub paragraph: bool,
    /// A `>` stands before it in the middle of its line: a mark of quoting in flattened text, in a command a redirection.
    pub after_mark: bool,
    /// How deep its line is quoted.
    pub depth: u32,
}

/// Splits a document into words.
pub(crate) fn words(text: &str) -> Vec<Word<'_>> {
    let mut all = Vec::new();
    let mut paragraph = true;
    let mut before = 0;
    for (number, line) in text.lines().enumerate() {
        let (body, depth) = unquoted(line);
        paragraph |= depth != before;
        before = depth;
        let long = line.len() > LONG_LINE;
        let mut first = true;
        let mut mark = false;
        let row = is_row(body);
        let cut = |c: char| c.is_whitespace() || row && c == '|';
        for text in body.split(cut).filter(|text| !text.is_empty()) {
            if text.bytes().all(|b| b == b'>') {
                mark = !first;
                continue;
            }
            let text = if row { text.trim_matches('*') } else { text };
            if row && text.bytes().all(|b| b == b'-' || b == b':') {
                continue;
            }
            // Both are parts of the same line, so the difference of their addresses is the offset.
            let offset = text.as_ptr() as usize - line.as_ptr() as usize;
            let column = if long { u32::try_from(offset + 1).unwrap_or(u32::MAX) } else { 0 };
            let spot = Spot { line: u32::try_from(number + 1).unwrap_or(u32::MAX), column };
            all.push(Word { text, spot, first, paragraph, after_mark: mark, depth });
            (first, paragraph, mark) = (false, false, false);
        }
        paragraph |= first;
    }
    all
}

/// Whether a line is a row of a table in Markdown: bars at both ends and between at least two cells. What fio and blkparse
/// print between bars has one at one end only, or bars as words of their own in the middle.
fn is_row(line: &str) -> bool {
    let line = line.trim();
    line.len() > 2 && line.starts_with('|') && line.ends_with('|') && line.matches('|').count() >= 4
}

/// A line without marks of quoting, and how many there were: `> > text` gives `text` and 2. `>=64=0.0%` at the start
/// of a line is fio's, not a mark.
pub(crate) fn unquoted(line: &str) -> (&str, u32) {
    let mut rest = without_name(line).trim_start();
    let mut depth = u32::from(rest.len() < line.trim_start().len());
    while let Some(after) = rest.strip_prefix('>').filter(|after| !after.starts_with('=')) {
        rest = after.trim_start();
        depth += 1;
    }
    (if depth == 0 { line } else { rest }, depth)
}

/// A line without the name of who is quoted, which some mailers put before the mark: `Ada> text`.
pub(crate) fn without_name(line: &str) -> &str {
    let text = line.trim_start();
    let name = text.find(|c: char| !c.is_ascii_alphabetic()).filter(|end| (1..=MOST_OF_NAME).contains(end));
    name.and_then(|end| text[end..].strip_prefix('>'))
        .filter(|rest| rest.starts_with([' ', '\t']))
        .unwrap_or(line)
}

/// Letters of such a name, or of its initials.
const MOST_OF_NAME: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        words(text).iter().map(|w| w.text).collect()
    }

    #[test]
    fn quoted_wrapped_and_flat_are_the_same_words() {
        let plain = "Device: r/s w/s\nsda 1.00 2.00\n";
        let quoted = "> > Device: r/s\n> > w/s\n>> sda 1.00 2.00\n";
        let flat = "> Device: r/s w/s > sda 1.00 2.00";
        assert_eq!(texts(plain), texts(quoted));
        assert_eq!(texts(plain), texts(flat));
        assert_eq!(texts(plain), texts("Ada> Device: r/s\nAda> w/s\nAda> sda 1.00 2.00\n"));
    }

    #[test]
    fn the_depths_of_fio_are_no_quotes() {
        assert_eq!(texts("> >=64=0.0%\n>=64=0.0%"), [">=64=0.0%", ">=64=0.0%"]);
    }

    #[test]
    fn rows_in_markdown_lose_their_bars() {
        assert_eq!(
            texts("| Device | r/s |  w/s |\n|---|:--:|---|\n| sda|1.00 | **2.00** |"),
            ["Device", "r/s", "w/s", "sda", "1.00", "2.00"]
        );
        assert_eq!(texts("|  1.00th=[    5],"), ["|", "1.00th=[", "5],"]);
    }

    #[test]
    fn words_know_their_line_and_in_long_ones_their_column() {
        let text = format!("one\n\n> two {}end", "x ".repeat(300));
        let all = words(&text);
        assert_eq!((all[0].spot.to_string(), all[0].paragraph), ("1".into(), true));
        assert_eq!(all.last().unwrap().spot.to_string(), "3:607");
        assert!(all[1].paragraph && all[1].first && !all[2].first);
    }
}
