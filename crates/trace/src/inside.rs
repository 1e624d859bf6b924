//! The recordings inside a folder that is none itself, for an error that names some of them.

use crate::folder::{holds_trace, is_packed_name};
use std::fs;
use std::path::Path;

/// Maximal number of recordings that are named.
const NAMED: usize = 3;
/// Maximal number of entries of a folder that are looked into.
const MOST_LOOKED_INTO: usize = 1000;

/// Names of the recordings directly inside a folder, in alphabetical order: folders with one, and packed captures. At most one more than
/// are named.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_LOOKED_INTO);
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let is_recording = |name: &String| {
        let path = folder.join(name);
        path.is_dir() && holds_trace(&path) || path.is_file() && is_packed_name(name)
    };
    names.into_iter().filter(is_recording).take(NAMED + 1).collect()
}

/// The recordings inside a folder in words, and the path of the first one. Example: `a, b, c and others`; `None` if there are none.
pub(crate) fn recordings_inside(folder: &Path) -> Option<(String, String)> {
    let names = names(folder);
    let first = folder.join(names.first()?).display().to_string();
    let words = match names.len() > NAMED {
        true => format!("{} and others", names[..NAMED].join(", ")),
        false => names.join(", "),
    };
    Some((words, first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_are_named_and_that_there_are_others() {
        let folder = tempfile::tempdir().unwrap();
        let words = || recordings_inside(folder.path()).map(|(words, _)| words);
        let add = |file: &str| {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"x").unwrap();
        };
        ["notes.txt", "texts/fio.json", "trace/README"].into_iter().for_each(add);
        assert_eq!(words(), None);
        ["d/trace.dat", "b/vda.blktrace.0"].into_iter().for_each(add);
        assert_eq!(words().as_deref(), Some("b, d"));
        add("c.tar.zst");
        assert_eq!(words().as_deref(), Some("b, c.tar.zst, d"));
        add("a/perf.data");
        assert_eq!(words().as_deref(), Some("a, b, c.tar.zst and others"));
        let (_, first) = recordings_inside(folder.path()).unwrap();
        assert_eq!(first, folder.path().join("a").display().to_string());
    }
}
