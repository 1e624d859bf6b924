//! Sorts the named files into texts and a recording, and reads the texts.

use super::shape;
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use tooltext::ToolOutput;
use trace::blkparse::{own_format, Own};

/// Bytes that are examined to recognise a recording: text of blkparse may have that much text above it.
const LOOK: usize = trace::LONGEST_LETTER;
/// Bytes that distinguish text from binary files: every binary format has zero bytes in its first few hundred.
const LOOK_FOR_ZEROS: usize = 4096;
/// Bytes read at once.
const BUFFER: usize = 1 << 18;

/// The kind of an input by its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begins {
    /// Binary data, or nothing.
    Bytes,
    /// Events of block I/O as blkparse prints them, and nothing else.
    Events,
    /// Text in UTF-16, which is not supported.
    Utf16,
    Text,
}

impl Begins {
    /// Determines the kind; the same for files and standard input.
    fn of(start: &[u8]) -> Begins {
        if [[0xff, 0xfe], [0xfe, 0xff]].iter().any(|mark| start.starts_with(mark)) {
            return Begins::Utf16;
        }
        if start.is_empty() || start.iter().take(LOOK_FOR_ZEROS).any(|b| *b == 0) {
            return Begins::Bytes;
        }
        let plain = trace::blkparse::looks_like(start) || trace::tracetext::looks_like(start);
        let own = own_format(start);
        let output = || ToolOutput::read("", start);
        let events = match own {
            Own::None if plain => {
                let output = output();
                !is_more_than_events(&output) && !is_letter(&output)
            }
            Own::None => false,
            Own::Read(_) => !is_more_than_events(&output()),
            Own::Refused(_) => !output().says_anything(),
        };
        if events {
            Begins::Events
        } else {
            Begins::Text
        }
    }
}

fn utf16(name: Option<&Path>) -> Error {
    let (what, help) = match name {
        Some(path) => {
            let name = path.display();
            (name.to_string(), format!("iconv -f UTF-16 -t UTF-8 {name} > utf8.txt, and take that"))
        }
        None => ("standard input".into(), "iconv -f UTF-16 -t UTF-8 FILE | iowhy explain -".into()),
    };
    Error::new(format!("{what} is text in UTF-16, which is not supported"), help)
}

/// Reads the beginning of a stream; returns it with the rest of the stream.
fn look<R: Read>(mut from: R) -> io::Result<(Vec<u8>, R)> {
    let mut start = Vec::new();
    (&mut from).take(LOOK_FOR_ZEROS as u64).read_to_end(&mut start)?;
    // Binary data needs no more: reading further would only wait for the pipe.
    if !start.contains(&0) {
        (&mut from).take((LOOK - start.len()) as u64).read_to_end(&mut start)?;
    }
    Ok((start, from))
}

/// Reads a text if output of tools or settings are found in it. `None` for everything else: recordings, also in text form, and files
/// without recognisable text.
pub fn read(path: &Path) -> Option<ToolOutput> {
    if !path.is_file() {
        return None;
    }
    let (start, rest) = look(File::open(path).ok()?).ok()?;
    if Begins::of(&start) != Begins::Text {
        return None;
    }
    let rest = BufReader::with_capacity(BUFFER, rest);
    let output = ToolOutput::read_stream(&path.display().to_string(), start, rest).ok()?;
    (output.says_anything() || output.broken.is_some()).then_some(output)
}

/// Fails if a text contains only a truncated or damaged JSON document.
fn whole(output: ToolOutput) -> Result<ToolOutput> {
    match output.broken.filter(|_| !output.says_anything()) {
        None => Ok(output),
        Some(at) => Err(Error::new(
            format!("{}: the JSON document that begins here breaks off or is damaged", output.at(at)),
            "save the tool's output again; its text can be read as far as it goes",
        )),
    }
}

/// The content of standard input.
enum Standard {
    Text(Box<ToolOutput>),
    /// The beginning of a text in which nothing was recognised, or of a known but unsupported format.
    Other(Vec<u8>),
    /// The beginning of a recording or of nothing: the rest is still to be read.
    Recording(Vec<u8>),
}

fn on_standard_input() -> Result<Standard> {
    let fail = |source| trace::Error::Io { path: "standard input".into(), source };
    let (start, rest) = look(io::stdin()).map_err(fail)?;
    match Begins::of(&start) {
        Begins::Utf16 => Err(utf16(None)),
        Begins::Text => {
            let rest = BufReader::with_capacity(BUFFER, rest);
            let begin = start.clone();
            let output = ToolOutput::read_stream("standard input", start, rest).map_err(fail)?;
            let known = output.says_anything() || output.broken.is_some();
            Ok(if known { Standard::Text(Box::new(output)) } else { Standard::Other(begin) })
        }
        Begins::Bytes if shape::of(&start).is_some() => Ok(Standard::Other(start)),
        Begins::Bytes | Begins::Events => Ok(Standard::Recording(start)),
    }
}

/// Whether a text contains more than events of block I/O; then it is not a recording.
fn is_more_than_events(output: &ToolOutput) -> bool {
    output.runs.iter().flat_map(|run| &run.readings).any(|r| r.tool != "blkparse" && !r.rows.is_empty())
}

/// Maximal number of words of events in a mail's excerpt; a line of blkparse has ten words.
const MOST_OF_EXCERPT: usize = 1000;

/// Whether a few events stand in a mail, as excerpts of traces do: in several places, or with more words around them than in them. The text
/// between events is no part of a trace, and two traces are not one.
fn is_letter(output: &ToolOutput) -> bool {
    let traces = output.runs.iter().filter(|run| run.of("blkparse").next().is_some()).count();
    let around = 2 * output.understood < output.words;
    output.understood < MOST_OF_EXCERPT && (traces > 1 || traces == 1 && around)
}

/// The named files by kind.
#[derive(Default)]
pub(crate) struct Sorted {
    /// The recording, if there is one.
    pub recording: Option<PathBuf>,
    /// The bytes that were already read from standard input, if the recording is there.
    pub start: Vec<u8>,
    /// The texts.
    pub outputs: Vec<ToolOutput>,
}

/// Sorts the named files into texts and at most one recording.
pub(crate) fn sort(paths: &[PathBuf]) -> Result<Sorted> {
    let mut sorted = Sorted::default();
    for path in paths {
        if path == Path::new("-") {
            match on_standard_input()? {
                Standard::Text(output) => sorted.outputs.push(whole(*output)?),
                Standard::Other(start) => {
                    let name = "standard input";
                    let known = shape::error(name, &start).or_else(|| shape::nothing_in(name, &start));
                    let unknown = || Error::new(format!("{name}: unrecognised format"), shape::ACCEPTED);
                    return Err(known.unwrap_or_else(unknown));
                }
                Standard::Recording(start) => {
                    sorted.record(path)?;
                    sorted.start = start;
                }
            }
            continue;
        }
        if is_utf16(path) {
            return Err(utf16(Some(path)));
        }
        if path.is_dir() && !trace::holds_trace(path) {
            let texts = in_folder(path);
            // Settings lie beside every recording: alone they must not hide that the recording cannot be opened.
            if texts.iter().any(ToolOutput::has_readings) {
                sorted.outputs.extend(texts);
                continue;
            }
        }
        match read(path) {
            Some(output) => sorted.outputs.push(whole(output)?),
            None => sorted.record(path)?,
        }
    }
    Ok(sorted)
}

impl Sorted {
    /// Notes the recording; fails if there is another one already.
    fn record(&mut self, path: &Path) -> Result<()> {
        let Some(first) = self.recording.replace(path.to_owned()) else { return Ok(()) };
        if let Some(whole) = both_parts_of(&first, path) {
            self.recording = Some(whole);
            return Ok(());
        }
        if let Some(missing) = [&first, path].into_iter().find(|path| !trace::is_there(path)) {
            return Err(trace::Error::missing(missing).into());
        }
        // A file that no reader recognises counts as a recording until it is opened.
        let known_shape = [&first, path].into_iter().filter(|p| p.is_file()).find_map(unrecognised);
        Err(known_shape.unwrap_or_else(|| {
            Error::new(
                format!("{} and {} are both recordings", first.display(), path.display()),
                "explain one of them, with any texts; or compare them: iowhy compare",
            )
        }))
    }
}

/// The recording that two files are parts of: `vda` for `vda.blktrace.0` and `vda.blktrace.1`, which is what a shell makes of
/// `vda.blktrace.*`. The first may be the recording itself.
fn both_parts_of(first: &Path, part: &Path) -> Option<PathBuf> {
    trace::whole_of(part).filter(|name| first == name || trace::whole_of(first).as_ref() == Some(name))
}

/// Maximal number of texts that are read from a folder.
const MOST_TEXTS: usize = 100;
/// File name endings of parts of recordings and of pages about them.
const NO_TEXTS: [&str; 6] = [".dat", ".zst", ".gz", ".raw", ".jsonl", ".md"];

/// The texts in a folder in which tool output is found, sorted by name: all in a folder without a trace, those beside the trace in a folder
/// with one (`fio.json`).
pub fn in_folder(folder: &Path) -> Vec<ToolOutput> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let may_be = |path: &PathBuf| {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let recorded = name.contains(".blktrace.") || NO_TEXTS.iter().any(|end| name.ends_with(end));
        // Symbolic links are ignored: they may lead anywhere.
        let plain = path.symlink_metadata().is_ok_and(|m| m.is_file());
        plain && !recorded && !["system.json", "capture.json"].contains(&name.as_str())
    };
    let mut paths: Vec<PathBuf> = names.filter(may_be).collect();
    paths.sort();
    paths.iter().take(MOST_TEXTS).filter_map(|path| read(path)).filter(ToolOutput::says_anything).collect()
}

/// Shortens the names of texts to file names without folders, where these are unique: each number is cited with the name of its text.
pub(crate) fn shorten_names(outputs: &mut [ToolOutput]) {
    let short = |output: &ToolOutput| output.file.rsplit('/').next().unwrap_or("").to_owned();
    let names: Vec<String> = outputs.iter().map(short).collect();
    let unique = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    for (output, name) in outputs.iter_mut().zip(&names) {
        if unique(name) {
            output.file.clone_from(name);
        }
    }
}

/// The error for a file in an unsupported format, if it is recognised.
pub(crate) fn unrecognised(path: &Path) -> Option<Error> {
    let (start, _) = look(File::open(path).ok()?).ok()?;
    shape::error(&path.display().to_string(), &start)
}

/// The error for a file in which nothing is recognised, if it is text.
pub(crate) fn nothing_in(path: &Path) -> Option<Error> {
    let (start, _) = look(File::open(path).ok()?).ok()?;
    shape::nothing_in(&path.display().to_string(), &start)
}

/// The error for a folder with an LTTng recording; its metadata lies in it or in the folder `kernel`.
pub(crate) fn ctf_folder(path: &Path) -> Option<Error> {
    let metadata =
        ["metadata", "kernel/metadata"].iter().map(|name| path.join(name)).find(|file| file.is_file())?;
    let (start, _) = look(File::open(metadata).ok()?).ok()?;
    shape::error(&path.display().to_string(), &start)
}

fn is_utf16(path: &Path) -> bool {
    let mut start = vec![];
    let read = File::open(path).and_then(|file| file.take(2).read_to_end(&mut start));
    path.is_file() && read.is_ok() && Begins::of(&start) == Begins::Utf16
}

#[cfg(test)]
mod tests {
    use super::Begins;

    /// Requests on one disk, one after the other.
    fn events(first: u32) -> String {
        let one = |i: u32| {
            let (sector, at) = (2048 + 8 * (first + i), f64::from(i) * 0.002);
            let event = |n: u32, later: f64, action: char| {
                let (n, at) = (3 * (first + i) + n, at + later);
                format!("  8,16   1 {n:8} {at:14.9}  4711  {action}  WS {sector} + 8 [fio]\n")
            };
            [event(1, 0.0, 'Q'), event(2, 0.00001, 'D'), event(3, 0.0009, 'C')].concat()
        };
        (0..6).map(one).collect()
    }

    #[test]
    fn events_in_a_letter_are_no_recording() {
        assert_eq!(Begins::of(events(0).as_bytes()), Begins::Events);
        let letter = format!("This is what I see:\n\n{}\nRegards\n", events(0));
        assert_eq!(Begins::of(letter.as_bytes()), Begins::Events);
        let two = format!("Without it:\n\n{}\nAnd with it:\n\n{}", events(0), events(40));
        assert_eq!(Begins::of(two.as_bytes()), Begins::Text);
        let words =
            "I do not think that this is what the array has to do here, and others agree. ".repeat(40);
        assert_eq!(Begins::of(format!("{words}\n\n{}\n{words}", events(0)).as_bytes()), Begins::Text);
    }
}
