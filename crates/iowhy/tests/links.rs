//! Every link between the project's documents leads somewhere, and every document is in the book.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// What nobody wrote here, and parts that become documents elsewhere.
const NOT_DOCUMENTS: [&str; 4] = ["target", "node_modules", ".git", "src"];

fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        match entry.file_type().unwrap().is_dir() {
            true if !NOT_DOCUMENTS.contains(&name.as_str()) => documents(&path, found),
            false if name.ends_with(".md") => found.push(path),
            _ => {}
        }
    }
}

/// The text without what is code.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let mut out = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            // Every second part lies between two back-ticks.
            out.extend(line.split('`').step_by(2).flat_map(|part| [part, " "]));
            out.push('\n');
        }
    }
    out
}

/// What links lead to: `](target)`.
fn links(prose: &str) -> Vec<String> {
    let after = prose.split("](").skip(1);
    after.filter_map(|rest| Some(rest.split_once(')')?.0.split_whitespace().next()?.to_string())).collect()
}

/// How sites call a heading: small letters, blanks as hyphens, no other signs.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let name = |line: &str| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(name).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut all = Vec::new();
    documents(&root(), &mut all);
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for document in &all {
        for link in links(&prose(&fs::read_to_string(document).unwrap())) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            seen += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let to = if file.is_empty() { document.clone() } else { document.with_file_name("").join(file) };
            let there = to.exists();
            let heading = anchor.is_empty()
                || fs::read_to_string(&to).is_ok_and(|text| anchors(&text).contains(anchor));
            if !there || !heading {
                wrong.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "lead nowhere:\n{}", wrong.join("\n"));
    assert!(seen > 100, "only {seen} links were found");
}

#[test]
fn every_document_is_in_the_book() {
    let docs = root().join("docs");
    let summary = links(&fs::read_to_string(docs.join("SUMMARY.md")).unwrap());
    let listed: BTreeSet<PathBuf> = summary.iter().map(|link| docs.join(link)).collect();
    let mut all = Vec::new();
    documents(&docs, &mut all);
    for document in all.iter().filter(|path| !path.ends_with("SUMMARY.md")) {
        assert!(listed.contains(document), "docs/SUMMARY.md does not list {}", document.display());
    }
    for path in &listed {
        assert!(path.exists(), "docs/SUMMARY.md lists {}", path.display());
    }
}

#[test]
fn links_in_code_are_none() {
    let text = "[a](b.md) `[c](d.md)`\n```\n[e](f.md)\n```\n[g](#h \"title\")";
    assert_eq!(links(&prose(text)), ["b.md", "#h"]);
    assert!(anchors("## How it is: read, again").contains("how-it-is-read-again"));
}
