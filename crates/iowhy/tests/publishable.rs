//! Every part of the program can be published: cargo's registry wants to know what it is, and takes nothing from outside its folder.

use serde_json::Value;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// The packages that are published: all but tools and tests.
fn published() -> Vec<Value> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let arguments = ["metadata", "--offline", "--no-deps", "--format-version", "1"];
    let out = Command::new(cargo).args(arguments).current_dir(root()).output().unwrap();
    let all: Value = serde_json::from_slice(&out.stdout).unwrap();
    let is_published = |p: &&Value| p["publish"].as_array().is_none_or(|registries| !registries.is_empty());
    all["packages"].as_array().unwrap().iter().filter(is_published).cloned().collect()
}

#[test]
fn every_package_says_what_it_is_and_needs_only_published_ones() {
    let packages = published();
    let names: Vec<&str> = packages.iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"iowhy") && names.contains(&"iowhy-trace") && !names.contains(&"iowhy-testkit"));
    for package in &packages {
        let (name, version) = (&package["name"], package["version"].as_str().unwrap());
        for field in ["description", "license", "repository", "rust_version"] {
            assert!(package[field].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {field}");
        }
        for used in package["dependencies"].as_array().unwrap() {
            if !used["path"].is_null() && used["kind"] != "dev" {
                assert!(names.contains(&used["name"].as_str().unwrap()), "{name} uses {}", used["name"]);
                assert_eq!(used["req"], format!("^{version}"), "{name} uses {} of any version", used["name"]);
            }
        }
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// A path without `..`, as it is written.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut so_far, part| {
        match part {
            Component::ParentDir => drop(so_far.pop()),
            other => so_far.push(other),
        }
        so_far
    })
}

#[test]
fn no_crate_includes_what_lies_outside_of_it() {
    let mut seen = 0;
    for package in published() {
        let home = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_path_buf();
        let mut files = Vec::new();
        sources(&home.join("src"), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            // Tests are compiled where all is at hand.
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            for rest in text.split("include_str!(\"").skip(1).chain(text.split("include_bytes!(\"").skip(1)) {
                let included = rest.split('"').next().unwrap();
                let lies = plain(&file.with_file_name("").join(included));
                assert!(lies.starts_with(&home), "{} includes {included}", file.display());
                assert!(lies.exists(), "{} includes {included}", file.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 50, "only {seen} were found");
}
