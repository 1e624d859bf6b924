//! The corpus: what iowhy says of recordings whose cause is known, beside what docs/corpus.md says that it says; and that every
//! cause has its page, its scenario and its twin.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/corpus.md")
}

/// `make corpus` writes the document anew.
#[test]
fn what_is_said_of_the_corpus_is_what_is_written() {
    let scenarios = lab::all().unwrap();
    let judged = lab::judge(Path::new(env!("CARGO_BIN_EXE_iowhy")), &scenarios).unwrap();
    let table = lab::table(&scenarios, &judged).unwrap();
    let written = std::fs::read_to_string(document()).unwrap();
    for (now, then) in table.lines().zip(written.lines()) {
        assert_eq!(
            now, then,
            "docs/corpus.md says otherwise; if the change is meant: make corpus, and read the difference"
        );
    }
    assert_eq!(table.lines().count(), written.lines().count());
}

#[test]
fn every_cause_has_its_page_its_scenario_and_its_twin() {
    let scenarios = lab::all().unwrap();
    let judged = lab::judge(Path::new(env!("CARGO_BIN_EXE_iowhy")), &scenarios[..1]).unwrap();
    let known: BTreeSet<&String> = judged[0].said.keys().collect();
    assert!(known.len() > 18, "{known:?}");
    for cause in known {
        let page = causes::pages().find(|(name, ..)| name == cause).map(|(.., page)| page);
        assert!(page.is_some_and(|p| p.contains("## What to do")), "{cause} has no page");
        let own: Vec<_> = scenarios.iter().filter(|s| s.cause == *cause).collect();
        assert!(!own.is_empty(), "{cause} has no scenario");
        for (name, _, setting) in own.iter().flat_map(|s| s.recordings()) {
            assert!(setting.recording(&name).exists(), "{name} was not recorded");
        }
    }
}

/// A remedy of each cause was tried, or it is said why none can be.
#[test]
fn every_cause_has_a_proof_by_remedy_or_says_why_not() {
    let scenarios = lab::all().unwrap();
    for (cause, ..) in causes::pages() {
        let mut own = scenarios.iter().filter(|s| s.cause == cause).peekable();
        assert!(own.peek().is_some(), "{cause} has no scenario");
        let why_not = own.clone().any(|s| s.name == s.cause && !s.sick.no_proof.is_empty());
        let tried = own.any(|s| lab::proof_of(&s.name).is_file());
        assert!(tried != why_not, "{cause}: tried {tried}, says why not {why_not}");
    }
}

/// Nothing is left of a proof whose scenario names no remedy any more.
#[test]
fn every_proof_is_of_a_scenario_with_a_remedy() {
    let with_remedy: BTreeSet<_> = lab::all()
        .unwrap()
        .into_iter()
        .filter(|s| s.tried.is_some())
        .map(|s| lab::proof_of(&s.name))
        .collect();
    let folder = lab::proof_of("any");
    for file in std::fs::read_dir(folder.parent().unwrap()).unwrap().map(|f| f.unwrap().path()) {
        let proof = file.to_string_lossy().ends_with(".proof.json");
        assert!(!proof || with_remedy.contains(&file), "{}", file.display());
    }
}

#[test]
fn nothing_of_the_corpus_was_lost_or_is_too_large() {
    let scenarios = lab::all().unwrap();
    let mut bytes = 0;
    for (name, _, setting) in scenarios.iter().flat_map(|s| s.recordings()) {
        let path = setting.recording(&name);
        if path.is_file() {
            bytes += path.metadata().unwrap().len();
            // A file that breaks off is read as far as it goes, and nothing else would tell.
            let whole = std::io::copy(
                &mut zstd::Decoder::new(std::fs::File::open(&path).unwrap()).unwrap(),
                &mut std::io::sink(),
            );
            assert!(whole.is_ok(), "{}: {whole:?}", path.display());
        }
    }
    // With the other recordings of the repository (4.4 million bytes) that is less than 25 MiB. Arrays take most: a write is seen on all disks.
    assert!(bytes < 21_600_000, "{bytes} bytes");
}
