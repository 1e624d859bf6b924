//! The files in a folder of settings.

use crate::text;
use capture::Settings;
use std::fs;
use std::path::Path;

/// The files `names` in `dir`, as far as they can be read.
pub(super) fn settings(dir: &Path, names: &[&str]) -> Settings {
    names.iter().filter_map(|n| Some((n.to_string(), text::small(&dir.join(n))?))).collect()
}

/// All regular files in `dir` that can be read.
pub(super) fn all_settings(dir: &Path) -> Settings {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let files = entries.filter(|e| e.file_type().is_ok_and(|t| t.is_file()));
    files
        .filter_map(|e| Some((e.file_name().to_string_lossy().into_owned(), text::small(&e.path())?)))
        .collect()
}

/// Names of the entries of `dir`, sorted.
pub(super) fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
