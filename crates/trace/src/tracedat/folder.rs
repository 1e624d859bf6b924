//! A recording that was never put together: `trace.head` beside one `trace.cpuN.raw` for each CPU.
//!
//! So the recorder leaves a folder when it is killed or the disk was full, and so a stream is unpacked
//! (docs/decisions/capture-stream.md). `trace.head` is a trace.dat of version 6 without pages; the pages are in
//! the other files, whole ones, as the kernel gave them. Both together are read as the trace.dat would be.

use super::file::{self, Region};
use super::section::DatFile;
use super::TraceDat;
use crate::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use units::Cpu;

/// The file with all but the pages.
pub const HEAD: &str = "trace.head";
/// The file that the recorder writes last.
pub const CAPTURE: &str = "capture.json";

/// The CPU whose pages a file of this name holds: `trace.cpu3.raw`. Only the name that the recorder gives will do,
/// so that there are no two files for one CPU.
pub fn raw_cpu(name: &str) -> Option<Cpu> {
    let number = name.strip_prefix("trace.cpu")?.strip_suffix(".raw")?;
    let cpu = number.parse::<u32>().ok().filter(|n| *n < file::MAX_CPUS && n.to_string() == number)?;
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

/// The files of pages in `folder`, by CPU.
fn raw_files(folder: &Path) -> Result<Vec<(Cpu, PathBuf)>, Error> {
    let fail = |source| Error::Io { path: folder.into(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let cpu = entry.file_name().to_str().and_then(raw_cpu);
        // Opening a named pipe would wait for ever.
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
