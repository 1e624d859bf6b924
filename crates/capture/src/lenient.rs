//! Reads values that another version or a person wrote: a value of an unexpected form counts as missing.

use serde::de::{Deserialize, DeserializeOwned, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Any value; the default if the form is unexpected.
pub fn or_default<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(from: D) -> Result<T, D::Error> {
    let value = serde_json::Value::deserialize(from)?;
    Ok(T::deserialize(value).unwrap_or_default())
}

/// A text; numbers are converted to text, `true` to `1`.
pub fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(Text::deserialize(from)?.0)
}

/// As [`text`], but empty if missing.
pub fn words<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(text(from)?.unwrap_or_default())
}

/// A number, given as a number or as text.
pub fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Ok(text(from)?.and_then(|t| t.trim().parse().ok()))
}

/// A flag, given as a boolean or as a number (0 is false).
pub fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    Ok(number(from)?.map(|n| n != 0))
}

/// A setting as text; `None` for null, lists and objects.
#[derive(Debug, Default)]
pub struct Text(pub Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
        from.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a setting")
    }
    fn visit_str<E>(self, v: &str) -> Result<Text, E> {
        Ok(Text(Some(v.to_owned())))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Text, E> {
        Ok(Text(Some(v.to_string())))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Text, E> {
        Ok(Text(Some(v.to_string())))
    }
    fn visit_f64<E>(self, v: f64) -> Result<Text, E> {
        Ok(Text(Some(v.to_string())))
    }
    fn visit_bool<E>(self, v: bool) -> Result<Text, E> {
        Ok(Text(Some(u8::from(v).to_string())))
    }
    fn visit_unit<E>(self) -> Result<Text, E> {
        Ok(Text(None))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Text, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::Settings;

    #[test]
    fn what_is_no_text_is_passed_over_and_the_rest_is_read() {
        let json = r#"{"list": [1, "x", [2]], "text": "[none]", "parts": {"a": {"b": 1}}, "number": 256, "below": -1,
            "broken": 0.5, "yes": true, "no": false, "null": null, "last": "read too"}"#;
        let settings: Settings = serde_json::from_str(json).unwrap();
        let read: Vec<_> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let expected = [
            ("below", "-1"),
            ("broken", "0.5"),
            ("last", "read too"),
            ("no", "0"),
            ("number", "256"),
            ("text", "[none]"),
            ("yes", "1"),
        ];
        assert_eq!(read, expected);
        assert!(!settings.is_empty() && Settings::default().is_empty());
    }
}
