//! Decodes mails in quoted-printable (RFC 2045, 6.7): long lines are broken after a `=`, and `=3D` is a `=`. Without decoding,
//! words would be broken.
//!
//! A part of such a mail, without its header, is known by its longest lines: they have 76 characters, of which the last is a `=`.
//!
//! **Invariant**: any other text is unchanged; otherwise the number of lines is kept, so that places are still right to
//! within a paragraph.

use std::borrow::Cow;

const HEADER: &str = "content-transfer-encoding: quoted-printable";

/// The longest line of this form, with the `=` at which it is broken (RFC 2045, 6.7, rule 5).
const LONGEST: usize = 76;

/// The decoded text.
pub(crate) fn decoded(text: &str) -> Cow<'_, str> {
    let says_so = |line: &str| line.trim().eq_ignore_ascii_case(HEADER);
    let has_header = text.lines().any(says_so);
    if !has_header && !is_broken(text) {
        return Cow::Borrowed(text);
    }
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    // Number of lines read from the text (`lines`), and written to the result (`made`).
    let (mut within, mut lines) = (!has_header, 0usize);
    let mut made = 0usize;
    let mut goes_on = false;
    for line in text.lines() {
        lines += 1;
        if !within {
            within = says_so(line);
            out.extend(line.as_bytes());
            end_line(&mut out, &mut made, lines);
            continue;
        }
        within = goes_on || !begins_part(line);
        let body;
        (body, goes_on) = match line.trim_end().strip_suffix('=') {
            Some(body) => (body, true),
            None => (line, false),
        };
        let before = out.len();
        decode(body, &mut out);
        made += out[before..].iter().filter(|b| **b == b'\n').count();
        if !goes_on {
            end_line(&mut out, &mut made, lines);
        } else if out.last() == Some(&b'\n') {
            // The line ended with an encoded newline, `=0A`.
            catch_up(&mut out, &mut made, lines);
        }
    }
    Cow::Owned(lossy(&out).into_owned())
}

/// Whether a text without a header has this form: no line is too long, several are broken where they would be, and each `=` is at the
/// end of a line or stands for a byte in capital hexadecimal digits.
fn is_broken(text: &str) -> bool {
    let is_digit = |b: &u8| b.is_ascii_digit() || (b'A'..=b'F').contains(b);
    let stands_for_a_byte = |rest: &str| rest.len() >= 2 && rest.as_bytes()[..2].iter().all(is_digit);
    let fits = |line: &str| {
        let mut parts = line.split('=').skip(1).peekable();
        let mut all = true;
        while let Some(rest) = parts.next() {
            all &= stands_for_a_byte(rest) || rest.is_empty() && parts.peek().is_none();
        }
        all && line.len() <= LONGEST
    };
    let broken = text.lines().filter(|line| line.len() == LONGEST && line.ends_with('='));
    broken.take(2).count() == 2 && text.lines().all(fits)
}

/// Whether another part of the mail starts, possibly in another form. Rulers of tables consist of dashes only.
fn begins_part(line: &str) -> bool {
    let name = line.trim_end_matches('-');
    line.starts_with("--") && line.len() >= 10 && !name.is_empty() && !name.contains(' ')
}

fn end_line(out: &mut Vec<u8>, made: &mut usize, lines: usize) {
    out.push(b'\n');
    *made += 1;
    catch_up(out, made, lines);
}

/// Adds empty lines until the result has as many lines as were read.
fn catch_up(out: &mut Vec<u8>, made: &mut usize, lines: usize) {
    let owed = lines.saturating_sub(*made);
    out.resize(out.len() + owed, b'\n');
    *made += owed;
}

/// Converts bytes to text. Invalid UTF-8 is from an older charset, in which 0xA0 is a blank.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        match chunk.invalid() {
            [] => {}
            [before @ .., 0xa0] => text.push_str(if before.is_empty() { " " } else { "\u{fffd} " }),
            _ => text.push('\u{fffd}'),
        }
    }
    Cow::Owned(text)
}

/// Replaces the full-width colon, which East Asian keyboards produce after a heading, by `:` and a blank.
pub(crate) fn with_plain_colons(text: &str) -> Cow<'_, str> {
    const WIDE: char = '\u{ff1a}';
    match text.contains(WIDE) {
        true => Cow::Owned(text.replace(WIDE, ": ")),
        false => Cow::Borrowed(text),
    }
}

fn decode(body: &str, out: &mut Vec<u8>) {
    let mut bytes = body.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let hex = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
        match (byte, hex(ahead.next()), hex(ahead.next())) {
            (b'=', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                bytes = ahead;
            }
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `=0A=` at the end of each line, and 0xA0 for a blank: a mailer that mixes two charsets.
    #[test]
    fn lines_that_end_in_both_are_one_and_old_blanks_are_blanks() {
        let text = format!("{HEADER}\n\n=A0a l=\nong line=0A=\n=A0__schedule+0x1/0x2=0A=\nthird=0A=\nlast\n");
        let whole = decoded(&text);
        let lines: Vec<&str> = whole.lines().collect();
        assert_eq!(lines[2..], [" a long line", "", " __schedule+0x1/0x2", "third", "last"]);
        assert_eq!(lossy(b"\xa0x \xe9\xa0y \xc2\xa0z"), " x \u{fffd} y \u{a0}z");
    }

    /// A part of a mail's text, pasted without the mail's header.
    #[test]
    fn without_a_header_lines_that_are_all_broken_at_the_limit_are_whole_again() {
        let long = |word: &str| format!("{word}{}", "x".repeat(LONGEST - 1 - word.len()));
        let text = format!("{}=\ny a=3D1\n{}=\ny\n", long("one "), long("two "));
        let whole = decoded(&text);
        assert!(whole.contains("xxy a=1\n\n") && whole.ends_with("xxy\n\n"), "{whole}");
        let (once, of_shell) = (format!("{}=\ny\n", long("one ")), format!("{text}size=4k\n"));
        for plain in
            [once, of_shell, text.replace("=\n", "+\n"), format!("{text}{}", long("more ") + "xxx\n")]
        {
            assert_eq!(decoded(&plain), plain);
        }
    }

    /// A ruler, and the rest of a broken heading, start no other part; two dashes with a name do.
    #[test]
    fn lines_of_dashes_begin_no_part() {
        let text = format!(
            "{HEADER}\n\nprocs --swap-- ---=\n---cpu-----\n----------\n us=3D1=\n2\n--0000ab12cd34\nus=3D1\n"
        );
        let whole = decoded(&text);
        assert!(whole.contains("procs --swap-- ------cpu-----\n") && whole.contains(" us=12\n"), "{whole}");
        assert!(whole.ends_with("us=3D1\n"), "{whole}");
    }

    #[test]
    fn broken_words_are_whole_again_and_lines_are_counted_as_before() {
        let text =
            "Content-Transfer-Encoding: quoted-printable\n\niops=3D1=\n279, runt=3D 20001ms=\nec\nnext\n";
        let whole = decoded(text);
        assert!(whole.contains("iops=1279, runt= 20001msec\n"), "{whole}");
        assert_eq!(whole.lines().position(|l| l == "next"), text.lines().position(|l| l == "next"));
        for plain in ["iops=3D1=\n279", ""] {
            assert_eq!(decoded(plain), plain);
        }
        assert!(decoded(&format!("{HEADER}\n=E2=82=AC =ZZ =")).contains("€ =ZZ"));
    }
}
