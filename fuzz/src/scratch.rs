//! A folder in memory for what is only read from files, one for each thread.

use std::fs;
use std::path::{Path, PathBuf};

/// Where files cost nothing.
const MEMORY: &str = "/dev/shm";

thread_local! {
    static FOLDER: Option<tempfile::TempDir> = {
        let builder = tempfile::Builder::new().prefix("iowhy-fuzz-").to_owned();
        builder.tempdir_in(MEMORY).or_else(|_| builder.tempdir()).ok()
    };
}

/// Calls `then` with an empty folder, and empties it again.
pub fn with_folder(then: impl FnOnce(&Path)) {
    FOLDER.with(|folder| {
        let Some(folder) = folder else { return };
        let one: PathBuf = folder.path().join("one");
        if fs::create_dir_all(&one).is_ok() {
            then(&one);
        }
        // What one input left must not be there for the next.
        let _ = fs::remove_dir_all(&one);
    });
}

/// Calls `then` with a file of these bytes, alone in its folder.
pub fn with_file(name: &str, bytes: &[u8], then: impl FnOnce(&Path)) {
    with_folder(|folder| {
        let file = folder.join(name);
        if fs::write(&file, bytes).is_ok() {
            then(&file);
        }
    });
}
