//! The list of the program's parts, as CycloneDX 1.5.

use crate::others::{others, Other};
use crate::outcome::Outcome;
use crate::parts::{Part, Program};
use serde_json::{json, Value};

/// The document's text.
pub fn text(program: &Program) -> Outcome<String> {
    Ok(format!("{:#}\n", document(program, &others(program)?)))
}

fn document(program: &Program, others: &[Other]) -> Value {
    let crates = program.parts.values().map(component);
    let beside = others.iter().map(|other| {
        let mut component = json!({
            "type": "library", "bom-ref": reference(other.name, &other.version), "name": other.name,
            "description": other.why, "licenses": [{"expression": other.licence}],
        });
        if !other.version.is_empty() {
            component["version"] = json!(other.version);
        }
        component
    });
    let name = |id: &String| program.parts.get(id).map(|p| purl(&p.name, &p.version));
    let uses = |part: &Part| json!(part.uses.iter().filter_map(name).collect::<Vec<_>>());
    let all = std::iter::once(&program.own).chain(program.parts.values());
    let dependencies: Vec<Value> =
        all.map(|p| json!({"ref": purl(&p.name, &p.version), "dependsOn": uses(p)})).collect();
    let mut own = component(&program.own);
    own["type"] = json!("application");
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": own},
        "components": crates.chain(beside).collect::<Vec<_>>(),
        "dependencies": dependencies,
    })
}

fn component(part: &Part) -> Value {
    let purl = purl(&part.name, &part.version);
    let mut component = json!({
        "type": "library", "bom-ref": purl, "name": part.name, "version": part.version, "purl": purl,
        "licenses": [{"expression": part.licence}],
    });
    if let Some(sha256) = &part.sha256 {
        component["hashes"] = json!([{"alg": "SHA-256", "content": sha256}]);
    }
    component
}

/// A package URL; a plus stands for a blank in one.
fn purl(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

fn reference(name: &str, version: &str) -> String {
    match version {
        "" => name.to_string(),
        version => format!("{name}@{version}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_part_is_listed_once_and_every_reference_leads_somewhere() {
        let program = Program::read("x86_64-unknown-linux-gnu").unwrap();
        let document = document(&program, &others(&program).unwrap());
        let components = document["components"].as_array().unwrap();
        let mut known: BTreeSet<&str> = BTreeSet::new();
        for component in components {
            assert!(known.insert(component["bom-ref"].as_str().unwrap()), "{component}");
            assert!(
                component["licenses"][0]["expression"].as_str().is_some_and(|l| !l.is_empty()),
                "{component}"
            );
        }
        for needed in ["glibc", "uplot@1.6.32", "noto-sans-mono"] {
            assert!(known.contains(needed), "{needed}");
        }
        for name in ["inferno", "zstd-sys", "clap", "iowhy-trace"] {
            assert!(components.iter().any(|c| c["name"] == name), "{name}");
        }
        // Neither tests' crates nor macros nor other systems' crates are in the program.
        for name in ["proptest", "serde_derive", "windows-sys", "iowhy-testkit", "cc"] {
            assert!(components.iter().all(|c| c["name"] != name), "{name}");
        }
        for dependency in document["dependencies"].as_array().unwrap() {
            for used in dependency["dependsOn"].as_array().unwrap() {
                assert!(known.contains(used.as_str().unwrap()), "{used}");
            }
        }
    }
}
