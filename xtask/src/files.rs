//! The files of a recording: the per-CPU traces and what lies beside them.

use crate::Outcome;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files beside a trace that tell about the host, and that causes judge by.
const SETTINGS: &[&str] = &["mounts.txt", "vm-dirty.txt", "uname.txt", "mdstat.txt"];

/// One `DEVICE.blktrace.N`, perhaps with `.zst` behind.
pub struct PerCpu {
    /// The name without `.zst`.
    pub name: String,
    /// Its bytes, decompressed.
    pub bytes: Vec<u8>,
}

/// Reads all per-CPU files of a folder, by name. `wanted` chooses devices; empty means all.
pub fn per_cpu(folder: &Path, wanted: &[String]) -> Outcome<Vec<PerCpu>> {
    let mut found = Vec::new();
    for path in sorted(folder)? {
        let file = name_of(&path);
        let name = file.strip_suffix(".zst").unwrap_or(&file).to_string();
        let Some((device, cpu)) = name.rsplit_once(".blktrace.") else { continue };
        if cpu.parse::<u32>().is_err() || !(wanted.is_empty() || wanted.iter().any(|w| w == device)) {
            continue;
        }
        found.push(PerCpu { bytes: read(&path)?, name });
    }
    if found.is_empty() {
        return Err(format!("{}: no NAME.blktrace.N here", folder.display()).into());
    }
    Ok(found)
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
