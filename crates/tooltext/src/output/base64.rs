//! Decodes parts of mails in base64 (RFC 2045, 6.8), the form in which some servers send any text that is not ASCII. Without
//! decoding, no word of these parts could be read.
//!
//! **Invariant**: a text without the header of this form is unchanged. Places refer to the decoded text.

use super::printable::lossy;
use std::borrow::Cow;

const HEADER: &str = "content-transfer-encoding: base64";

/// The text with each base64 part decoded if the result is text, and removed otherwise.
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
        // The remaining headers, then the part itself.
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

/// Decodes a line; `false` if it is not base64. Lines are self-contained: all but the last have a multiple of four digits.
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
        // Pictures are not text.
        assert_eq!(decoded(&format!("{HEADER}\n\nAAAA\n")), format!("{HEADER}\n\n\n"));
    }
}
