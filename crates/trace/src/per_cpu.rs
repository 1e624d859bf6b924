//! The files that blktrace writes, one for each processor, as one recording: `vda` for `vda.blktrace.0`, `vda.blktrace.1`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder itself; the current one for an empty path.
pub(crate) fn folder_or_here(parent: &Path) -> PathBuf {
    if parent.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        parent.to_path_buf()
    }
}

/// All `NAME.blktrace.N` files for a NAME, ordered by N.
pub(crate) fn siblings(name: &Path) -> Vec<(PathBuf, PerCpu)> {
    let folder = folder_or_here(name.parent().unwrap_or(Path::new("")));
    let Some(wanted) = name.file_name().and_then(|n| n.to_str()) else { return vec![] };
    per_cpu_files(&folder).into_iter().filter(|(_, f)| f.device == wanted).collect()
}

/// The parts of a per-CPU file name: `vda.blktrace.1`, optionally followed by `.gz` or `.zst`.
pub(crate) struct PerCpu {
    pub device: String,
    pub number: u32,
}

pub(crate) fn per_cpu_name(name: &str) -> Option<PerCpu> {
    let bare = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    let (device, number) = bare.rsplit_once(".blktrace.")?;
    Some(PerCpu { device: device.to_string(), number: number.parse().ok()? })
}

/// The recording that a per-CPU file is a part of: `vda` for `vda.blktrace.1.zst`; `None` for other files.
pub fn whole_of(part: &Path) -> Option<PathBuf> {
    Some(part.with_file_name(per_cpu_name(part.file_name()?.to_str()?)?.device))
}

/// The recording that a file of this name is a part of: `vda` for `vda.blktrace.1.zst`; `None` for other names.
pub(crate) fn recording_of_part(name: &str) -> Option<String> {
    per_cpu_name(name).map(|part| part.device)
}

/// All per-CPU files of a folder, ordered by device, then by number.
pub(crate) fn per_cpu_files(folder: &Path) -> Vec<(PathBuf, PerCpu)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some(p) = name.to_str().and_then(per_cpu_name) {
            found.entry((p.device.clone(), p.number)).or_insert((entry.path(), p));
        }
    }
    found.into_values().collect()
}
