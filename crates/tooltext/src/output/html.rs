//! Removes the HTML in a mail that was copied from the source of a web page: `&gt;` for `>`, `<br>`, `<pre>`.
//!
//! **Invariant**: a text without such markup is unchanged; lines keep their numbers, so that places remain valid.

use std::borrow::Cow;

/// Character entities that occur in mails.
const ENTITIES: [(&str, &str); 6] =
    [("&gt;", ">"), ("&lt;", "<"), ("&amp;", "&"), ("&quot;", "\""), ("&nbsp;", " "), ("&apos;", "'")];
/// Elements that archives put around and into mails.
const ELEMENTS: [&str; 31] = [
    "pre",
    "br",
    "p",
    "div",
    "span",
    "tt",
    "code",
    "blockquote",
    "b",
    "i",
    "em",
    "strong",
    "a",
    "font",
    "html",
    "head",
    "body",
    "table",
    "tbody",
    "thead",
    "tr",
    "td",
    "th",
    "ul",
    "ol",
    "li",
    "section",
    "article",
    "main",
    "kbd",
    "samp",
];
/// Limit on bytes of a tag with its attributes.
const LONGEST_TAG: usize = 300;

/// The text as shown by a browser.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    let marked = ENTITIES.iter().any(|(entity, _)| text.contains(entity))
        || text.contains("<br")
        || text.contains("<pre");
    if !marked {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((entity, plain)) = ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity)) {
            out.push_str(plain);
            rest = &rest[entity.len()..];
        } else if let Some((plain, length)) = numbered(rest) {
            out.push(plain);
            rest = &rest[length..];
        } else if let Some(length) = tag(rest) {
            // A tag that spans lines leaves their newlines.
            out.push(' ');
            out.extend(rest[..length].chars().filter(|c| *c == '\n'));
            rest = &rest[length..];
        } else {
            let first = rest.chars().next().map_or(1, char::len_utf8);
            out.push_str(&rest[..first]);
            rest = &rest[first..];
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character in a numeric reference (`&#39;`, `&#x27;`), and the length of the reference.
fn numbered(text: &str) -> Option<(char, usize)> {
    let digits = text.strip_prefix("&#")?;
    let end = digits.bytes().take(8).position(|b| b == b';')?;
    let number = match digits[..end].strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => digits[..end].parse().ok()?,
    };
    Some((char::from_u32(number).filter(|c| !c.is_control())?, "&#".len() + end + 1))
}

/// The length of a tag of one of [`ELEMENTS`] at the start of `text`.
fn tag(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('<')?;
    let name = inner.strip_prefix('/').unwrap_or(inner);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric())?;
    ELEMENTS.iter().any(|e| e.eq_ignore_ascii_case(&name[..end])).then_some(())?;
    text.bytes().take(LONGEST_TAG).position(|b| b == b'>').map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_a_page_are_gone_and_lines_are_not() {
        let page =
            "<pre class=\"x\">&gt; Device:&nbsp;r/s<br>\n&gt; sda 1.00</pre>\n8,0 <- (8,2) &amp; <dev> 5 < 6 &#39;&#x27;";
        assert_eq!(shown(page), " > Device: r/s \n> sda 1.00 \n8,0 <- (8,2) & <dev> 5 < 6 ''");
        let whole = "<html><body><table><tr><td><pre>  r/s w/s %util Device\n1.00 2.00 3.00 sda</pre></td></tr></table></body></html>";
        assert_eq!(shown(whole).trim(), "r/s w/s %util Device\n1.00 2.00 3.00 sda");
        for plain in ["", "a <- b", "/sys/block/<dev>/queue", "x < y & z"] {
            assert_eq!(shown(plain), plain);
        }
    }
}
