//! JSON held against the schemas in `docs/schemas`.
// Each test that uses it uses a part of it.
#![allow(dead_code)]

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The words of JSON Schema that [`Schema::check`] understands. Others would look like a check and be none.
pub const WORDS: [&str; 20] = [
    "$schema",
    "$id",
    "$defs",
    "$ref",
    "title",
    "description",
    "type",
    "const",
    "enum",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "prefixItems",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "additionalProperties",
    "unevaluatedProperties",
];

/// Of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A schema of `docs/schemas`.
pub struct Schema(pub Value);

impl Schema {
    /// By the name that a document gives itself: `iowhy.explain/2`.
    pub fn of(document: &Value) -> Schema {
        Schema::read(&file(document["schema"].as_str().expect("a schema's name")))
    }

    /// From its file.
    pub fn read(path: &Path) -> Schema {
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Schema(serde_json::from_str(&text).expect("JSON"))
    }

    /// What is wrong with a value, with where it is.
    pub fn check(&self, value: &Value) -> Vec<String> {
        let mut wrong = vec![];
        self.at(&self.0, value, "", &mut wrong);
        wrong
    }

    /// Gives back the fields that are described.
    fn at<'a>(
        &self,
        schema: &Value,
        value: &'a Value,
        at: &str,
        wrong: &mut Vec<String>,
    ) -> BTreeSet<&'a str> {
        let mut known = BTreeSet::new();
        if let Some(name) = schema["$ref"].as_str() {
            let definition = self.0.pointer(name.trim_start_matches('#')).expect("a definition");
            known.extend(self.at(definition, value, at, wrong));
        }
        let is = |wanted: &Value| wanted.as_str().is_some_and(|wanted| is_of(value, wanted));
        match &schema["type"] {
            Value::Null => {}
            Value::Array(any) if any.iter().any(is) => {}
            one if is(one) => {}
            wanted => {
                wrong.push(format!("{at} is no {wanted}: {value}"));
                return known;
            }
        }
        if schema.get("const").is_some_and(|only| only != value) {
            wrong.push(format!("{at} is not {}: {value}", schema["const"]));
        }
        if let Some(list) = schema["enum"].as_array().filter(|list| !list.contains(value)) {
            wrong.push(format!("{at} is none of {list:?}: {value}"));
        }
        let number = value.as_f64();
        let beyond = |word: &str, sign: f64| {
            number.zip(schema[word].as_f64()).is_some_and(|(n, end)| n * sign > end * sign)
        };
        if beyond("minimum", -1.0) || beyond("maximum", 1.0) {
            wrong.push(format!("{at} is out of range: {value}"));
        }
        for (word, most) in [("anyOf", usize::MAX), ("oneOf", 1)] {
            if let Some(kinds) = schema[word].as_array() {
                known.extend(self.any(kinds, most, value, at, wrong));
            }
        }
        self.items(schema, value, at, wrong);
        known.extend(self.fields(schema, value, at, wrong));
        let others = value.as_object().into_iter().flat_map(|fields| fields.keys());
        let strange = others.filter(|name| !known.contains(name.as_str()));
        if schema["unevaluatedProperties"] == false {
            wrong.extend(strange.map(|name| format!("{at}/{name} is not described")));
        }
        known
    }

    /// A value of several kinds: at least one fits, and at most so many do.
    fn any<'a>(
        &self,
        kinds: &[Value],
        most: usize,
        value: &'a Value,
        at: &str,
        wrong: &mut Vec<String>,
    ) -> BTreeSet<&'a str> {
        let (mut known, mut fit, mut nearest) = (BTreeSet::new(), 0, None);
        for kind in kinds {
            let mut against = vec![];
            let fields = self.at(kind, value, at, &mut against);
            if against.is_empty() {
                fit += 1;
                known.extend(fields);
            } else if nearest.as_ref().is_none_or(|n: &Vec<String>| n.len() > against.len()) {
                nearest = Some(against);
            }
        }
        if fit == 0 || fit > most {
            wrong.push(format!("{at} is none of {} kinds, or of several: {value}", kinds.len()));
            wrong.extend(nearest.unwrap_or_default());
        }
        known
    }

    fn items(&self, schema: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
        let Some(items) = value.as_array() else { return };
        let places = schema["prefixItems"].as_array().map_or(&[][..], Vec::as_slice);
        for (i, item) in items.iter().enumerate() {
            if let Some(of) = places.get(i).or(schema.get("items")) {
                self.at(of, item, &format!("{at}/{i}"), wrong);
            }
        }
        let length = items.len() as u64;
        if schema["minItems"].as_u64().is_some_and(|n| length < n)
            || schema["maxItems"].as_u64().is_some_and(|n| length > n)
        {
            wrong.push(format!("{at} has {length} items"));
        }
    }

    fn fields<'a>(
        &self,
        schema: &Value,
        value: &'a Value,
        at: &str,
        wrong: &mut Vec<String>,
    ) -> BTreeSet<&'a str> {
        let mut known = BTreeSet::new();
        let Some(fields) = value.as_object() else { return known };
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                wrong.push(format!("{at} lacks {name}"));
            }
        }
        for (name, field) in fields {
            let at = format!("{at}/{name}");
            match (schema["properties"].get(name), &schema["additionalProperties"]) {
                (None, Value::Null) => continue,
                (None, Value::Bool(false)) => wrong.push(format!("{at} is not described")),
                (Some(of), _) | (None, of) => drop(self.at(of, field, &at, wrong)),
            }
            known.insert(name.as_str());
        }
        known
    }
}

/// Where the schema of this name is.
pub fn file(name: &str) -> PathBuf {
    root().join(format!("docs/schemas/{}.json", name.replace('/', "-")))
}

fn is_of(value: &Value, wanted: &str) -> bool {
    match wanted {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("no type: {other}"),
    }
}
