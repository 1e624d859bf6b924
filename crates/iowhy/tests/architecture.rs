//! Crates use one another only in the order that docs/architecture.md lists.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const PREFIX: &str = "iowhy-";
/// For tests and the project's own tools; the program uses none of them.
const BESIDE: [&str; 6] = ["slowdisk", "testkit", "lab", "xtask", "fuzz", "packaging"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The lines of the block ```` ```order ````, a crate in each; behind the name a line may say what it is.
fn order(document: &str) -> Vec<&str> {
    let lines = document.lines().skip_while(|line| *line != "```order").skip(1);
    lines.take_while(|line| *line != "```").filter_map(|line| line.split_whitespace().next()).collect()
}

/// The crates of the workspace, each with those that it uses outside of tests.
fn uses() -> Vec<(String, Vec<String>)> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let arguments = ["metadata", "--offline", "--no-deps", "--format-version", "1"];
    let out = Command::new(cargo).args(arguments).current_dir(root()).output().unwrap();
    let all: Value = serde_json::from_slice(&out.stdout).unwrap();
    let short = |package: &Value| {
        let name = package["name"].as_str().unwrap();
        name.strip_prefix(PREFIX).unwrap_or(name).to_owned()
    };
    let uses = |package: &Value| {
        let all = package["dependencies"].as_array().unwrap().iter();
        all.filter(|d| !d["path"].is_null() && d["kind"] != "dev").map(short).collect()
    };
    all["packages"].as_array().unwrap().iter().map(|package| (short(package), uses(package))).collect()
}

#[test]
fn crates_use_only_what_stands_above_them() {
    let document = std::fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let order = order(&document);
    let place = |name: &str| order.iter().position(|other| *other == name);
    let uses = uses();
    for name in &order {
        assert!(uses.iter().any(|(other, _)| other == name), "the list has {name}, the workspace has not");
        assert_eq!(order.iter().filter(|other| *other == name).count(), 1, "{name} is listed twice");
    }
    for (name, used) in uses.iter().filter(|(name, _)| !BESIDE.contains(&name.as_str())) {
        let own = place(name).unwrap_or_else(|| panic!("docs/architecture.md does not list {name}"));
        for other in used {
            let above = place(other).is_some_and(|at| at < own);
            assert!(above, "{name} uses {other}, which docs/architecture.md does not list above it");
        }
    }
}
