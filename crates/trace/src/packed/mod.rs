//! Unpacks a capture in one piece: the tar that `iowhy pack` writes (compressed or not), and the tar stream of
//! `iowhy record -o -` (docs/decisions/capture-stream.md).
//!
//! The tar is unpacked into a [`Spool`], parts are joined into their files, and the result is then read like any folder. So
//! there is one way to read a capture, and little memory is needed. The recording's notes report what is truncated, out of
//! order or does not belong in a capture.

mod input;
mod source;
mod unpack;

use crate::error::Error;
use crate::folder::{holds_trace, PERF, TRACE};
use crate::input::Input;
use crate::spool::Spool;
use crate::tracedat::HEAD;
use input::Guarded;
pub use source::Unpacked;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use unpack::{part_of, Unpacker};

/// Position of the magic in a tar header, both POSIX and GNU (tar(5)).
const MARK: std::ops::Range<usize> = 257..262;

/// Whether a file with this start is a tar.
pub fn looks_like(start: &[u8]) -> bool {
    start.get(MARK) == Some(b"ustar")
}

/// A capture that was unpacked to disk.
pub struct Capture {
    /// The folder with its files.
    pub folder: PathBuf,
    /// Keeps the folder.
    pub spool: Spool,
    /// What is odd about the tar.
    pub notes: Vec<String>,
    /// The path that the user gave.
    pub name: PathBuf,
}

/// Unpacks a tar.
pub fn open(input: Input) -> Result<Capture, Error> {
    let name = input.path().to_path_buf();
    let mut unpacker = Unpacker::new(Spool::new()?);
    let (guarded, guard) = Guarded::new(input);
    let mut archive = tar::Archive::new(guarded);
    let mut entries = archive.entries().map_err(|source| Error::Io { path: name.clone(), source })?;
    while !unpacker.is_broken() {
        guard.headers();
        match entries.next() {
            None => break,
            Some(Ok(mut entry)) => {
                guard.data();
                unpacker.entry(&mut entry)?;
            }
            Some(Err(e)) => unpacker.broken(e.to_string()),
        }
    }
    finish(unpacker, &name)
}

/// Whether `folder` holds a stream unpacked with tar(1): its long files are there as parts.
pub fn is_in_parts(folder: &Path) -> bool {
    let mut names = fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.file_name());
    names.any(|name| name.to_str().is_some_and(|name| is_needed_part(folder, name)))
}

/// Whether this file is a part whose whole file does not exist.
fn is_needed_part(folder: &Path, name: &str) -> bool {
    part_of(name).is_some_and(|(whole, _)| !folder.join(whole).exists())
}

/// Joins the parts in `folder`.
pub fn open_parts(folder: &Path) -> Result<Capture, Error> {
    let fail = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Error::Io { path, source }
    };
    let mut files: Vec<(String, u32, PathBuf, u64)> = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail(folder))? {
        let entry = entry.map_err(fail(folder))?;
        let (Ok(meta), Ok(name)) = (entry.metadata(), entry.file_name().into_string()) else { continue };
        if meta.is_file() && (part_of(&name).is_none() || is_needed_part(folder, &name)) {
            let (whole, part) = part_of(&name).map_or((name.as_str(), 0), |(whole, n)| (whole, n));
            files.push((whole.to_owned(), part, entry.path(), meta.len()));
        }
    }
    files.sort();
    let mut unpacker = Unpacker::new(Spool::new()?);
    for (_, _, path, size) in files {
        let mut file = File::open(&path).map_err(fail(&path))?;
        let name = path.file_name().unwrap_or_default();
        unpacker.take(Path::new(name), size, &mut file)?;
    }
    finish(unpacker, folder)
}

/// Copies a trace.dat that is piped or compressed to disk: reading it needs random access.
pub fn open_trace_dat(input: Input) -> Result<Capture, Error> {
    open_copy(input, TRACE)
}

/// As [`open_trace_dat`], for a perf.data.
pub fn open_perf_data(input: Input) -> Result<Capture, Error> {
    open_copy(input, PERF)
}

fn open_copy(input: Input, as_file: &str) -> Result<Capture, Error> {
    let name = input.path().to_path_buf();
    let mut unpacker = Unpacker::new(Spool::new()?);
    let (mut guarded, guard) = Guarded::new(input);
    guard.data();
    unpacker.take_all(Path::new(as_file), &mut guarded)?;
    finish(unpacker, &name)
}

/// Finds the capture in the unpacked files. `name` is the path that the user gave.
fn finish(unpacker: Unpacker, name: &Path) -> Result<Capture, Error> {
    let notes = unpacker.notes();
    let spool = unpacker.spool;
    let root = spool.path().to_path_buf();
    // As with a folder, only one level is searched for a trace.
    let mut folders = vec![root.clone()];
    if !holds_trace(&root) {
        let below = fs::read_dir(&root).map_err(|e| spool.fail(e))?.flatten().map(|e| e.path());
        folders = below.filter(|path| path.is_dir() && holds_trace(path)).collect();
        folders.sort();
    }
    let what = match &folders[..] {
        [folder] => return Ok(Capture { folder: folder.clone(), spool, notes, name: name.into() }),
        [] => {
            let what = format!("no capture is in it ({TRACE}, {HEAD} and NAME.blktrace.N were looked for)");
            [&[what], &notes[..]].concat().join("; ")
        }
        [one, other, ..] => {
            let of = |folder: &Path| folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (one, other) = (of(one), of(other));
            format!("more than one capture is in it ({one}, {other}): unpack it and give the folder of one")
        }
    };
    Err(Error::NotATrace { path: name.into(), what })
}
