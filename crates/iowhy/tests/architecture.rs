//! Crates use one another only in the order that docs/architecture.md lists, and nothing that they have no use for.

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

/// What cargo says of the workspace's packages.
fn packages() -> Vec<Value> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let arguments = ["metadata", "--offline", "--no-deps", "--format-version", "1"];
    let out = Command::new(cargo).args(arguments).current_dir(root()).output().unwrap();
    let mut all: Value = serde_json::from_slice(&out.stdout).unwrap();
    all["packages"].as_array_mut().unwrap().drain(..).collect()
}

/// The name of a package or dependency, the project's own without what they begin with.
fn short(package: &Value) -> String {
    let name = package["name"].as_str().unwrap();
    name.strip_prefix(PREFIX).unwrap_or(name).to_owned()
}

/// The crates of the workspace, each with those that it uses outside of tests.
fn uses() -> Vec<(String, Vec<String>)> {
    let uses = |package: &Value| {
        let all = package["dependencies"].as_array().unwrap().iter();
        all.filter(|d| !d["path"].is_null() && d["kind"] != "dev").map(short).collect()
    };
    packages().iter().map(|package| (short(package), uses(package))).collect()
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

/// All Rust below a folder, without comments; without tests, if these do not count.
fn code(folder: &Path, with_tests: bool) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if !with_tests && (name.starts_with("tests") || name == "target") {
            continue;
        }
        if path.is_dir() {
            all += &code(&path, with_tests);
        } else if name.ends_with(".rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let tests = text.find("#[cfg(test)]\nmod tests {").filter(|_| !with_tests);
            let lines = text[..tests.unwrap_or(text.len())].lines();
            let lines = lines.filter(|line| !line.trim_start().starts_with("//"));
            lines.for_each(|line| all.extend([line, "\n"]));
        }
    }
    all
}

/// Whether a crate is named in a path, as a macro, or by `use`.
fn names(code: &str, of: &str) -> bool {
    let of = of.replace('-', "_");
    code.match_indices(&of).any(|(at, _)| {
        let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
        let (before, behind) = (&code[..at], &code[at + of.len()..]);
        let begins = !before.ends_with(inside);
        begins && (behind.starts_with("::") || behind.starts_with('!') || before.ends_with("use "))
    })
}

#[test]
fn every_dependency_has_a_user() {
    assert!(names("use a_b;", "a-b") && names("x(a_b::c)", "a-b") && names("a!{}", "a"));
    assert!(!names("// a", "a") && !names("b::a::c.a", "c") && !names("xa::b", "a"));
    let mut idle = vec![];
    for package in packages() {
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned();
        let (own, all) = (code(&folder.join("src"), false), code(&folder, true));
        for of in package["dependencies"].as_array().unwrap() {
            let text = if of["kind"] == "dev" { &all } else { &own };
            if !names(text, &short(of)) {
                idle.push(format!("{} {}", short(&package), short(of)));
            }
        }
    }
    assert_eq!(
        idle,
        Vec::<String>::new(),
        "dependencies without a user outside of tests (of tests, if they are for these)"
    );
}
