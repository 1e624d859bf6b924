//! Opens what the user names (a file, NAME, a folder, a capture, a pipe) as a [`Source`].

use crate::blkparse::{self, BlkparseText, Own};
use crate::blktrace::{self, Stream};
use crate::error::{Error, OWN_FORMAT, UNRECOGNISED};
use crate::folder::{packed_in, perf_in, PERF, TRACE};
use crate::input::Input;
use crate::inside::recordings_inside;
use crate::merge::Merge;
use crate::packed::{self, Capture, Unpacked};
use crate::per_cpu::{folder_or_here, per_cpu_files, per_cpu_name, siblings, PerCpu};
use crate::perfdata;
use crate::place::Place;
use crate::recording::Recording;
use crate::reorder::Reorder;
use crate::runs::{self, Start};
use crate::source::Source;
use crate::tracedat::{self, TraceDat, HEAD};
use crate::tracetext::{self, TraceText};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use units::DevId;

/// Opens a recording. `path` is one of
/// - a file: one CPU's `NAME.blktrace.N` (the files of other CPUs are not read), a merged `blkparse -d` file, text, a
///   `trace.dat`, a `perf.data`, or a whole capture as a tar; optionally compressed with gzip or zstd,
/// - `-`: any of these on standard input (`blktrace -o -`, `blkparse -d -`, `iowhy record -o -`),
/// - `NAME` if `NAME.blktrace.0` and so on exist, as for `blkparse -i NAME`,
/// - a folder: all blktrace files in it, of all devices; if there are none, its `trace.dat`, or the files that an
///   interrupted recorder left (`trace.head` and `trace.cpuN.raw`), or a `perf.data`; or a folder of `perf record --threads`.
pub fn open(path: &Path) -> Result<Recording, Error> {
    if path == Path::new("-") {
        return open_one(Input::open(path)?);
    }
    if path.is_dir() {
        return open_folder(path);
    }
    if path.exists() {
        return open_one(Input::open(path)?);
    }
    let found = siblings(path);
    if found.is_empty() {
        // Ask the system why, so that "no such file" and "permission denied" are told apart.
        return match fs::metadata(path) {
            Err(source) if source.kind() == ErrorKind::NotFound => Err(Error::missing(path)),
            Err(source) => Err(Error::Io { path: path.into(), source }),
            Ok(_) => {
                Err(Error::NotATrace { path: path.into(), what: "is neither a file nor a folder".into() })
            }
        };
    }
    open_per_cpu(found, path)
}

/// Opens standard input after part of it was read: `reader` yields that part first, then the rest.
pub fn open_standard_input(reader: Box<dyn std::io::Read + Send>) -> Result<Recording, Error> {
    open_one(Input::from_reader(PathBuf::from("standard input"), reader, None)?)
}

/// Whether a path names something that [`open`] could open: a file, a folder, standard input, or NAME of files `NAME.blktrace.N`.
pub fn is_there(path: &Path) -> bool {
    path == Path::new("-") || path.exists() || !siblings(path).is_empty()
}

fn open_folder(folder: &Path) -> Result<Recording, Error> {
    fs::read_dir(folder).map_err(|source| Error::Io { path: folder.into(), source })?;
    let found = per_cpu_files(folder);
    if !found.is_empty() {
        return open_per_cpu(found, folder);
    }
    let trace = folder.join(TRACE);
    let trace = match (trace.is_file(), folder.join(HEAD).is_file()) {
        (true, false) => tracedat::open(&trace)?,
        (false, true) if packed::is_in_parts(folder) => return of_packed(packed::open_parts(folder)?),
        (false, true) => tracedat::open_raw(folder)?,
        (true, true) => fuller(tracedat::open(&trace), tracedat::open_raw(folder))?,
        (false, false) => {
            if let Some(perf) = perf_in(folder) {
                return of_perf_data(&perf);
            }
            if let Some(file) = packed_in(folder) {
                return open(&file);
            }
            if let Some((inside, first)) = recordings_inside(folder) {
                return Err(Error::Inside { path: folder.into(), inside, first });
            }
            let what = format!(
                "this folder holds no trace (NAME.blktrace.N, {TRACE}, {HEAD}, {PERF} and a packed capture were looked for)"
            );
            return Err(Error::NotATrace { path: folder.into(), what });
        }
    };
    Ok(of_trace_dat(trace, folder))
}

/// Chooses the larger one. Both exist if the recorder was killed while it assembled the trace: only one is complete.
fn fuller(dat: Result<TraceDat, Error>, raw: Result<TraceDat, Error>) -> Result<TraceDat, Error> {
    match (dat, raw) {
        (Ok(dat), Ok(raw)) if raw.size() > dat.size() => Ok(raw),
        (Err(_), Ok(raw)) => Ok(raw),
        (dat, _) => dat,
    }
}

fn of_trace_dat(trace: TraceDat, path: &Path) -> Recording {
    let kernel = trace.facts().kernel().map(str::to_string);
    let place = Some(Place::given(path));
    Recording { source: Box::new(trace), format: "trace.dat", place, names: vec![], kernel }
}

/// Opens a `perf.data` file or folder.
fn of_perf_data(path: &Path) -> Result<Recording, Error> {
    let trace = perfdata::open(path)?;
    let kernel = trace.kernel().map(str::to_string);
    let place = Some(Place::given(path));
    Ok(Recording { source: Box::new(trace), format: "perf.data", place, names: vec![], kernel })
}

/// Opens a capture that was unpacked.
fn of_packed(Capture { folder, spool, notes, name }: Capture) -> Result<Recording, Error> {
    let mut recording = open_folder(&folder).map_err(|e| e.renamed(&folder, &name))?;
    recording.source = Box::new(Unpacked::new(recording.source, notes, &folder, &name));
    recording.place = Some(Place::spooled(folder, spool));
    Ok(recording)
}

/// Opens per-CPU files as one recording. `path` is the folder or NAME that the user gave.
fn open_per_cpu(found: Vec<(PathBuf, PerCpu)>, path: &Path) -> Result<Recording, Error> {
    let (mut notes, mut files_missing) = (Vec::new(), false);
    let mut names: Vec<String> = found.iter().map(|(_, p)| p.device.clone()).collect();
    names.dedup();
    for device in &names {
        let numbers: Vec<u32> =
            found.iter().filter(|(_, p)| p.device == *device).map(|(_, p)| p.number).collect();
        let missing = missing_numbers(device, &numbers);
        files_missing |= missing.is_some();
        notes.extend(missing.or_else(|| only_first(device, &numbers)));
    }
    let mut size = Some(0);
    let mut streams = Vec::new();
    for (path, _) in &found {
        let input = Input::open(path)?;
        size = size.zip(input.size()).map(|(a, b)| a + b);
        streams.push(Stream::open(input)?);
    }
    if streams.iter().all(|s| s.next_time().is_none()) {
        let path = found.first().map(|(path, _)| path.clone()).unwrap_or_default();
        return Err(Error::NotATrace {
            path,
            what: "holds no record, and no other file of this trace does".into(),
        });
    }
    let starts: Vec<Start> = streams
        .iter()
        .zip(&found)
        .filter_map(|(s, (path, p))| Some(Start { path, device: &p.device, first: s.next_event()? }))
        .collect();
    notes.extend(runs::different(&starts));
    let mut names: Vec<(DevId, String)> =
        starts.iter().map(|s| (s.first.dev, s.device.to_string())).collect();
    names.dedup();
    let source = Box::new(Merge::new(streams, size, notes, files_missing));
    Ok(Recording { source, format: "blktrace", place: Some(Place::given(path)), names, kernel: None })
}

/// Warns if only processor 0's file exists: missing numbers cannot show lost files after the last, and few machines have one processor.
fn only_first(device: &str, numbers: &[u32]) -> Option<String> {
    (numbers == [0]).then(|| {
        format!(
            "{device}: only processor 0's file is there; unless the machine has one processor, the others' events are missing"
        )
    })
}

/// blktrace writes one file per CPU even if that CPU saw nothing, so a gap in the numbers means a lost file.
fn missing_numbers(device: &str, numbers: &[u32]) -> Option<String> {
    let last = *numbers.last()?;
    let missing = last as usize + 1 - numbers.len();
    // A hostile name may have any number: only the first gaps are looked for.
    let holes = (0..=last).filter(|n| !numbers.contains(n)).take(MOST_MISSING.min(missing));
    let named: Vec<String> = holes.map(|n| n.to_string()).collect();
    let more = if missing > MOST_MISSING { ", ..." } else { "" };
    (missing > 0).then(|| {
        format!(
            "{device}: {missing} of {} per-CPU files are missing (of processor {}{more}): their events are not in the result",
            last as usize + 1,
            named.join(", ")
        )
    })
}

/// Most missing processors that the warning lists.
const MOST_MISSING: usize = 8;

/// Warns that one CPU's file is read and the others beside it are not.
fn only_one_cpu(path: &Path) -> Option<String> {
    let name = per_cpu_name(path.file_name()?.to_str()?)?.device;
    let folder = folder_or_here(path.parent()?);
    let beside = per_cpu_files(&folder).iter().filter(|(_, f)| f.device == name).count().checked_sub(1)?;
    (beside > 0).then(|| {
        format!(
            "only one CPU's file was read; {beside} more of {name} lie beside it (give {name} to read all)"
        )
    })
}

/// Most bytes before the first event in a mail that holds blkparse's text.
pub const LONGEST_LETTER: usize = 256 * 1024;

/// Placeholder name for a device that the lines do not name, as in commands where the user fills in a name.
const UNNAMED: &str = "DEVICE";

/// Text has no zero bytes; every binary format has some in its first few hundred bytes.
fn is_text(start: &[u8]) -> bool {
    !start.contains(&0)
}

fn open_one(mut input: Input) -> Result<Recording, Error> {
    let name =
        per_cpu_name(&input.path().file_name().unwrap_or_default().to_string_lossy()).map(|p| p.device);
    let size = input.size();
    let place = size.map(|_| Place::given(input.path()));
    let in_place = input.is_plain_file();
    let start = input.peek()?;
    if start.is_empty() {
        return Err(Error::Empty { path: input.path().into(), is_pipe: size.is_none() });
    }
    if tracedat::looks_like(start) {
        return match in_place {
            true => Ok(of_trace_dat(tracedat::open(input.path())?, input.path())),
            false => of_packed(packed::open_trace_dat(input)?),
        };
    }
    if perfdata::looks_like(start) {
        return match in_place {
            true => of_perf_data(input.path()),
            false => of_packed(packed::open_perf_data(input)?),
        };
    }
    if packed::looks_like(start) {
        return of_packed(packed::open(input)?);
    }
    if !blktrace::looks_like(start) {
        let (begins_so, is_text) = (blkparse::has_io(start), is_text(start));
        let of_actions = || start.windows(4).any(|w| w == b" -F ");
        let own = match is_text && (!begins_so || of_actions()) {
            true => blkparse::own_format(input.peek_far(LONGEST_LETTER)?),
            false => Own::None,
        };
        if let Own::Read(formats) = own {
            let names = if formats.has_device() { vec![] } else { vec![(DevId(0), UNNAMED.into())] };
            let source = Box::new(BlkparseText::open_own(input, formats));
            return Ok(Recording { source, format: "blkparse", place, names, kernel: None });
        }
        // Peek further only when needed, so that a pipe is not waited for unnecessarily.
        if begins_so || is_text && blkparse::looks_like(input.peek_far(LONGEST_LETTER)?) {
            let source = Box::new(BlkparseText::open(input));
            return Ok(Recording { source, format: "blkparse", place, names: vec![], kernel: None });
        }
        if is_text && tracetext::looks_like(input.peek_far(LONGEST_LETTER)?) {
            let format = tracetext::format_of(input.peek_far(LONGEST_LETTER)?);
            let source = Box::new(TraceText::open(input));
            return Ok(Recording { source, format, place, names: vec![], kernel: None });
        }
        if let Own::Refused(why) = own {
            let what = format!("{OWN_FORMAT}: {why}");
            return Err(Error::NotATrace { path: input.path().into(), what });
        }
        let what = UNRECOGNISED.into();
        return Err(Error::Malformed { path: input.path().into(), offset: 0, what });
    }
    let path = input.path().to_path_buf();
    let stream = Stream::open(input)?;
    let notes = only_one_cpu(&path).into_iter().collect();
    let names = stream.next_event().map(|e| e.dev).zip(name).into_iter().collect();
    let source = Box::new(Reorder::new(stream, size, notes));
    Ok(Recording { source, format: "blktrace", place, names, kernel: None })
}
