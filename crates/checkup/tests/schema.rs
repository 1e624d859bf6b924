//! `docs/schemas/iowhy.checkup-1.json` is made from the types that are written: their fields, with what is said of each. Anew with
//! `BLESS=1 cargo test -p iowhy-checkup --test schema`.

use serde_json::{json, Map, Value};
use std::path::Path;

/// Where the types are.
const SOURCES: [&str; 5] = [
    include_str!("../src/result.rs"),
    include_str!("../src/company.rs"),
    include_str!("../src/place.rs"),
    include_str!("../src/processors.rs"),
    include_str!("../src/trial.rs"),
];

/// A struct: what is said of it, and of each field that, its name and its type.
struct Type {
    description: String,
    fields: Vec<(String, String, String)>,
}

/// A public struct by its name.
fn find(name: &str) -> Type {
    let head = format!("pub struct {name} {{\n");
    let found = SOURCES.iter().find_map(|s| s.split_once(&head));
    let (before, body) = found.unwrap_or_else(|| panic!("no struct {name}"));
    let (body, _) = body.split_once("\n}").expect("the struct's end");
    let above = before.lines().rev().take_while(|l| l.starts_with("///") || l.starts_with("#["));
    let above: Vec<&str> = above.collect();
    let description = words(above.into_iter().rev());
    let (mut fields, mut said, mut skipped) = (vec![], vec![], false);
    for line in body.lines().map(str::trim) {
        if line.starts_with("///") {
            said.push(line);
        } else if line.starts_with("#[serde(skip)]") {
            skipped = true;
        } else if let Some((name, of)) = line.strip_prefix("pub ").and_then(|l| l.split_once(": ")) {
            let field = (words(said.drain(..)), name.to_string(), of.trim_end_matches(',').to_string());
            if !std::mem::take(&mut skipped) {
                fields.push(field);
            }
        }
    }
    assert!(!fields.is_empty(), "{name}");
    Type { description, fields }
}

/// What a comment says, as plain text.
fn words<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let text: Vec<&str> = lines.filter_map(|l| l.strip_prefix("///")).map(str::trim).collect();
    text.join(" ").replace("[`", "`").replace("`]", "`")
}

fn inner<'a>(of: &'a str, wrapper: &str) -> Option<&'a str> {
    of.strip_prefix(wrapper)?.strip_prefix('<')?.strip_suffix('>')
}

/// The schema of a type. What is said of the field goes before what is said of the type.
fn schema(of: &str, said: Option<&str>) -> Value {
    if let Some(of) = inner(of, "Option") {
        let mut v = schema(of, said);
        v["type"] = json!([v["type"], "null"]);
        return v;
    }
    if let Some(of) = inner(of, "Vec") {
        return json!({ "description": said, "type": "array", "items": schema(of, None) });
    }
    if let Some(of) = inner(of, "BTreeMap") {
        let (_, of) = of.split_once(", ").expect("a map's types");
        return json!({ "description": said, "type": "object", "additionalProperties": schema(of, None) });
    }
    let plain = |of: &str| json!({ "description": said.unwrap_or("One of them."), "type": of });
    match of {
        "String" | "PathBuf" => plain("string"),
        "bool" => plain("boolean"),
        "f64" => plain("number"),
        "u8" | "u32" | "u64" | "usize" => plain("integer"),
        name => Value::Object(object(&find(name), said)),
    }
}

fn object(of: &Type, said: Option<&str>) -> Map<String, Value> {
    let field = |(said, name, of): &(String, String, String)| (name.clone(), schema(of, Some(said)));
    let properties: Map<String, Value> = of.fields.iter().map(field).collect();
    let required: Vec<&String> = of.fields.iter().map(|(_, name, _)| name).collect();
    let fields = json!({
        "description": said.unwrap_or(&of.description),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    fields.as_object().cloned().unwrap_or_default()
}

#[test]
fn the_schema_is_that_of_the_types() {
    let name =
        json!({ "description": "The name of this schema.", "type": "string", "enum": [checkup::SCHEMA] });
    let head = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://github.com/iowhy/iowhy/docs/schemas/iowhy.checkup-1.json",
        "title": "iowhy.checkup/1: `iowhy checkup -o FILE`",
    });
    let mut made = head.as_object().cloned().unwrap_or_default();
    made.extend(object(&find("Checkup"), Some("The result of a checkup, which `--compare` reads too.")));
    made["properties"]["schema"] = name;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/iowhy.checkup-1.json");
    let text = serde_json::to_string_pretty(&made).expect("JSON") + "\n";
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &text).expect("written");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap_or_default(), text, "BLESS=1 writes it anew");
}
