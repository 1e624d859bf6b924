//! JSON held against the schemas in `docs/schemas`.
// Each test that uses it uses a part of it.
#![allow(dead_code)]

use serde_json::Value;
use std::path::{Path, PathBuf};

/// The words of JSON Schema that [`Schema::check`] understands. Others would look like a check and be none.
pub const WORDS: [&str; 11] = [
    "$schema",
    "$id",
    "$defs",
    "$ref",
    "title",
    "description",
    "type",
    "enum",
    "properties",
    "required",
    "additionalProperties",
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
        let name = document["schema"].as_str().expect("a schema's name").replace('/', "-");
        Schema::read(&root().join(format!("docs/schemas/{name}.json")))
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

    fn at(&self, schema: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
        if let Some(name) = schema["$ref"].as_str() {
            let definition = self.0.pointer(name.trim_start_matches('#')).expect("a definition");
            self.at(definition, value, at, wrong);
        }
        let is = |wanted: &Value| wanted.as_str().is_some_and(|wanted| is_of(value, wanted));
        match &schema["type"] {
            Value::Null => {}
            Value::Array(any) if any.iter().any(is) => {}
            one if is(one) => {}
            wanted => return wrong.push(format!("{at} is no {wanted}: {value}")),
        }
        if let Some(list) = schema["enum"].as_array().filter(|list| !list.contains(value)) {
            wrong.push(format!("{at} is none of {list:?}: {value}"));
        }
        if let Some(items) = value.as_array().filter(|_| schema.get("items").is_some()) {
            items
                .iter()
                .enumerate()
                .for_each(|(i, v)| self.at(&schema["items"], v, &format!("{at}/{i}"), wrong));
        }
        let Some(fields) = value.as_object() else { return };
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                wrong.push(format!("{at} lacks {name}"));
            }
        }
        for (name, field) in fields {
            let at = format!("{at}/{name}");
            match (schema["properties"].get(name), &schema["additionalProperties"]) {
                (Some(of), _) => self.at(of, field, &at, wrong),
                (None, Value::Bool(false)) => wrong.push(format!("{at} is not described")),
                (None, of) => self.at(of, field, &at, wrong),
            }
        }
    }
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
