//! Which parts of the program have `unsafe` in them, by reading their source.

use crate::outcome::Outcome;
use crate::parts::Program;
use std::collections::BTreeMap;
use std::path::Path;

/// How often `unsafe` stands in the code of each crate, the project's own too. Where it never does, the crate is not listed.
pub fn counted(program: &Program) -> Outcome<BTreeMap<String, usize>> {
    let mut found = BTreeMap::new();
    for part in std::iter::once(&program.own).chain(program.parts.values()) {
        let count = in_folder(&part.folder.join("src"))?;
        if count > 0 {
            *found.entry(part.name.clone()).or_default() += count;
        }
    }
    Ok(found)
}

fn in_folder(folder: &Path) -> Outcome<usize> {
    let mut count = 0;
    for entry in std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            count += in_folder(&path)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            count += in_text(&String::from_utf8_lossy(&std::fs::read(&path)?));
        }
    }
    Ok(count)
}

/// What may follow `unsafe` where it is code.
const FOLLOWS: [&str; 5] = ["{", "fn ", "impl", "extern", "trait "];

/// `unsafe` where it begins something: neither in a comment nor in a text nor as part of a lint's name.
fn in_text(text: &str) -> usize {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let begins = |rest: &str| FOLLOWS.iter().any(|word| rest.trim_start().starts_with(word));
    code.map(|line| line.split("unsafe").skip(1).filter(|rest| begins(rest)).count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::root;
    use std::collections::BTreeSet;

    #[test]
    fn comments_and_lints_do_not_count() {
        assert_eq!(
            in_text("#![forbid(unsafe_code)] // unsafe {\nunsafe { x(\"unsafe-inline\") }; unsafe fn y() {}"),
            2
        );
    }

    /// The rows of docs/unsafe.md: a crate and its reason.
    fn listed() -> BTreeMap<String, String> {
        let text = std::fs::read_to_string(root().join("docs/unsafe.md")).unwrap();
        let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
        rows.map(|(name, why)| (name.to_string(), why.trim_end_matches(" |").to_string())).collect()
    }

    #[test]
    fn the_document_lists_what_has_unsafe_code_and_why() {
        let found: BTreeSet<String> =
            counted(&Program::read("x86_64-unknown-linux-gnu").unwrap()).unwrap().into_keys().collect();
        let listed = listed();
        for name in &found {
            let why = listed.get(name).unwrap_or_else(|| panic!("docs/unsafe.md does not list {name}"));
            assert!(why.len() > 10, "{name}: no reason");
        }
        for name in listed.keys() {
            assert!(
                found.contains(name),
                "docs/unsafe.md lists {name}, which has no unsafe code, or is not in the program"
            );
        }
        assert!(found.len() > 10, "{found:?}");
    }

    #[test]
    fn the_project_has_none_and_its_crates_forbid_it() {
        let found = counted(&Program::read("x86_64-unknown-linux-gnu").unwrap()).unwrap();
        assert!(found.keys().all(|name| name != "iowhy" && !name.starts_with("iowhy-")), "{found:?}");
        let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
        assert!(manifest.contains("unsafe_code = \"forbid\""));
        let mut folders: Vec<_> =
            std::fs::read_dir(root().join("crates")).unwrap().map(|e| e.unwrap().path()).collect();
        folders.extend(["fuzz", "lab", "packaging", "xtask"].map(|name| root().join(name)));
        for folder in folders {
            let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            assert!(
                manifest.contains("[lints]\nworkspace = true"),
                "{}: not under the workspace's lints",
                folder.display()
            );
        }
    }
}
