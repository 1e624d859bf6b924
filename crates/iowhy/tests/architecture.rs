//! Crates use one another only in the order that docs/architecture.md lists, and nothing that they have no use for; no file of tests is forgotten.

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

/// Files of tests that cargo is told of are those that it runs: one that no program has as a module is no test.
#[test]
fn every_file_of_tests_is_run() {
    let mut idle = vec![];
    for package in packages() {
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).with_file_name("tests");
        let targets = package["targets"].as_array().unwrap().iter();
        let programs: Vec<PathBuf> = targets
            .filter(|target| target["kind"][0] == "test")
            .map(|target| target["src_path"].as_str().unwrap().into())
            .collect();
        let all: String =
            programs.iter().filter_map(|program| std::fs::read_to_string(program).ok()).collect();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_program = |path: &Path| programs.iter().any(|program| program == path);
            let has_code = path.extension().is_some_and(|e| e == "rs") || path.join("main.rs").exists();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let is_module = all.lines().any(|line| line == format!("mod {name};"));
            if has_code && !is_module && !is_program(&path) && !is_program(&path.join("main.rs")) {
                idle.push(path);
            }
        }
    }
    assert_eq!(idle, Vec::<PathBuf>::new(), "a line `mod NAME;` in tests/all.rs, or [[test]] in Cargo.toml");
}

/// No library has its documents tested (`doctest = false`: to look for examples took half a minute, and there were none).
#[test]
fn documents_in_the_sources_hold_no_example_that_should_run() {
    let mut found = vec![];
    let mut sources = vec![];
    for package in packages() {
        let library = package["targets"].as_array().unwrap().iter().find(|target| target["kind"][0] == "lib");
        let Some(library) = library else { continue };
        assert_eq!(library["doctest"], false, "{}: `doctest = false` in Cargo.toml", short(&package));
        files(Path::new(library["src_path"].as_str().unwrap()).parent().unwrap(), &mut sources);
    }
    for path in sources {
        let text = std::fs::read_to_string(&path).unwrap();
        let comments = text.lines().filter_map(|line| {
            let line = line.trim_start();
            line.strip_prefix("//!").or(line.strip_prefix("///"))
        });
        let fences = comments.filter_map(|comment| comment.trim_start().strip_prefix("```"));
        // Every second one ends what the one before began.
        found.extend(
            fences.step_by(2).filter(|begun| *begun != "text").map(|begun| (path.clone(), begun.to_owned())),
        );
    }
    assert_eq!(found, vec![], "shown as `text`, or its crate has its documents tested");
}

/// The sources in a folder.
fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push(path);
        }
    }
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
