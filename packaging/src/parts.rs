//! The crates that are linked into the program, as cargo tells of them.

use crate::outcome::Outcome;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package whose program is shipped.
const PROGRAM: &str = "iowhy";

/// A crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub name: String,
    pub version: String,
    /// As an expression of SPDX.
    pub licence: String,
    /// Of the archive in the registry; none of the project's own crates.
    pub sha256: Option<String>,
    pub authors: Vec<String>,
    pub folder: PathBuf,
    /// Identities of what it uses.
    pub uses: Vec<String>,
}

/// The program and its parts, by identity.
#[derive(Debug)]
pub struct Program {
    pub own: Part,
    pub parts: BTreeMap<String, Part>,
}

/// The root of the project's files.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

impl Program {
    /// Asks cargo.
    pub fn read(target: &str) -> Outcome<Program> {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let arguments = ["metadata", "--locked", "--format-version", "1", "--filter-platform", target];
        let out = Command::new(cargo).args(arguments).current_dir(root()).output()?;
        if !out.status.success() {
            return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&out.stderr).trim()).into());
        }
        let lock = std::fs::read_to_string(root().join("Cargo.lock"))?;
        Program::of(&serde_json::from_slice(&out.stdout)?, &checksums(&lock))
    }

    fn of(all: &Value, checksums: &BTreeMap<(String, String), String>) -> Outcome<Program> {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let packages: BTreeMap<String, Value> =
            list(&all["packages"]).into_iter().map(|p| (words(&p["id"]), p)).collect();
        // Only what is linked in: neither tests' crates nor what runs while it is built. Macros run in the compiler.
        let linked = |dep: &Value| {
            let normal = list(&dep["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
            normal && packages.get(&words(&dep["pkg"])).is_some_and(|p| !is_macro(p))
        };
        // The project's own crates have optional ones for tests alone.
        let for_tests = |node: &Value, dep: &Value| {
            let user = packages.get(&words(&node["id"])).filter(|p| p["source"].is_null());
            let used = packages.get(&words(&dep["pkg"])).map(|p| &p["name"]);
            let all = user.map(|p| list(&p["dependencies"])).unwrap_or_default();
            all.iter().any(|d| d["optional"] == true && Some(&d["name"]) == used)
        };
        let uses: BTreeMap<String, Vec<String>> = list(&all["resolve"]["nodes"])
            .iter()
            .map(|node| {
                let all = list(&node["deps"]);
                let uses = all.iter().filter(|d| linked(d) && !for_tests(node, d));
                (words(&node["id"]), uses.map(|d| words(&d["pkg"])).collect())
            })
            .collect();
        let top = packages.iter().find(|(_, p)| p["name"] == PROGRAM).map(|(id, _)| id.clone());
        let top = top.ok_or("cargo metadata names no package iowhy")?;
        let (mut seen, mut next) = (BTreeSet::new(), vec![top.clone()]);
        while let Some(id) = next.pop() {
            if seen.insert(id.clone()) {
                next.extend(uses.get(&id).into_iter().flatten().cloned());
            }
        }
        let part = |id: &String| -> Outcome<Part> {
            let package = packages.get(id).ok_or_else(|| format!("cargo metadata lacks {id}"))?;
            let mut used = uses.get(id).cloned().unwrap_or_default();
            used.sort();
            let (name, version) = (words(&package["name"]), words(&package["version"]));
            let manifest = PathBuf::from(words(&package["manifest_path"]));
            Ok(Part {
                licence: expression(&words(&package["license"])),
                sha256: checksums.get(&(name.clone(), version.clone())).cloned(),
                authors: list(&package["authors"]).iter().map(words).collect(),
                folder: manifest.parent().unwrap_or(Path::new("")).to_path_buf(),
                uses: used,
                name,
                version,
            })
        };
        let own = part(&top)?;
        seen.remove(&top);
        let parts = seen.iter().map(|id| Ok((id.clone(), part(id)?))).collect::<Outcome<_>>()?;
        Ok(Program { own, parts })
    }

    /// The parts that others wrote.
    pub fn of_others(&self) -> impl Iterator<Item = &Part> {
        self.parts.values().filter(|part| part.sha256.is_some())
    }
}

fn words(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

fn is_macro(package: &Value) -> bool {
    let targets = package["targets"].as_array().cloned().unwrap_or_default();
    targets.iter().any(|t| t["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|k| k == "proc-macro")))
}

/// `MIT/Apache-2.0`, as old crates write it, is no expression of SPDX.
fn expression(licence: &str) -> String {
    licence.replace('/', " OR ")
}

/// Checksums of packages in a Cargo.lock by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let field = |block: &str, name: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "))?;
        Some(line.trim_matches('"').to_string())
    };
    let blocks = lock.split("[[package]]");
    blocks.filter_map(|b| Some(((field(b, "name")?, field(b, "version")?), field(b, "checksum")?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn package(name: &str, kind: &str) -> Value {
        json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0", "authors": ["A"],
            "manifest_path": format!("/c/{name}/Cargo.toml"), "targets": [{"kind": [kind]}]})
    }

    fn dep(name: &str, kind: Value) -> Value {
        json!({"pkg": name, "dep_kinds": [{"kind": kind}]})
    }

    #[test]
    fn what_is_linked_in_and_nothing_else() {
        let all = json!({
            "packages": [package("iowhy", "bin"), package("a", "lib"), package("b", "lib"), package("derive", "proc-macro"),
                package("cc", "lib"), package("tests", "lib")],
            "resolve": {"nodes": [
                {"id": "iowhy", "deps": [dep("a", Value::Null), dep("derive", Value::Null), dep("tests", json!("dev"))]},
                {"id": "a", "deps": [dep("b", Value::Null), dep("cc", json!("build"))]},
            ]},
        });
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"ab12\"\n";
        let program = Program::of(&all, &checksums(lock)).unwrap();
        assert_eq!(program.parts.keys().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(program.own.uses, ["a"]);
        assert_eq!(program.parts["a"].licence, "MIT OR Apache-2.0");
        assert_eq!(program.of_others().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn without_the_program_there_is_nothing_to_tell() {
        assert!(Program::of(&json!({"packages": []}), &BTreeMap::new()).is_err());
    }
}
