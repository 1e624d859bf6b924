//! Parts of mails in base64 (RFC 2045, 6.8), as some servers send any text that is not ASCII. Saved as they came, no word of them
//! could be read.
//!
//! **Invariant**: a text that does not say that it is in this form is left as it is. Places are those in the text as it was written.

use super::printable::lossy;
use std::borrow::Cow;

const HEADER: &str = "content-transfer-encoding: base64";

/// The text as it was written: each part that is said to be in base64 is replaced by what it says, if that is text.
pub(crate) fn decoded(text: &str) -> Cow<'_, str> {
    let says_so = |line: &str| line.trim().eq_ignore_ascii_case(HEADER);
    if !text.lines().any(says_so) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if !says_so(line) {
            continue;
        }
        // The other headers, then the part itself.
        for header in lines.by_ref().take_while(|line| !line.trim().is_empty()) {
            out.push_str(header);
            out.push('\n');
        }
        let (mut bytes, mut end) = (vec![], None);
        for line in lines.by_ref() {
            if line.trim().is_empty() || !add(line.trim(), &mut bytes) {
                end = Some(line);
                break;
            }
        }
        out.push('\n');
        if !bytes.contains(&0) {
            out.push_str(&lossy(&bytes));
        }
        out.push('\n');
        out.extend(end.into_iter().flat_map(|line| [line, "\n"]));
    }
    Cow::Owned(out)
}

/// Adds what a line says; `false` if it is none. Each line is whole, as all but the last have a multiple of four digits.
fn add(line: &str, bytes: &mut Vec<u8>) -> bool {
    let digits = line.trim_end_matches('=');
    let value = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    if line.len() % 4 != 0 || !digits.bytes().all(|c| value(c).is_some()) {
        return false;
    }
    for four in digits.as_bytes().chunks(4) {
        let bits = four.iter().fold(0u32, |bits, c| bits << 6 | u32::from(value(*c).unwrap_or(0)));
        let bits = bits << (6 * (4 - four.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_says_what_was_written() {
        let output = "Content-Type: text/plain\nContent-Transfer-Encoding: base64\nX: y\n\naW9wcz0xMjc5LA==\n\n--end\n";
        let text = decoded(output);
        assert!(text.contains("X: y\n\niops=1279,\n") && text.ends_with("--end\n"), "{text}");
        for plain in ["aW9wcz0xMjc5LA==\n", ""] {
            assert_eq!(decoded(plain), plain);
        }
        for (wrong, rest) in [("aW9w cz0x", "aW9w cz0x"), ("=", "="), ("aW9wcz0xMjc5L", "aW9wcz0xMjc5L")] {
            assert!(decoded(&format!("{HEADER}\n\n{wrong}\n")).contains(rest), "{wrong}");
        }
        // Pictures are no text.
        assert_eq!(decoded(&format!("{HEADER}\n\nAAAA\n")), format!("{HEADER}\n\n\n"));
    }
}
