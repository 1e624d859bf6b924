//! What a folder holds that can be opened.

use crate::per_cpu::per_cpu_files;
use crate::perfdata;
use crate::tracedat::HEAD;
use std::fs;
use std::path::{Path, PathBuf};

/// Name of the finished trace in a capture.
pub(crate) const TRACE: &str = "trace.dat";
/// The default name of perf's output.
pub(crate) const PERF: &str = "perf.data";
/// File name suffixes of packed captures.
const PACKED: [&str; 4] = [".tar.zst", ".tar.gz", ".tgz", ".tar"];

/// Whether [`open`](crate::open) finds something to open.
pub fn holds_trace(folder: &Path) -> bool {
    [TRACE, HEAD, PERF].iter().any(|name| folder.join(name).is_file())
        || !per_cpu_files(folder).is_empty()
        || perf_in(folder).is_some()
        || packed_in(folder).is_some()
}

/// The recording of perf in a folder: `perf.data` inside it, or the folder itself.
pub(crate) fn perf_in(folder: &Path) -> Option<PathBuf> {
    let inside = folder.join(PERF);
    if inside.is_file() || perfdata::is_folder(&inside) {
        return Some(inside);
    }
    perfdata::is_folder(folder).then(|| folder.to_owned())
}

/// Whether a file of this name is a packed capture.
pub(crate) fn is_packed_name(name: &str) -> bool {
    PACKED.iter().any(|end| name.ends_with(end))
}

/// The packed capture in a folder; `None` if there are none or several.
pub(crate) fn packed_in(folder: &Path) -> Option<PathBuf> {
    let paths = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let is_packed = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        is_packed_name(name) && path.is_file()
    };
    let mut packed = paths.filter(is_packed);
    packed.next().filter(|_| packed.next().is_none())
}
