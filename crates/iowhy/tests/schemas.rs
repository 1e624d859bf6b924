//! What is printed as JSON is what `docs/schemas` describe: every field, and no other.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The words of JSON Schema that [`Schema::check`] understands. Others would look like a check and be none.
const WORDS: [&str; 11] = [
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

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn printed(arguments: &[&str]) -> Value {
    let out =
        Command::new(env!("CARGO_BIN_EXE_iowhy")).current_dir(root()).args(arguments).output().expect("runs");
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("JSON")
}

struct Schema(Value);

impl Schema {
    /// By the name that a document gives itself: `iowhy.explain/2`.
    fn of(document: &Value) -> Schema {
        let name = document["schema"].as_str().expect("a schema's name").replace('/', "-");
        Schema::read(&root().join(format!("docs/schemas/{name}.json")))
    }

    fn read(path: &Path) -> Schema {
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Schema(serde_json::from_str(&text).expect("JSON"))
    }

    /// What is wrong with a value, with where it is.
    fn check(&self, value: &Value) -> Vec<String> {
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

/// Every schema within one, with where it is.
fn each_schema(schema: &Value, at: String, seen: &mut impl FnMut(&str, &Value)) {
    seen(&at, schema);
    for (group, inner) in ["properties", "$defs"].map(|g| (g, schema[g].as_object())) {
        inner
            .into_iter()
            .flatten()
            .for_each(|(name, s)| each_schema(s, format!("{at}/{group}/{name}"), seen));
    }
    for one in ["items", "additionalProperties"].into_iter().filter(|one| schema[*one].is_object()) {
        each_schema(&schema[one], format!("{at}/{one}"), seen);
    }
}

#[test]
fn every_field_is_described_and_nothing_is_asked_that_is_not_checked() {
    let files: Vec<PathBuf> = std::fs::read_dir(root().join("docs/schemas"))
        .expect("schemas")
        .map(|f| f.expect("a file").path())
        .collect();
    assert!(files.len() >= 5, "{files:?}");
    for file in files {
        let Schema(schema) = Schema::read(&file);
        each_schema(&schema, file.display().to_string(), &mut |at, schema| {
            let description = schema["description"].as_str().unwrap_or_default();
            assert!(description.ends_with('.'), "{at} is not described");
            for word in schema.as_object().expect("an object").keys() {
                assert!(word == "items" || WORDS.contains(&word.as_str()), "{at}: {word} is not understood");
            }
        });
    }
}

#[test]
fn what_is_printed_is_what_is_described() {
    let captures = [
        "fsync-ordered-data",
        "randread-vs-bufferedwrite",
        "raid5-randwrite8k",
        "misc-events",
        "hidden-tags",
    ];
    let paths: Vec<String> = captures.iter().map(|name| format!("fixtures/{name}")).collect();
    let mut commands: Vec<Vec<&str>> = vec![];
    for path in &paths {
        commands.push(vec!["explain", "--json", path]);
        commands.push(vec!["explain", "--json", "--tail", "--window", "0:5", "--op", "read", path]);
        commands.push(vec!["report", "--json", path]);
        commands.push(vec!["slow", "-n", "3", "--events", "--json", path]);
        commands.push(vec!["slow", "-n", "3", "--requests", "--json", path]);
    }
    commands.push(vec!["explain", "--json", "--predict", "fixtures/deadline-starved"]);
    commands.push(vec!["explain", "--json", "fixtures/mails/writeback.txt"]);
    commands.push(vec!["explain", "--json", "--with-texts", &paths[0], "fixtures/fio/alone.json"]);
    commands.push(vec!["compare", "--json", &paths[1], "fixtures/randread-baseline"]);
    commands.push(vec!["compare", "--json", "fixtures/fio/alone.json", &paths[1]]);
    commands.push(vec!["dist", "--json", &paths[0]]);
    for command in commands {
        let document = printed(&command);
        let wrong = Schema::of(&document).check(&document);
        assert!(wrong.is_empty(), "{command:?}:\n{}", wrong[..wrong.len().min(20)].join("\n"));
    }
}

#[test]
fn what_is_not_described_is_found() {
    let mut document = printed(&["explain", "--json", "fixtures/fsync-ordered-data"]);
    document["victims"][0]["lost_ns"] = "much".into();
    document["answer"]["kind"] = "maybe".into();
    document["new"] = 1.into();
    document.as_object_mut().expect("an object").remove("unexplained");
    let wrong = Schema::of(&document).check(&document).join("\n");
    for what in
        ["/victims/0/lost_ns is no", "/answer/kind is none of", "/new is not described", " lacks unexplained"]
    {
        assert!(wrong.contains(what), "{what} in\n{wrong}");
    }
}
