//! Errors of reading: what happened, where (file and offset) and what to do.

use crate::similar::similar_words;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use units::words::time;
use units::Nanos;

/// The message for a file of unknown format.
pub(crate) const UNRECOGNISED: &str = "unrecognised format";

/// The message for blkparse lines whose format cannot be determined.
pub(crate) const OWN_FORMAT: &str = "blkparse's lines in a format of their own (-f)";

/// What can be given as a recording.
const TO_GIVE: &str = "give a folder, NAME (for NAME.blktrace.0, .1, ...), a file, or - for a pipe";

fn emptiness(is_pipe: &bool) -> &'static str {
    match is_pipe {
        true => "nothing came, not one byte",
        false => "the file is empty",
    }
}

/// A time at which something begins. Examples: `0`, `1.5 s`.
fn moment(at: Nanos) -> String {
    match at {
        Nanos(0) => "0".into(),
        at => time(at),
    }
}

/// A reason why a trace could not be read at all. Damage that a reader can skip is not an error: it is
/// counted in [`Quality`](crate::Quality).
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused to open or read a file.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The file that the operation was for.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// There is no such file or folder.
    #[error("{path}: no such file or folder", path = .path.display())]
    Missing {
        /// The path that the user gave.
        path: PathBuf,
        /// Names that are spelled similarly, in words.
        similar: Option<String>,
    },
    /// The content is not what its reader expects.
    #[error("{path}: at byte {offset}: {what}", path = .path.display())]
    Malformed {
        /// The file that is damaged or of another format.
        path: PathBuf,
        /// Offset in the uncompressed file; in the stored (compressed) file if the compressed data is damaged.
        offset: u64,
        /// Description of the damage.
        what: String,
    },
    /// The input has no bytes.
    #[error("{path}: {}", emptiness(.is_pipe), path = .path.display())]
    Empty {
        /// The file, or `standard input`.
        path: PathBuf,
        /// Whether the input was a pipe.
        is_pipe: bool,
    },
    /// No readable trace was found.
    #[error("{path}: {what}", path = .path.display())]
    NotATrace {
        /// The path that the user gave.
        path: PathBuf,
        /// What was looked for, or why the path is no trace.
        what: String,
    },
    /// A folder holds no recording itself, but there are some inside.
    #[error("{path}: this folder holds no recording itself; recordings inside: {inside}", path = .path.display())]
    Inside {
        /// The path that the user gave.
        path: PathBuf,
        /// Names of some of the recordings inside, in words.
        inside: String,
        /// The path of the first of them.
        first: String,
    },
    /// The part of the recording that was asked for lies outside it.
    #[error(
        "{path}: the window lies outside the recording, which covers {first} to {last}",
        path = .path.display(), first = moment(*.first), last = time(*.last)
    )]
    Outside {
        /// The path that the user gave.
        path: PathBuf,
        /// The time of its first event, on the clock that the window counts by.
        first: Nanos,
        /// The time of its last event, on the same clock.
        last: Nanos,
    },
    /// Packed or piped input is unpacked to disk first, and the disk has too little space.
    #[error("{folder}: {what}", folder = .folder.display())]
    NoRoom {
        /// The folder in which it was to be unpacked.
        folder: PathBuf,
        /// The space that was needed.
        what: String,
    },
}

impl Error {
    /// The error for a path that does not exist, with similar ones that do.
    pub fn missing(path: &Path) -> Error {
        Error::Missing { path: path.into(), similar: similar_words(path) }
    }

    /// The same error with paths in folder `from` replaced by paths in `to`.
    pub(crate) fn renamed(self, from: &Path, to: &Path) -> Error {
        let new = |path: PathBuf| path.strip_prefix(from).map(|rest| to.join(rest)).unwrap_or(path);
        match self {
            Error::Io { path, source } => Error::Io { path: new(path), source },
            Error::Malformed { path, offset, what } => Error::Malformed { path: new(path), offset, what },
            Error::NotATrace { path, what } => Error::NotATrace { path: new(path), what },
            Error::Empty { path, is_pipe } => Error::Empty { path: new(path), is_pipe },
            other => other,
        }
    }

    /// Whether the file has an unknown format (as opposed to a damaged file of a known format).
    pub fn is_unrecognised(&self) -> bool {
        matches!(self, Error::Malformed { what, .. } if what == UNRECOGNISED)
    }

    /// What the user can do about it; `None` if there is no advice.
    pub fn help(&self) -> Option<Cow<'static, str>> {
        match self {
            Error::Missing { similar: Some(similar), .. } => Some(format!("{similar}\n{TO_GIVE}").into()),
            Error::Inside { first, .. } => Some(format!("give one of them, such as {first}").into()),
            _ => self.advice().map(Cow::Borrowed),
        }
    }

    /// The advice that depends only on the kind of error.
    fn advice(&self) -> Option<&'static str> {
        match self {
            Error::Io { source, .. } => match source.kind() {
                std::io::ErrorKind::PermissionDenied => {
                    Some("only root may read it: run with sudo; of a device first make a recording: sudo iowhy record --device NAME")
                }
                std::io::ErrorKind::NotFound => Some(TO_GIVE),
                _ => None,
            },
            Error::Missing { .. } => Some(TO_GIVE),
            Error::Inside { .. } => None,
            Error::Outside { .. } => Some(
                "give a window within that time: END, START:END or START:, in seconds (1.5) or with a unit (1500ms)",
            ),
            Error::NotATrace { what, .. } if what.starts_with(OWN_FORMAT) => Some(
                "say the format: put the command that printed them above the lines, as\n\
                 (echo \"blkparse -f '%T.%t %D %a %d %S+%n %p %C\\n'\"; cat FILE) | iowhy explain -\n\
                 or give blkparse's text without -f, or what blktrace wrote: NAME.blktrace.N",
            ),
            Error::Empty { is_pipe: true, .. } => Some(
                "see what the command before the pipe says when it runs alone; recording needs root:\n\
                 sudo blktrace -d /dev/DEV -o - | iowhy explain -, or sudo iowhy record -o slow",
            ),
            Error::Empty { is_pipe: false, .. } => Some(
                "record again, until there is something in it: sudo iowhy record -o slow; blktrace writes a file for\n\
                 each processor, of which some may be empty: give NAME without .blktrace.N",
            ),
            Error::Malformed { .. } | Error::NotATrace { .. } => Some(
                "accepted: NAME.blktrace.N, `blkparse -d` files, trace.dat (trace-cmd), perf.data, text of\n\
                 blkparse, ftrace, trace-cmd report or perf script, and captures of iowhy record; by explain and\n\
                 compare also the kernel's log and text of fio, iostat, sar, strace, bpftrace and others",
            ),
            Error::NoRoom { .. } => {
                Some("set TMPDIR to a folder with more room, or unpack it there (tar) and give the folder")
            }
        }
    }
}
