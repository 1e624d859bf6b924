//! Mails in quoted-printable (RFC 2045, 6.7): long lines are broken after a `=`, and `=3D` is a `=`. Saved as they came,
//! they would have broken words.
//!
//! **Invariant**: a text that does not say that it is in this form is left as it is; one that does keeps its number of
//! lines, so that places still lead to within a paragraph.

use std::borrow::Cow;

const HEADER: &str = "content-transfer-encoding: quoted-printable";

/// The text as it was written.
pub(crate) fn decoded(text: &str) -> Cow<'_, str> {
    let says_so = |line: &str| line.trim().eq_ignore_ascii_case(HEADER);
    if !text.lines().any(says_so) {
        return Cow::Borrowed(text);
    }
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let (mut within, mut owed) = (false, 0);
    for line in text.lines() {
        if !within {
            within = says_so(line);
            out.extend(line.as_bytes());
            out.push(b'\n');
            continue;
        }
        // Another part of the mail begins, perhaps in another form.
        within = !line.starts_with("--") || line.len() < 10 || line.trim_end_matches('-').contains(' ');
        let (body, goes_on) = match line.trim_end().strip_suffix('=') {
            Some(body) => (body, true),
            None => (line, false),
        };
        decode(body, &mut out);
        if goes_on {
            owed += 1;
        } else {
            out.resize(out.len() + owed + 1, b'\n');
            owed = 0;
        }
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

/// The same with `:` and a blank for the full-width colon that East Asian keyboards put behind a heading.
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
