//! Makes text from recordings safe for a page: names of tasks, files and devices are arbitrary, so each passes through
//! this module.

use serde_json::Value;

/// The longest text that is shown, in characters; the kernel's own names have 15 (tasks) to 128 bytes (device mapper).
const LONGEST: usize = 400;

/// Escapes text for an element or a quoted attribute. Control characters become U+FFFD; 400 characters are kept.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (i, c) in text.chars().enumerate() {
        if i == LONGEST {
            out.push('\u{2026}');
            break;
        }
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(' '),
            c if is_odd(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Whether a character is a control, or changes the direction of the text after it.
fn is_odd(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// JSON for a `script` element of type `application/json`. Nothing in it can end the element: `<` is written as
/// `\u003c`, which has the same meaning in JSON.
pub fn json(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Fields that hold packed numbers, not text.
const PACKED: [&str; 6] = ["heat", "bytes", "depth", "why", "cells", "buckets"];

/// Cuts each text at four times [`LONGEST`] characters, and replaces odd ones.
pub fn tame(value: &mut Value) {
    match value {
        Value::String(text) if text.chars().any(is_odd) || text.len() > LONGEST * 4 => {
            let tamed = |c| if is_odd(c) && c != '\n' { '\u{fffd}' } else { c };
            let mut short: String = text.chars().take(LONGEST * 4).map(tamed).collect();
            if text.chars().nth(LONGEST * 4).is_some() {
                short.push('\u{2026}');
            }
            *text = short;
        }
        Value::Array(all) => all.iter_mut().for_each(tame),
        Value::Object(all) => {
            all.iter_mut().filter(|(name, _)| !PACKED.contains(&name.as_str())).for_each(|(_, v)| tame(v));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn markup_stays_text() {
        assert_eq!(escape("a<b>\"'&\u{1b}[1m\u{202e}"), "a&lt;b&gt;&quot;&#39;&amp;\u{fffd}[1m\u{fffd}");
        assert_eq!(escape(&"x".repeat(70_000)).chars().count(), LONGEST + 1);
        let hostile = json!({ "name": "</script><script>alert(1)</script>\u{2028}" });
        let text = super::json(&hostile);
        assert!(!text.contains('<') && !text.contains('\u{2028}'));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), hostile);
    }

    #[test]
    fn texts_in_json_are_tamed() {
        let mut v = json!([{ "a": "x\u{0}y\nz", "b": "l".repeat(70_000) }]);
        tame(&mut v);
        assert_eq!(v[0]["a"], "x\u{fffd}y\nz");
        assert!(v[0]["b"].as_str().unwrap().len() < 2000);
    }
}
