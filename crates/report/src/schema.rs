//! JSON Schemas of what is printed, made from its types; doc comments of fields become their descriptions.

use schemars::generate::SchemaSettings;
use schemars::JsonSchema;
use serde_json::{json, Map, Value};

/// Keywords whose value is a schema, or a list of schemas.
const INNER: [&str; 6] = ["items", "prefixItems", "additionalProperties", "anyOf", "oneOf", "allOf"];
/// Keywords whose value maps names to schemas.
const NAMED: [&str; 2] = ["properties", "$defs"];

/// All schemas, each with the name that its documents have in the field `schema`.
pub fn schemas() -> Vec<(&'static str, Value)> {
    let page = "the data of `iowhy report --html`";
    vec![
        of::<crate::json::explained::Explained>(crate::json::explained::SCHEMA, "`iowhy explain --json`"),
        of::<crate::tables::Report>("iowhy.report/1", "`iowhy report --json`"),
        of::<crate::slow::Slowest>("iowhy.slow/1", "`iowhy slow --json`"),
        of::<crate::compare::Comparison>("iowhy.compare/1", "`iowhy compare --json`"),
        of::<crate::dist::Distributions>("iowhy.dist/1", "`iowhy dist --json`"),
        of::<crate::known_causes::KnownCauses>(crate::known_causes::SCHEMA, "`iowhy causes --json`"),
        of::<crate::what_if::Supposed>("iowhy.whatif/1", "`iowhy whatif --json`"),
        of::<crate::html::data::Page>("iowhy.page/1", page),
    ]
}

/// The schema of one kind of document, with its name. `printed_by` says what prints it and becomes part of the title.
pub fn of<T: JsonSchema>(name: &'static str, printed_by: &str) -> (&'static str, Value) {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut made = settings.into_generator().into_root_schema_for::<T>().to_value();
    closed(&mut made, false);
    let file = name.replace('/', "-");
    let id = format!("https://github.com/iowhy/iowhy/docs/schemas/{file}.json");
    let head = json!({ "$schema": made["$schema"], "$id": id, "title": format!("{name}: {printed_by}") });
    let mut whole: Map<String, Value> = head.as_object().cloned().unwrap_or_default();
    made["properties"]["schema"]["const"] = name.into();
    for (word, value) in made.as_object_mut().into_iter().flat_map(std::mem::take) {
        whole.entry(word).or_insert(value);
    }
    (name, whole.into())
}

/// Forbids unknown fields and removes what only Rust understands. `is_part`: the schema around it has fields too.
fn closed(schema: &mut Value, is_part: bool) {
    let Some(words) = schema.as_object_mut() else { return };
    words.retain(|word, _| word != "default" && word != "format");
    if let Some(Value::String(text)) = words.shift_remove("description") {
        let plain = text.replace("[`", "`").replace("`]", "`");
        let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        words.shift_insert(0, "description".into(), line.into());
    }
    let has_fields = words.contains_key("properties");
    let is_joined = ["anyOf", "oneOf", "allOf"].iter().any(|word| words.contains_key(*word));
    for word in NAMED {
        let named = words.get_mut(word).and_then(Value::as_object_mut);
        named.into_iter().flat_map(Map::values_mut).for_each(|inner| closed(inner, false));
    }
    for word in INNER {
        let is_part = ["anyOf", "oneOf", "allOf"].contains(&word) && (is_part || has_fields);
        match words.get_mut(word) {
            Some(Value::Array(all)) => all.iter_mut().for_each(|inner| closed(inner, is_part)),
            Some(one) => closed(one, is_part),
            None => {}
        }
    }
    if has_fields && !is_part {
        let word = if is_joined { "unevaluatedProperties" } else { "additionalProperties" };
        words.entry(word).or_insert(false.into());
    }
}
