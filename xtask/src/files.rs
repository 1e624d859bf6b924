//! The files of a recording: the per-CPU traces and what lies beside them.

use crate::outcome::Outcome;
use crate::record::Record;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files beside a trace that tell about the host, and that causes judge by.
const SETTINGS: &[&str] = &["mounts.txt", "vm-dirty.txt", "uname.txt", "mdstat.txt", "settings.txt"];

/// One `DEVICE.blktrace.N`, perhaps with `.zst` behind.
pub struct PerCpu {
    /// The name without `.zst`.
    pub name: String,
    /// Its bytes, decompressed.
    pub bytes: Vec<u8>,
}

/// How much a recording is.
#[derive(Clone, Copy, Default)]
pub struct Size {
    /// Records, notes included.
    pub events: u64,
    /// Bytes of all per-CPU files, decompressed.
    pub bytes: u64,
}

/// Counts a recording, a file at a time.
pub fn size(folder: &Path) -> Outcome<Size> {
    let mut size = Size::default();
    for (path, _) in per_cpu_paths(folder)? {
        let bytes = read(&path)?;
        let records = Record::all(&bytes).map_err(|e| format!("{}: {e}", path.display()))?;
        size.events += records.len() as u64;
        size.bytes += bytes.len() as u64;
    }
    Ok(size)
}

/// Reads all per-CPU files of a folder, by name. `wanted` chooses devices; empty means all.
pub fn per_cpu(folder: &Path, wanted: &[String]) -> Outcome<Vec<PerCpu>> {
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|w| device_of(name) == Some(w));
    let paths = per_cpu_paths(folder)?.into_iter().filter(|(_, name)| is_wanted(name));
    paths.map(|(path, name)| Ok(PerCpu { bytes: read(&path)?, name })).collect()
}

/// The paths of all per-CPU files of a folder, with their names without `.zst`.
fn per_cpu_paths(folder: &Path) -> Outcome<Vec<(PathBuf, String)>> {
    let bare = |path: PathBuf| {
        let file = name_of(&path);
        let name = file.strip_suffix(".zst").unwrap_or(&file).to_string();
        device_of(&name).is_some().then_some((path, name))
    };
    let found: Vec<_> = sorted(folder)?.into_iter().filter_map(bare).collect();
    if found.is_empty() {
        return Err(format!("{}: no NAME.blktrace.N here", folder.display()).into());
    }
    Ok(found)
}

/// `vda` of `vda.blktrace.0`.
pub fn device_of(name: &str) -> Option<&str> {
    let (device, cpu) = name.rsplit_once(".blktrace.")?;
    cpu.parse::<u32>().is_ok().then_some(device)
}

/// Copies the settings that lie beside a trace. Spaces at the ends of lines are dropped, nothing else is changed.
pub fn copy_settings(from: &Path, to: &Path) -> Outcome {
    for path in sorted(from)? {
        let name = name_of(&path);
        let queue = name.starts_with("queue-") && name.ends_with(".txt");
        if !(queue || SETTINGS.contains(&name.as_str())) {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        if text.trim().is_empty() {
            continue;
        }
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        fs::write(to.join(name), lines.join("\n") + "\n")?;
    }
    Ok(())
}

fn sorted(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let list = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths = list.map(|e| Ok(e?.path())).collect::<Result<Vec<_>, std::io::Error>>()?;
    paths.sort();
    Ok(paths)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(path: &Path) -> Outcome<Vec<u8>> {
    let file = fs::File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|e| e == "zst") {
        zstd::Decoder::new(file)?.read_to_end(&mut bytes)?;
    } else {
        std::io::BufReader::new(file).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}
