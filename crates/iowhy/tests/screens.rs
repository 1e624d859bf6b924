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

/// A hint names what the next longer screen adds, and the longest has none.
#[test]
fn each_screen_hints_at_the_next_longer_one() {
    for recording in fixtures() {
        let [short, long, longest] =
            [&[][..], &["-v"], &["-vv"]].map(|more: &[&str]| explain(&recording, more, "80"));
        assert!(!short.contains("-vv"), "{recording:?}:\n{short}");
        assert!(!long.contains(" -v: ") && !long.contains("; -v shows"), "{recording:?}:\n{long}");
        assert!(
            !longest.contains(" -v: ") && !longest.contains("-vv") && !longest.contains("; -v shows"),
            "{recording:?}:\n{longest}"
        );
        let has_room = short.contains(" -v: where the time went");
        assert_eq!(has_room, long.contains(" -vv: everything that was judged"), "{recording:?}:\n{long}");
    }
}

#[test]
fn causes_with_the_same_reason_and_no_evidence_share_a_line() {
    let mut most = 0;
    for recording in fixtures() {
        let screen = explain(&recording, &["-vv"], "100000");
        let lines: Vec<&str> = screen.lines().map(str::trim).collect();
        let reason = |at: usize| {
            let says = [": cannot tell (", ": not it ("].into_iter().find(|says| lines[at].contains(says))?;
            let (causes, reason) = lines[at].split_once(says)?;
            let has_evidence = lines.get(at + 1).is_some_and(|next| next.starts_with("- "));
            (!has_evidence).then_some((causes, (says, reason)))
        };
        let reasons: Vec<(&str, (&str, &str))> = (0..lines.len()).filter_map(reason).collect();
        for (i, (causes, reason)) in reasons.iter().enumerate() {
            let same = reasons[i + 1..].iter().find(|(_, other)| other == reason);
            assert_eq!(same, None, "{recording:?}: {causes} has the same reason");
            most = most.max(causes.split(", ").count());
        }
    }
    assert!(most > 5, "no recording has causes with the same reason");
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

/// With -vv each known cause has a line, found or not; those with the same reason share one.
#[test]
fn everything_judged_is_every_cause() {
    let out = Command::new(env!("CARGO_BIN_EXE_iowhy")).arg("causes").output().expect("iowhy runs");
    let listed = String::from_utf8(out.stdout).expect("text");
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.len() > 40, "{names:?}");
    let recording = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fsync-ordered-data");
    let [more, all] = [&["-v"], &["-vv"]].map(|more| explain(&recording, more, "100000"));
    let of_line = |line: &str| {
        let ends = [": not it (", ": cannot tell (", " explains "];
        let causes = ends.iter().find_map(|end| line.split_once(end)).map_or("", |(causes, _)| causes);
        causes.split(", ").map(str::to_string).collect::<Vec<_>>()
    };
    let told: Vec<String> = all.lines().filter_map(|line| line.get(7..)).flat_map(of_line).collect();
    let judged = |name: &&&str| told.iter().any(|told| told == **name);
    let missing: Vec<&&str> = names.iter().filter(|name| !judged(name)).collect();
    assert!(all.lines().count() > more.lines().count(), "{all}");
    assert_eq!(
        missing,
        [&"file-system-error", &"hung", &"link-reset", &"slow-member"],
        "only texts show these:\n{all}"
    );
}
