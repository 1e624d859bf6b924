//! Reads a recording that was never assembled: `trace.head` beside one `trace.cpuN.raw` for each CPU.
//!
//! The recorder leaves this form when it is killed or the disk is full, and unpacking a stream produces it
//! (docs/decisions/capture-stream.md). `trace.head` is a trace.dat of version 6 without pages; the other files have
//! the pages, whole ones, as the kernel delivered them. Together they are read like the assembled trace.dat.

use super::contents::{Region, MAX_CPUS};
use super::file;
use super::section::DatFile;
use super::trace_dat::TraceDat;
use crate::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use units::Cpu;

/// Name of the file with everything except the pages.
pub const HEAD: &str = "trace.head";
/// Name of the file that the recorder writes last.
pub const CAPTURE: &str = "capture.json";

/// The CPU whose pages are in a file of this name: `trace.cpu3.raw`. Only the exact name that the recorder uses is
/// accepted, so that no CPU has two files.
pub fn raw_cpu(name: &str) -> Option<Cpu> {
    let number = name.strip_prefix("trace.cpu")?.strip_suffix(".raw")?;
    let cpu = number.parse::<u32>().ok().filter(|n| *n < MAX_CPUS && n.to_string() == number)?;
    Some(Cpu(cpu))
}

/// Opens the recording in `folder`.
pub fn open_raw(folder: &Path) -> Result<TraceDat, Error> {
    let head = folder.join(HEAD);
    let mut contents = file::read(&head)?;
    let Some(layout) = contents.layout else {
        let what = "a trace.dat of version 6 was expected here, as the recorder writes it".into();
        return Err(Error::NotATrace { path: head, what });
    };
    if !contents.regions.is_empty() {
        contents.note(format!("{}: it has pages of its own, which are left out", head.display()));
        contents.regions.clear();
    }
    for (cpu, path) in raw_files(folder)? {
        contents.regions.extend(Region::of_file(cpu, DatFile::open(&path)?, layout));
    }
    if !folder.join(CAPTURE).is_file() {
        contents.note(format!(
            "the recording was not completed (there is no {CAPTURE}): what was left in the kernel's buffers \
             is missing"
        ));
    }
    TraceDat::new(contents)
}

/// The files of pages in `folder`, sorted by CPU.
fn raw_files(folder: &Path) -> Result<Vec<(Cpu, PathBuf)>, Error> {
    let fail = |source| Error::Io { path: folder.into(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let cpu = entry.file_name().to_str().and_then(raw_cpu);
        // Only regular files: opening a named pipe would block forever.
        if let Some(cpu) = cpu.filter(|_| entry.file_type().is_ok_and(|t| t.is_file())) {
            found.push((cpu, entry.path()));
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_for_one_cpu() {
        assert_eq!(raw_cpu("trace.cpu12.raw"), Some(Cpu(12)));
        for other in [
            "trace.cpu01.raw",
            "trace.cpu+1.raw",
            "trace.cpu.raw",
            "trace.cpu1.raw.00000",
            "trace.cpu9999999.raw",
        ] {
            assert_eq!(raw_cpu(other), None, "{other}");
        }
    }
}
