//! Which versions of a tool a reader was checked with stands in its file alone; `docs/texts.md` shows all of them.

use std::fs;
use std::path::Path;

/// What begins it in a module comment.
const BEGINS: &str = "//! **Versions**: ";
/// Behind this the document has the table, up to its end.
const HEADING: &str = "## Versions\n";
/// Readers of settings, which stand among what mailers do to texts.
const OF_SETTINGS: [&str; 7] = ["arrays", "layout", "lsblk", "mapping", "mdadm", "nvme_list", "settings"];

/// The versions that a module comment names, and the folder and name of its file.
fn read(folder: &str, name: &str) -> (String, Option<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder).join(format!("{name}.rs"));
    let source = fs::read_to_string(path).unwrap();
    let mut behind = source.lines().skip_while(|line| !line.starts_with(BEGINS));
    let first = behind.next().map(|line| line[BEGINS.len()..].to_owned());
    let more = behind.map_while(|line| line.strip_prefix("//! ").filter(|line| !line.is_empty()));
    let all = first.map(|first| more.fold(first, |all, line| format!("{all} {line}")));
    (source, all.map(|text| text.trim_end_matches('.').to_owned()))
}

/// The names of a folder's files.
fn names(folder: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<String> = files.map(|f| f.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    // A reader's tests may lie in a folder of its name.
    all.sort();
    all.dedup();
    all
}

#[test]
fn every_reader_names_the_versions_it_was_checked_with() {
    let mut rows = vec![];
    let mut without = vec![];
    for name in names("tool") {
        let (source, versions) = read("tool", &name);
        // Parts of a reader may name them, too.
        match versions {
            Some(versions) => rows.push((name, versions)),
            None if source.contains("\nimpl Tool for ") => without.push(format!("tool/{name}.rs")),
            None => {}
        }
    }
    let saved = names("saved").into_iter().filter(|n| n != "mod" && n != "json").map(|n| ("saved", n));
    let settings = OF_SETTINGS.iter().map(|n| ("output", (*n).to_owned()));
    for (folder, name) in saved.chain(settings) {
        match read(folder, &name).1 {
            Some(versions) => rows.push((name, versions)),
            None => without.push(format!("{folder}/{name}.rs")),
        }
    }
    assert!(without.is_empty(), "no line of versions in {without:?}");
    in_the_document(&rows);
}

/// Compares with the document's table; `make bless` writes it anew.
fn in_the_document(rows: &[(String, String)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/texts.md");
    let document = fs::read_to_string(&path).unwrap();
    let (before, table) = document.split_once(HEADING).expect("the document has the heading");
    let mut all: Vec<String> = rows.iter().map(|(name, text)| format!("| {name} | {text} |\n")).collect();
    all.sort();
    let wanted = format!(
        "\nEach file of a reader in [crates/tooltext](../crates/tooltext/src) says what it was checked with.\n\n\
         | reader | checked with |\n|---|---|\n{}",
        all.concat()
    );
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, format!("{before}{HEADING}{wanted}")).unwrap();
        return;
    }
    let different = table.lines().zip(wanted.lines()).find(|(is, should)| is != should);
    assert_eq!(different, None, "docs/texts.md is not what the files say: make bless");
    assert_eq!(table.lines().count(), wanted.lines().count(), "docs/texts.md: make bless");
}
