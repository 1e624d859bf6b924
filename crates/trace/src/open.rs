//! From what the user names to a source: a file, NAME, a folder, a capture, a pipe.

use crate::blkparse::{self, BlkparseText};
use crate::blktrace::{self, Stream};
use crate::error::Error;
use crate::input::Input;
use crate::merge::Merge;
use crate::reorder::Reorder;
use crate::source::Source;
use crate::units::DevId;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// An opened recording.
pub struct Recording {
    /// Its events.
    pub source: Box<dyn Source>,
    /// The format, as `explain` names it: `blktrace`, `blkparse`.
    pub format: &'static str,
    /// The folder that may hold files beside the trace (settings, what the load printed).
    pub folder: Option<PathBuf>,
    /// Names of devices, from the names of the files: `vda` from `vda.blktrace.0`.
    pub names: Vec<(DevId, String)>,
}

/// Opens a recording. `path` is one of
/// - `-`: blktrace records (`blktrace -o -`, `blkparse -d -`) or blkparse's text on standard input,
/// - a file: one CPU's `NAME.blktrace.N` (its siblings are not read), a merged `blkparse -d` file, or text,
///   each perhaps compressed with gzip or zstd,
/// - `NAME` where `NAME.blktrace.0` and so on exist, as `blkparse -i NAME` takes it,
/// - a folder: all blktrace files in it, of all devices.
pub fn open(path: &Path) -> Result<Recording, Error> {
    if path == Path::new("-") {
        return open_one(Input::open(path)?, None);
    }
    if path.is_dir() {
        return open_folder(path);
    }
    if path.exists() {
        return open_one(Input::open(path)?, path.parent().map(folder_or_here));
    }
    let found = siblings(path);
    if found.is_empty() {
        // Ask the system why, so that "no such file" and "permission denied" are told apart.
        return match fs::metadata(path) {
            Err(source) => Err(Error::Io { path: path.into(), source }),
            Ok(_) => {
                Err(Error::NotATrace { path: path.into(), what: "is neither a file nor a folder".into() })
            }
        };
    }
    open_per_cpu(found, path.parent().map(folder_or_here))
}

fn folder_or_here(parent: &Path) -> PathBuf {
    if parent.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        parent.to_path_buf()
    }
}

/// `NAME.blktrace.N` for a NAME, in order of N.
fn siblings(name: &Path) -> Vec<(PathBuf, PerCpu)> {
    let folder = folder_or_here(name.parent().unwrap_or(Path::new("")));
    let Some(wanted) = name.file_name().and_then(|n| n.to_str()) else { return vec![] };
    per_cpu_files(&folder).into_iter().filter(|(_, f)| f.device == wanted).collect()
}

/// What a per-CPU file's name says: `vda.blktrace.1`, perhaps with `.gz` or `.zst` behind.
struct PerCpu {
    device: String,
    number: u32,
}

fn per_cpu_name(name: &str) -> Option<PerCpu> {
    let bare = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    let (device, number) = bare.rsplit_once(".blktrace.")?;
    Some(PerCpu { device: device.to_string(), number: number.parse().ok()? })
}

/// All per-CPU files of a folder, by device, then number.
fn per_cpu_files(folder: &Path) -> Vec<(PathBuf, PerCpu)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some(p) = name.to_str().and_then(per_cpu_name) {
            found.entry((p.device.clone(), p.number)).or_insert((entry.path(), p));
        }
    }
    found.into_values().collect()
}

fn open_folder(folder: &Path) -> Result<Recording, Error> {
    fs::read_dir(folder).map_err(|source| Error::Io { path: folder.into(), source })?;
    let found = per_cpu_files(folder);
    if found.is_empty() {
        return Err(Error::NotATrace {
            path: folder.into(),
            what: "this folder holds no trace (NAME.blktrace.N was looked for)".into(),
        });
    }
    open_per_cpu(found, Some(folder.to_path_buf()))
}

fn open_per_cpu(found: Vec<(PathBuf, PerCpu)>, folder: Option<PathBuf>) -> Result<Recording, Error> {
    let mut notes = Vec::new();
    let mut names: Vec<String> = found.iter().map(|(_, p)| p.device.clone()).collect();
    names.dedup();
    for device in &names {
        let numbers: Vec<u32> =
            found.iter().filter(|(_, p)| p.device == *device).map(|(_, p)| p.number).collect();
        notes.extend(missing_numbers(device, &numbers));
    }
    let mut size = Some(0);
    let mut streams = Vec::new();
    for (path, _) in &found {
        let input = Input::open(path)?;
        size = size.zip(input.size()).map(|(a, b)| a + b);
        streams.push(Stream::open(input)?);
    }
    notes.extend(different_runs(&found, &streams));
    let mut names: Vec<(DevId, String)> = streams
        .iter()
        .zip(&found)
        .filter_map(|(s, (_, p))| Some((s.next_device()?, p.device.clone())))
        .collect();
    names.dedup();
    let source = Box::new(Merge::new(streams, size, notes));
    Ok(Recording { source, format: "blktrace", folder, names })
}

/// blktrace writes one file per CPU, also where nothing happened: a hole in the numbers is a lost file.
fn missing_numbers(device: &str, numbers: &[u32]) -> Option<String> {
    let last = *numbers.last()?;
    let missing = last as usize + 1 - numbers.len();
    (missing > 0).then(|| {
        format!(
            "{device}: {missing} of {} per-CPU files are missing: their events are not in the result",
            last + 1
        )
    })
}

/// Files whose times lie further apart than this were hardly recorded together: blktrace starts all CPUs and
/// devices of a run within a second, and a CPU that is idle for an hour is rare.
const SAME_RUN_SECONDS: u64 = 3600;

/// Looks for files of different recordings that lie in one folder.
fn different_runs(found: &[(PathBuf, PerCpu)], streams: &[Stream]) -> Option<String> {
    let starts = || streams.iter().zip(found).filter_map(|(s, (path, _))| Some((s.next_time()?, path)));
    let (first, a) = starts().min()?;
    let (last, b) = starts().max()?;
    let apart = last.since(first).0 / 1_000_000_000;
    (apart > SAME_RUN_SECONDS).then(|| {
        format!("{} and {} begin {apart} s apart: are they of the same recording?", a.display(), b.display())
    })
}

fn open_one(mut input: Input, folder: Option<PathBuf>) -> Result<Recording, Error> {
    let name =
        per_cpu_name(&input.path().file_name().unwrap_or_default().to_string_lossy()).map(|p| p.device);
    let size = input.size();
    let start = input.peek()?;
    if start.is_empty() {
        return Err(Error::Malformed {
            path: input.path().into(),
            offset: 0,
            what: "the file is empty".into(),
        });
    }
    if blkparse::looks_like(start) {
        let source = Box::new(BlkparseText::open(input));
        return Ok(Recording { source, format: "blkparse", folder, names: vec![] });
    }
    if !blktrace::looks_like(start) {
        return Err(Error::Malformed {
            path: input.path().into(),
            offset: 0,
            what: "this is neither a blktrace record nor blkparse's text".into(),
        });
    }
    let stream = Stream::open(input)?;
    let names = stream.next_device().zip(name).into_iter().collect();
    let source = Box::new(Reorder::new(stream, size, vec![]));
    Ok(Recording { source, format: "blktrace", folder, names })
}
