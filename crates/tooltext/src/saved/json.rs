//! JSON values with their places: every number that is read keeps its line.
//!
//! Values are slices of the text, parsed one level at a time; so the place of a value is that of its slice.

use evidence::Spot;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A value that is not parsed yet.
pub(super) type Value<'a> = &'a RawValue;

/// A text that contains values.
pub(super) struct Document<'a> {
    text: &'a str,
    /// Byte offset of the start of each line.
    lines: Vec<usize>,
}

/// Names and values of an object, in order.
struct Fields<'a>(Vec<(Cow<'a, str>, Value<'a>)>);

impl<'a> Document<'a> {
    pub fn new(text: &'a str) -> Self {
        let starts = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        Document { text, lines: std::iter::once(0).chain(starts).collect() }
    }

    /// Consecutive values from a byte offset on; `None` for an invalid one.
    pub fn values(&self, from: usize) -> impl Iterator<Item = Option<Value<'a>>> {
        serde_json::Deserializer::from_str(&self.text[from..]).into_iter::<Value<'a>>().map(Result::ok)
    }

    fn offset(&self, value: Value) -> usize {
        value.get().as_ptr() as usize - self.text.as_ptr() as usize
    }

    /// The byte offset after a value.
    pub fn end_of(&self, value: Value) -> usize {
        self.offset(value) + value.get().len()
    }

    /// The place of a byte offset.
    pub fn spot(&self, offset: usize) -> Spot {
        let line = self.lines.partition_point(|start| *start <= offset);
        Spot { line: u32::try_from(line).unwrap_or(u32::MAX), column: 0 }
    }

    /// The place of a value.
    pub fn at(&self, value: Value) -> Spot {
        self.spot(self.offset(value))
    }
}

/// The fields of an object; empty for other values.
pub(super) fn fields<'a>(value: Value<'a>) -> Vec<(Cow<'a, str>, Value<'a>)> {
    serde_json::from_str::<Fields>(value.get()).map_or(vec![], |f| f.0)
}

/// The values of an array; empty for other values.
pub(super) fn items<'a>(value: Value<'a>) -> Vec<Value<'a>> {
    serde_json::from_str(value.get()).unwrap_or_default()
}

/// The field with this name.
pub(super) fn field<'a>(fields: &[(Cow<str>, Value<'a>)], name: &str) -> Option<Value<'a>> {
    fields.iter().find(|(n, _)| n == name).map(|(_, v)| *v)
}

/// A number, possibly in quotes.
pub(super) fn number(value: Value) -> Option<f64> {
    let plain = value.get().trim_matches('"');
    plain.parse::<f64>().ok().filter(|v| v.is_finite())
}

/// A text; for numbers their digits.
pub(super) fn text(value: Value) -> String {
    serde_json::from_str::<String>(value.get()).unwrap_or_else(|_| value.get().to_owned())
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut all = vec![];
                while let Some(field) = map.next_entry::<String, Value<'de>>().map_err(de::Error::custom)? {
                    all.push((Cow::Owned(field.0), field.1));
                }
                Ok(Fields(all))
            }
        }
        from.deserialize_map(Each)
    }
}
