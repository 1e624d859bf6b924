//! The answer's form, for every bundled recording: one sentence, one screen, in as many columns as there are.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines of a terminal.
const LINES: usize = 24;
/// Characters of a sentence that is pasted into a chat.
const SENTENCE: usize = 160;

/// All folders with a recording.
fn fixtures() -> Vec<PathBuf> {
    fn files(folder: &Path) -> Vec<PathBuf> {
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
    }
    let fixtures = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures"));
    let folders = fixtures.into_iter().filter(|p| p.is_dir() && !p.ends_with("bad"));
    let below = |p: PathBuf| files(&p).into_iter().filter(|p| p.is_dir()).chain([p]).collect::<Vec<_>>();
    let is_trace = |p: &PathBuf| {
        let name = p.file_name().unwrap_or_default().to_string_lossy();
        name == "trace.dat" || name.contains(".blktrace.")
    };
    let mut all: Vec<PathBuf> = folders.flat_map(below).filter(|p| files(p).iter().any(is_trace)).collect();
    all.sort();
    assert!(all.len() > 15, "{all:?}");
    all
}

fn explain(recording: &Path, arguments: &[&str], columns: &str) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_iowhy"))
        .arg("explain")
        .args(arguments)
        .arg(recording)
        .env("COLUMNS", columns)
        .output()
        .expect("iowhy runs");
    assert!(out.status.success(), "{recording:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

#[test]
fn every_screen_fits() {
    for recording in fixtures() {
        for columns in [60, 80, 132] {
            let screen = explain(&recording, &[], &columns.to_string());
            assert!(screen.lines().count() <= LINES, "{recording:?} in {columns}:\n{screen}");
            for line in screen.lines() {
                // A word that is longer than the line may stand out alone.
                let is_word = line.trim().trim_end_matches(" \\").split(' ').count() == 1;
                assert!(is_word || line.chars().count() <= columns, "{recording:?} in {columns}:\n{line}");
                assert!(!line.ends_with("..."), "a sentence is cut: {recording:?}:\n{line}");
            }
        }
    }
}

#[test]
fn every_answer_is_one_short_sentence() {
    for recording in fixtures() {
        let line = explain(&recording, &["--brief"], "80");
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(line.trim_end().chars().count() <= SENTENCE, "{line}");
        let screen = explain(&recording, &[], "400");
        assert_eq!(screen.lines().next(), line.lines().next());
    }
}
