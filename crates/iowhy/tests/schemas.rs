//! What is printed as JSON is what `docs/schemas` describe: every field, and no other. The files are made from the types that are
//! printed; `make bless` writes them.

use crate::schema::{file, root, Schema, WORDS};
use serde_json::Value;
use std::process::Command;

fn printed(arguments: &[&str]) -> Value {
    let out =
        Command::new(env!("CARGO_BIN_EXE_iowhy")).current_dir(root()).args(arguments).output().expect("runs");
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("JSON")
}

/// Every schema within one, with where it is and whether it is a field or a type, which have names.
fn each_schema(schema: &Value, at: String, named: bool, seen: &mut impl FnMut(&str, bool, &Value)) {
    seen(&at, named, schema);
    for group in ["properties", "$defs"] {
        for (name, inner) in schema[group].as_object().into_iter().flatten() {
            each_schema(inner, format!("{at}/{group}/{name}"), true, seen);
        }
    }
    for word in ["items", "additionalProperties", "prefixItems", "anyOf", "oneOf"] {
        let inner = match &schema[word] {
            Value::Array(all) => &all[..],
            one => std::slice::from_ref(one),
        };
        for (i, inner) in inner.iter().filter(|inner| inner.is_object()).enumerate() {
            each_schema(inner, format!("{at}/{word}/{i}"), false, seen);
        }
    }
}

#[test]
fn the_files_are_what_the_types_say() {
    let all: Vec<_> = report::schema::schemas().into_iter().chain([checkup::schema()]).collect();
    let files = std::fs::read_dir(root().join("docs/schemas")).expect("schemas").count();
    assert_eq!(all.len(), files, "a file that no type makes");
    for (name, schema) in all {
        let (file, text) = (file(name), serde_json::to_string_pretty(&schema).expect("JSON") + "\n");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&file, &text).expect("written");
        }
        let is = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(is == text, "{name} has changed: `make bless` writes {} anew", file.display());
        each_schema(&schema, name.to_string(), true, &mut |at, named, schema| {
            let description = schema["description"].as_str().unwrap_or_default();
            // The one that tells variants apart has only one value in each.
            let is_tag = schema.get("const").is_some();
            assert!(!named || is_tag || description.ends_with('.'), "{at} is not described");
            for word in schema.as_object().expect("an object").keys() {
                assert!(word == "items" || WORDS.contains(&word.as_str()), "{at}: {word} is not understood");
            }
        });
    }
}

/// Who writes a script wants to know of each whether it stays.
#[test]
fn of_every_schema_is_said_how_long_it_holds() {
    let said = std::fs::read_to_string(root().join("docs/releasing.md")).expect("what is stable");
    for (name, _) in report::schema::schemas().into_iter().chain([checkup::schema()]) {
        assert!(
            said.contains(&format!("`{name}`")),
            "docs/releasing.md does not say whether {name} is stable"
        );
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
fn what_causes_prints_is_what_is_described() {
    let (all, one) = (printed(&["causes", "--json"]), printed(&["causes", "--json", "flush-cost"]));
    for document in [&all, &one] {
        let wrong = Schema::of(document).check(document);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
    let listed = all["causes"].as_array().expect("causes");
    assert_eq!(listed.len(), causes::all_pages().count());
    assert!(listed.iter().all(|cause| cause["page"].is_null()), "the list has no pages");
    let of = |name: &str| listed.iter().find(|cause| cause["name"] == name).expect("a cause");
    assert_eq!(
        (&of("rate-limit")["nature"], &of("rate-limit")["in_recordings"]),
        (&"limit".into(), &true.into())
    );
    assert_eq!(
        (&of("stable-page")["nature"], &of("link-reset")["in_recordings"]),
        (&"rare".into(), &false.into())
    );
    let page = one["causes"][0]["page"].as_str().expect("its page");
    assert!(page.starts_with("# flush-cost\n") && page.contains("## What to do"), "{page}");
    let out = Command::new(env!("CARGO_BIN_EXE_iowhy"))
        .args(["causes", "--json", "bad-luck"])
        .output()
        .expect("runs");
    assert_eq!((out.status.code(), out.stdout.is_empty()), (Some(2), true));
}

#[test]
fn what_whatif_prints_is_what_is_described() {
    let (starved, flooded) = ("fixtures/deadline-starved", "fixtures/randread-vs-bufferedwrite");
    let commands: [&[&str]; 9] = [
        &[starved, "--set", "fifo_batch=4"],
        &[starved, "--set", "fifo_batch=4", "or", "read_expire=100"],
        &[starved, "--sweep", "read_expire=100..400"],
        &[starved, "--suggest", "--aim", "read.p99 < 20ms"],
        &[starved, "--explain-load"],
        &[starved, "--schedule", "1.0-1.1"],
        &[flooded, "--explain-load"],
        &[flooded, "--without", "kworker/u4:0"],
        &[flooded, "--alone", "fio"],
    ];
    for command in commands {
        let document = printed(&[&["whatif", "--json"], command].concat());
        let wrong = Schema::of(&document).check(&document);
        assert!(wrong.is_empty(), "{command:?}:\n{}", wrong[..wrong.len().min(20)].join("\n"));
    }
}

#[test]
fn what_the_page_draws_is_what_is_described() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    let file = page.to_str().expect("a name");
    let fixture = |name: &str| format!("fixtures/{name}");
    let pages = [
        vec![fixture("fsync-ordered-data")],
        vec![fixture("raid5-randwrite8k")],
        vec![fixture("misc-events")],
        vec![fixture("hidden-tags")],
        vec![format!("a={}", fixture("randread-baseline")), fixture("randread-vs-bufferedwrite")],
    ];
    for captures in pages {
        let of: Vec<&str> = captures.iter().map(String::as_str).collect();
        let out = Command::new(env!("CARGO_BIN_EXE_iowhy"))
            .current_dir(root())
            .args(["report", "--html", file])
            .args(&of)
            .output()
            .expect("runs");
        assert!(out.status.success(), "{of:?}: {}", String::from_utf8_lossy(&out.stderr));
        let text = std::fs::read_to_string(&page).expect("the page");
        let (_, data) = text.split_once("id=\"data\">").expect("its data");
        let (data, _) = data.split_once("</script>").expect("their end");
        let document: Value = serde_json::from_str(data).expect("JSON");
        let wrong = Schema::of(&document).check(&document);
        assert!(wrong.is_empty(), "{of:?}:\n{}", wrong[..wrong.len().min(20)].join("\n"));
        let recordings = document["captures"].as_array().expect("recordings");
        assert_eq!(recordings.len(), of.len());
        for explain in recordings.iter().map(|capture| &capture["explain"]) {
            let wrong = Schema::of(explain).check(explain);
            assert!(wrong.is_empty(), "{of:?}:\n{}", wrong[..wrong.len().min(20)].join("\n"));
        }
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
