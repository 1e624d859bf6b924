//! Splits a document into words, and undoes once what mailers do to it, so that readers of tools need not handle that.
//!
//! Quote marks are removed, and line breaks matter only as positions. A table that was quoted, wrapped
//! at column 72 or flattened to one line then has the same words as its tool's output:
//!
//! ```text
//! > > Device:   r/s    w/s          Device: r/s w/s sda
//! > > sda      1.00   2.00          1.00 2.00                   both: Device: r/s w/s sda 1.00 2.00
//! ```
//!
//! Similarly, a row of a table in Markdown (`| sda | 1.00 |`) loses its bars and rulers, a line quoted with a bar (`| sda
//! 1.00`) its bar, and a line of a log the prefix before a program's message (`Nov 25 01:02:03 host monitor[77]:`).
//!
//! **Invariant**: words are those of the document, in order; only runs of `>`, bars and rulers of Markdown tables and
//! prefixes of log lines are left out.

use super::stamp::MONTHS;
use evidence::Spot;

/// Lines longer than this get a column in each [`Spot`]: only flattening makes them, no mailer or supported tool does.
pub(crate) const LONG_LINE: usize = 400;

/// A word with its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'a> {
    pub text: &'a str,
    pub spot: Spot,
    /// Whether it is the first in its line, after quote marks.
    pub first: bool,
    /// Whether a blank line or a change of quoting depth precedes it.
    pub paragraph: bool,
    /// Whether a `>` precedes it within its line: a quote mark in flattened text, a redirection in a command.
    pub after_mark: bool,
    /// Quoting depth of its line.
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
        let body = if row { body } else { without_kmsg(without_bar(without_log(body))) };
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
            // Both are slices of the same line, so the difference of their addresses is the offset.
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

/// Whether a line is a row of a Markdown table: bars at both ends and between at least two cells. Bars in the output of fio
/// and blkparse are at one end only, or are separate words within the line.
pub(super) fn is_row(line: &str) -> bool {
    let line = line.trim();
    line.len() > 2 && line.starts_with('|') && line.ends_with('|') && line.matches('|').count() >= 4
}

/// Removes a bar at the start of a line, a quote mark of some mailers; fio's percentiles also have one, without a meaning.
fn without_bar(line: &str) -> &str {
    let rest = line.trim_start().strip_prefix('|').filter(|rest| rest.starts_with([' ', '\t']));
    rest.filter(|rest| !rest.contains('|')).unwrap_or(line)
}

/// Removes the log prefix before a program's message: `Nov 25 01:02:03 host monitor[77]:`, or an ISO time in place of the
/// first three words. Lines of the kernel have their own times and readers, and are unchanged.
fn without_log(line: &str) -> &str {
    let text = line.trim_start();
    let mut rest = text;
    let mut word = || {
        let (first, more) = rest.trim_start().split_once([' ', '\t'])?;
        rest = more;
        Some(first)
    };
    let mut tag = || {
        let first = word()?;
        let is_clock = |time: &str| {
            time.len() >= 8
                && time.as_bytes()[..8].iter().enumerate().all(|(i, b)| {
                    if i % 3 == 2 {
                        *b == b':'
                    } else {
                        b.is_ascii_digit()
                    }
                })
        };
        match first.split_once('T') {
            Some((date, time)) if date.len() == 10 && is_clock(time) => {}
            _ => {
                MONTHS.contains(&first).then_some(())?;
                word()?.parse::<u8>().ok()?;
                word().filter(|time| is_clock(time))?;
            }
        }
        word()?;
        word()
    };
    let tag = tag().and_then(|tag| tag.strip_suffix("]:")?.split_once('['));
    let of_program = tag.is_some_and(|(name, pid)| name != "kernel" && pid.parse::<u32>().is_ok());
    if of_program {
        rest
    } else {
        line
    }
}

/// Removes the prefix of `/dev/kmsg` (Documentation/ABI/testing/dev-kmsg) from a line of the kernel's log: priority, number, microseconds,
/// flags: `6,1725650,1121675639291,-;`.
fn without_kmsg(line: &str) -> &str {
    kmsg(line).map_or(line, |(_, rest)| rest)
}

/// The microseconds in such a prefix, and the rest of the line.
pub(super) fn kmsg(line: &str) -> Option<(u64, &str)> {
    let (before, rest) = line.trim_start().split_once(';')?;
    let mut fields = before.split(',');
    let mut number = || fields.next().and_then(|field| field.parse::<u64>().ok());
    let (_, _, time) = (number()?, number()?, number()?);
    let flag = fields.next().is_some_and(|flag| ["-", "c", "+"].contains(&flag));
    flag.then_some((time, rest))
}

/// Removes quote marks and returns their number: `> > text` gives `text` and 2. `>=64=0.0%` at the start
/// of a line is fio's, not a quote mark.
pub(crate) fn unquoted(line: &str) -> (&str, u32) {
    let mut rest = without_name(line).trim_start();
    let mut depth = u32::from(rest.len() < line.trim_start().len());
    while let Some(after) = rest.strip_prefix('>').filter(|after| !after.starts_with('=')) {
        rest = after.trim_start();
        depth += 1;
    }
    (if depth == 0 { line } else { rest }, depth)
}

/// Removes the name of a quoted person, which some mailers put before the quote mark: `Ada> text`.
pub(crate) fn without_name(line: &str) -> &str {
    let text = line.trim_start();
    let name = text.find(|c: char| !c.is_ascii_alphabetic()).filter(|end| (1..=MOST_OF_NAME).contains(end));
    name.and_then(|end| text[end..].strip_prefix('>'))
        .filter(|rest| rest.starts_with([' ', '\t']))
        .unwrap_or(line)
}

/// Limit on letters of such a name, or initials.
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
        assert_eq!(texts("|  1.00th=[    5],"), ["1.00th=[", "5],"]);
    }

    #[test]
    fn what_mailers_and_logs_put_before_a_line_is_gone() {
        assert_eq!(texts("| sda 1.00\n  | sdb 2.00"), ["sda", "1.00", "sdb", "2.00"]);
        for before in
            ["Nov 25 01:02:03 host monitor[77]:", "2026-11-25T01:02:03.123456+01:00 host iostat[7]:"]
        {
            let line = format!("{before} sda 1.00");
            assert_eq!(texts(&line), ["sda", "1.00"]);
            assert!(words(&line)[0].first);
        }
        for line in [
            "Nov 25 01:02:03 host kernel[1]: sda 1.00",
            "Nov 25 01:02:03 host kernel: sda",
            "Nov is a month [7]: sda",
            "0 -> 1 : 482 |***|",
            "2026-11-25T01:02:03 sda 1.00",
        ] {
            assert_eq!(texts(line), line.split_whitespace().collect::<Vec<_>>(), "{line}");
        }
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
