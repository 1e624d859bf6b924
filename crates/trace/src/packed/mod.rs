//! A capture in one piece: the tar that `iowhy pack` makes (compressed or not), and the tar stream of
//! `iowhy record -o -` (docs/decisions/capture-stream.md).
//!
//! It is unpacked into a [`Spool`], parts joined to the files that they are parts of, and read like any folder. So
//! there is one way to read a capture, and little memory is needed. What breaks off, is out of order or has no
//! business in a capture is told in the recording's notes.

mod input;
mod source;
mod unpack;

use crate::error::Error;
use crate::input::Input;
use crate::open::{holds_trace, open_folder, Recording, PERF, TRACE};
use crate::place::Place;
use crate::spool::Spool;
use crate::tracedat::HEAD;
use input::Guarded;
use source::Unpacked;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use unpack::{part_of, Unpacker};

/// Where a tar header has its mark, in POSIX's and in GNU's form (tar(5)).
const MARK: std::ops::Range<usize> = 257..262;

/// Whether what begins like this is a tar.
pub fn looks_like(start: &[u8]) -> bool {
    start.get(MARK) == Some(b"ustar")
}

/// Unpacks a tar and opens what is in it.
pub fn open(input: Input) -> Result<Recording, Error> {
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

/// Whether `folder` is a stream that was unpacked with tar(1): its long files lie there in parts.
pub fn is_in_parts(folder: &Path) -> bool {
    let mut names = fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.file_name());
    names.any(|name| name.to_str().is_some_and(|name| is_needed_part(folder, name)))
}

/// Whether this is a part of a file that is not joined yet.
fn is_needed_part(folder: &Path, name: &str) -> bool {
    part_of(name).is_some_and(|(whole, _)| !folder.join(whole).exists())
}

/// Joins the parts in `folder` and opens the whole.
pub fn open_parts(folder: &Path) -> Result<Recording, Error> {
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

/// Copies a trace.dat that came through a pipe or compressed, and opens it: it has its parts out of order.
pub fn open_trace_dat(input: Input) -> Result<Recording, Error> {
    open_copy(input, TRACE)
}

/// The same of a perf.data.
pub fn open_perf_data(input: Input) -> Result<Recording, Error> {
    open_copy(input, PERF)
}

fn open_copy(input: Input, as_file: &str) -> Result<Recording, Error> {
    let name = input.path().to_path_buf();
    let mut unpacker = Unpacker::new(Spool::new()?);
    let (mut guarded, guard) = Guarded::new(input);
    guard.data();
    unpacker.take_all(Path::new(as_file), &mut guarded)?;
    finish(unpacker, &name)
}

/// Opens what was unpacked. `name` is what the user calls it.
fn finish(unpacker: Unpacker, name: &Path) -> Result<Recording, Error> {
    let notes = unpacker.notes();
    let spool = unpacker.spool;
    let root = spool.path().to_path_buf();
    // As with a folder, what lies deeper than a trace is not looked at.
    let mut folders = vec![root.clone()];
    if !holds_trace(&root) {
        let below = fs::read_dir(&root).map_err(|e| spool.fail(e))?.flatten().map(|e| e.path());
        folders = below.filter(|path| path.is_dir() && holds_trace(path)).collect();
        folders.sort();
    }
    let what = match &folders[..] {
        [folder] => {
            let mut recording = open_folder(folder).map_err(|e| e.renamed(folder, name))?;
            recording.source = Box::new(Unpacked::new(recording.source, notes, folder, name));
            recording.place = Some(Place::spooled(folder.clone(), spool));
            return Ok(recording);
        }
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
