//! Where the lab is in the repository, and what it keeps there.

use std::path::{Path, PathBuf};

/// The folder of the lab in the repository.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// Where the recording of this name lies in the repository.
pub fn kept(name: &str) -> PathBuf {
    folder().join("corpus").join(format!("{name}.tar.zst"))
}
