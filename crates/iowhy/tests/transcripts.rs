//! Runs the commands that the documents show and compares what is printed, and the exit status.
//!
//! After a change that is meant: `make bless` writes what is printed now into the documents; read the diff.
//!
//! trycmd takes every backslash for a separator of paths and compares as if it were a slash. Commands that go on in the next
//! line end in one: so copies are run, in which those lines end in a slash, and what is blessed gets its backslashes back.

use std::path::{Path, PathBuf};

#[test]
fn documents_show_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::set_current_dir(root).expect("the root of the repository");
    // Documents write there, also where cargo builds elsewhere.
    std::fs::create_dir_all("target").expect("a folder for what documents write");
    let copies = Path::new(env!("CARGO_TARGET_TMPDIR")).join("transcripts");
    let documents = documents();
    for document in &documents {
        let copy = copies.join(document);
        std::fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder for the copy");
        std::fs::write(copy, for_trycmd(&read(document))).expect("a copy");
    }
    let cases = trycmd::TestCases::new();
    cases
        .register_bin("iowhy", Path::new(env!("CARGO_BIN_EXE_iowhy")))
        // Screens and help are as wide as a pipe gets them.
        .env("COLUMNS", "80")
        .case("crates/iowhy/tests/json/*.trycmd");
    for document in &documents {
        cases.case(copies.join(document));
    }
    cases.run();
    if std::env::var_os("TRYCMD").is_some_and(|mode| mode == "overwrite") {
        for document in &documents {
            std::fs::write(document, from_trycmd(&read(&copies.join(document)))).expect("blessed");
        }
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// All that show commands, relative to the root.
fn documents() -> Vec<PathBuf> {
    let listed = |folder: &str| {
        let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{folder}: {e}"));
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        paths
    };
    let cases = listed("docs/cases").into_iter().filter(|p| p.extension().is_some_and(|e| e == "md"));
    let fixtures = listed("fixtures").into_iter().map(|p| p.join("README.md")).filter(|p| p.is_file());
    ["README.md", "docs/commands.md"].map(PathBuf::from).into_iter().chain(cases).chain(fixtures).collect()
}

/// Commands below TRY begin in this column.
const COMMAND: usize = 10;

fn is_command(line: &str) -> bool {
    let heading = line.get(..COMMAND).unwrap_or("");
    let number = heading.strip_prefix("TRY    ").or_else(|| heading.strip_prefix("       "));
    number.is_some_and(|n| n == "   " || n.ends_with("  ") && n.starts_with(|c: char| c.is_ascii_digit()))
}

fn each_line(text: &str, change: impl Fn(&str) -> Option<String>) -> String {
    let lines = text.split('\n').map(|line| change(line).unwrap_or_else(|| line.to_string()));
    lines.collect::<Vec<_>>().join("\n")
}

fn for_trycmd(text: &str) -> String {
    each_line(text, |line| Some(format!("{} /", line.strip_suffix(" \\").filter(|_| is_command(line))?)))
}

fn from_trycmd(text: &str) -> String {
    each_line(text, |line| Some(format!("{} \\", line.strip_suffix(" /").filter(|_| is_command(line))?)))
}
