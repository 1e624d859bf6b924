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
    printed(recording, &[&["explain"], arguments].concat(), columns)
}

fn printed(recording: &Path, arguments: &[&str], columns: &str) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_iowhy"))
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
                assert!(fits(line, columns), "{recording:?} in {columns}:\n{line}");
                assert!(!line.ends_with("..."), "a sentence is cut: {recording:?}:\n{line}");
            }
        }
    }
}

/// Whether a line has so many columns at most. A word that is longer may stand out alone.
fn fits(line: &str, columns: usize) -> bool {
    let is_word = line.trim().trim_end_matches(" \\").split(' ').count() == 1;
    is_word || line.chars().count() <= columns
}

#[test]
fn what_stands_behind_the_screen_fits_too() {
    for recording in fixtures() {
        for columns in [60, 80] {
            for arguments in [&["explain", "-v"][..], &["slow", "-n", "3"]] {
                let text = printed(&recording, arguments, &columns.to_string());
                for line in text.lines() {
                    assert!(fits(line, columns), "{arguments:?} {recording:?} in {columns}:\n{line}");
                }
            }
        }
    }
}

/// All texts that are bundled: mails, output of tools, settings.
fn texts() -> Vec<PathBuf> {
    fn below(folder: &Path, all: &mut Vec<PathBuf>) {
        for path in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
        {
            match path.extension().and_then(|e| e.to_str()) {
                _ if path.is_dir() && !path.ends_with("bad") => below(&path, all),
                Some("txt" | "log" | "json") => all.push(path),
                _ => {}
            }
        }
    }
    let mut all = vec![];
    below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures"), &mut all);
    all
}

#[test]
fn every_screen_of_a_text_fits() {
    let mut read = 0;
    for text in texts() {
        for columns in [60, 80, 132] {
            let out = Command::new(env!("CARGO_BIN_EXE_iowhy"))
                .arg("explain")
                .arg(&text)
                .env("COLUMNS", columns.to_string())
                .output()
                .expect("iowhy runs");
            // Some say only what a recording beside them is: the kernel's name, raw events.
            let Some(screen) = Some(out).filter(|o| o.status.success()) else { continue };
            read += 1;
            let screen = String::from_utf8(screen.stdout).expect("text");
            assert!(screen.lines().count() <= LINES, "{text:?} in {columns}:\n{screen}");
            for line in screen.lines() {
                assert!(fits(line, columns), "{text:?} in {columns}:\n{line}");
            }
            assert!(screen.contains("\nTRUST  ") && screen.contains("-v: "), "{text:?}:\n{screen}");
        }
    }
    assert!(read > 100, "{read} texts were read");
}

/// The recordings of known cause, and those of the same load without it.
#[test]
fn every_screen_of_the_corpus_fits() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/corpus");
    let all = std::fs::read_dir(corpus).expect("the corpus").map(|entry| entry.expect("an entry").path());
    let recordings: Vec<PathBuf> = all.filter(|p| p.to_string_lossy().ends_with(".tar.zst")).collect();
    assert!(recordings.len() > 100, "{}", recordings.len());
    std::thread::scope(|scope| {
        for half in recordings.chunks(recordings.len().div_ceil(2)) {
            scope.spawn(move || {
                for recording in half {
                    let screen = explain(recording, &[], "80");
                    assert!(screen.lines().count() <= LINES, "{recording:?}:\n{screen}");
                    let long = |line: &&str| line.chars().count() > 80 && line.trim().contains(' ');
                    assert_eq!(screen.lines().find(long), None, "{recording:?}");
                }
            });
        }
    });
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

/// With -vv each known cause has a line of its own, found or not.
#[test]
fn everything_judged_is_every_cause() {
    let out = Command::new(env!("CARGO_BIN_EXE_iowhy")).arg("causes").output().expect("iowhy runs");
    let listed = String::from_utf8(out.stdout).expect("text");
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.len() > 40, "{names:?}");
    let recording = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fsync-ordered-data");
    let (more, all) = (explain(&recording, &["-v"], "80"), explain(&recording, &["-vv"], "80"));
    let says =
        |text: String| all.lines().any(|line| line.get(7..).is_some_and(|rest| rest.starts_with(&text)));
    let judged = |name: &&&str| says(format!("{name}: ")) || says(format!("{name} explains "));
    let missing: Vec<&&str> = names.iter().filter(|name| !judged(name)).collect();
    assert!(all.lines().count() > more.lines().count(), "{all}");
    assert_eq!(missing, [&"hung", &"link-reset", &"slow-member"], "only texts show these:\n{all}");
}
