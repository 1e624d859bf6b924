//! Names that exist and are spelled like one that does not: what the user may have meant by a mistyped path.

use crate::per_cpu::{folder_or_here, recording_of_part};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use strsim::normalized_damerau_levenshtein;

/// Maximal number of names that are suggested.
const MOST: usize = 3;
/// Maximal number of entries of a folder that are compared.
const MOST_COMPARED: usize = 4096;
/// Two names are similar from this part of equal letters on: one wrong letter of three, two of five.
const SIMILAR: f64 = 0.6;

/// Paths that exist and differ from `missing` in the spelling of one component, the most similar first; at most three. The component
/// is the first one that does not exist.
pub fn similar(missing: &Path) -> Vec<PathBuf> {
    let Some(folder) = missing.ancestors().skip(1).find(|folder| folder_or_here(folder).is_dir()) else {
        return vec![];
    };
    let rest = missing.strip_prefix(folder).unwrap_or(missing);
    let mut rest = rest.components();
    let Some(Component::Normal(wrong)) = rest.next() else { return vec![] };
    let wrong = wrong.to_string_lossy().to_lowercase();
    let mut by_name: BTreeMap<String, f64> = BTreeMap::new();
    for entry in folder_or_here(folder).read_dir().into_iter().flatten().flatten().take(MOST_COMPARED) {
        let Ok(name) = entry.file_name().into_string() else { continue };
        // `vda.blktrace.0` is a part of the recording `vda`.
        for name in recording_of_part(&name).into_iter().chain([name]) {
            by_name.insert(name.clone(), likeness(&wrong, &name.to_lowercase()));
        }
    }
    let mut names: Vec<(String, f64)> = by_name.into_iter().filter(|(_, like)| *like >= SIMILAR).collect();
    names.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let whole = |(name, _): (String, f64)| {
        let (found, below) = (folder.join(name), rest.as_path());
        match below.as_os_str().is_empty() {
            true => found,
            false => Some(found.join(below)).filter(|path| path.exists()).unwrap_or(found),
        }
    };
    names.into_iter().take(MOST).map(whole).collect()
}

/// [`similar`] in words, for an error. Example: `similar: data/slow, data/slow2`; `None` if there are none.
pub fn similar_words(missing: &Path) -> Option<String> {
    let names: Vec<String> = similar(missing).iter().map(|path| path.display().to_string()).collect();
    (!names.is_empty()).then(|| format!("similar: {}", names.join(", ")))
}

/// How alike two names are, from 0 to 1. A name that only lacks its end (`slow` for `slow.tar.zst`) counts as similar.
fn likeness(wrong: &str, name: &str) -> f64 {
    let spelled = normalized_damerau_levenshtein(wrong, name);
    match name.strip_prefix(wrong).is_some_and(|end| end.starts_with('.')) {
        true => spelled.max(SIMILAR),
        false => spelled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, b"x").unwrap();
        }
        folder
    }

    /// The suggestions for a path in the folder, without the folder.
    fn suggested(folder: &tempfile::TempDir, missing: &str) -> Vec<String> {
        let all = similar(&folder.path().join(missing));
        all.iter().map(|p| p.strip_prefix(folder.path()).unwrap().display().to_string()).collect()
    }

    #[test]
    fn the_most_similar_come_first_and_others_are_left_out() {
        let folder = folder(&["slow", "slow2", "Slowest", "shadow", "fast.json", "readme.txt"]);
        assert_eq!(suggested(&folder, "slwo"), ["slow", "slow2"]);
        assert_eq!(suggested(&folder, "SLOW2x"), ["slow2", "slow"]);
        assert_eq!(suggested(&folder, "fast"), ["fast.json"], "its end is missing");
        assert_eq!(suggested(&folder, "postgres"), [""; 0]);
        assert_eq!(similar_words(&folder.path().join("postgres")), None);
    }

    #[test]
    fn a_recording_in_parts_is_suggested_by_the_name_of_all() {
        let folder = folder(&["nvme0n1.blktrace.0", "nvme0n1.blktrace.1.zst"]);
        assert_eq!(suggested(&folder, "nvme0n2"), ["nvme0n1"]);
        assert_eq!(suggested(&folder, "nvme0n1.blktrace.7")[0], "nvme0n1.blktrace.0");
    }

    #[test]
    fn a_folder_on_the_way_may_be_what_is_mistyped() {
        let folder = folder(&["captures/slow/trace.dat", "captures/fast/trace.dat"]);
        assert_eq!(suggested(&folder, "capture/slow"), ["captures/slow"]);
        assert_eq!(suggested(&folder, "capture/none"), ["captures"]);
        assert_eq!(suggested(&folder, "captures/slow/trace.dta"), ["captures/slow/trace.dat"]);
    }

    #[test]
    fn what_has_no_folder_or_no_name_has_nothing_similar() {
        for path in ["/", "..", "", "/no-such-folder-anywhere/x"] {
            let found = similar(Path::new(path));
            assert!(found.iter().all(|p| p.exists()), "{path}: {found:?}");
        }
        assert!(similar(Path::new("")).is_empty());
    }
}
