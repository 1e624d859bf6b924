//! How a command that failed ends: one clear message on standard error, and an exit status.

use crate::clean::clean;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;
use units::words::shell;

/// Advice if something could not be written; `None` for errors without advice.
fn not_written(what: &str, why: &io::Error) -> Option<String> {
    let help = match why.kind() {
        io::ErrorKind::NotFound => match Path::new(what).parent().filter(|f| !f.as_os_str().is_empty()) {
            Some(folder) => format!(
                "nothing was written: make the folder first (mkdir -p {})",
                shell(&folder.to_string_lossy())
            ),
            None => return None,
        },
        io::ErrorKind::PermissionDenied => {
            "nothing was written: no permission; name a file in a folder of your own".into()
        }
        io::ErrorKind::StorageFull => "the disk is full: name a file on another one".into(),
        io::ErrorKind::IsADirectory => "this is a folder: name a file in it".into(),
        _ => return None,
    };
    Some(help)
}

/// The exit status of wrong usage, the same as clap's.
const USAGE: u8 = 2;
/// The exit status if a condition can never hold.
const NEVER: u8 = 3;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An input could not be read.
    #[error(transparent)]
    Explain(#[from] explain::Error),
    /// A recording could not be made.
    #[error(transparent)]
    Record(#[from] record::Error),
    /// A checkup was refused or broken off.
    #[error(transparent)]
    Checkup(#[from] checkup::Error),
    /// The recorded command's own exit status, which is passed on; all messages were printed before.
    #[error("exit status {0}")]
    Status(u8),
    /// An output could not be written.
    #[error("{what}: {source}")]
    Write {
        /// The file or stream that was written.
        what: String,
        /// The error of the system.
        source: io::Error,
    },
    /// Any other failure.
    #[error("{what}")]
    Other {
        /// What happened.
        what: String,
        /// Advice for the user, if there is any.
        help: Option<String>,
    },
    /// The arguments do not fit together, whatever the input contains.
    #[error("{what}")]
    Usage {
        /// What is wrong with the arguments.
        what: String,
        /// What would be right, if there is advice.
        help: Option<String>,
    },
    /// A condition of --fail-if that can never hold, so that it protects nothing.
    #[error("{what}")]
    Never {
        /// The condition, and why it cannot hold.
        what: String,
        /// What the condition could name instead, if there is anything.
        help: Option<String>,
    },
    /// The reader closed the pipe (`| head`): nothing is printed.
    #[error("closed pipe")]
    ClosedPipe,
}

impl Failure {
    /// Makes a failure from an error in writing `what`; a closed pipe becomes [`Failure::ClosedPipe`].
    pub fn write(what: &str) -> impl Fn(io::Error) -> Failure + '_ {
        move |source| match source.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Write { what: what.to_string(), source },
        }
    }

    /// An error if the folder of an output file does not exist; it is checked before a recording is read.
    pub fn unless_it_has_a_folder(file: &Path) -> Result<(), Failure> {
        match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => Err(Failure::write(
                &file.display().to_string(),
            )(
                io::Error::new(io::ErrorKind::NotFound, "there is no such folder"),
            )),
            _ => Ok(()),
        }
    }

    /// An error if an output file would replace a recording: one of the inputs, or any file that is no text.
    pub fn unless_it_replaces_a_recording(file: &Path, inputs: &[&Path]) -> Result<(), Failure> {
        let same = |input: &&Path| {
            input.canonicalize().ok().is_some_and(|input| file.canonicalize().ok() == Some(input))
        };
        if !file.is_file() || !inputs.iter().any(same) && is_text(file) {
            return Ok(());
        }
        Err(Failure::Usage {
            what: format!(
                "{} exists, and it is a recording or other data: it is not replaced",
                file.display()
            ),
            help: Some("give another name for the output, or remove the file first".into()),
        })
    }

    /// Prints the message and the advice; returns the exit status.
    pub fn report(self) -> ExitCode {
        match self {
            Failure::ClosedPipe => return ExitCode::SUCCESS,
            Failure::Status(status) => return ExitCode::from(status),
            // As a shell reports a program that died of SIGINT.
            Failure::Explain(explain::Error::Interrupted) | Failure::Checkup(checkup::Error::Interrupted) => {
                remark!("iowhy: interrupted");
                return ExitCode::from(130);
            }
            _ => {}
        }
        remark!("iowhy: {}", clean(&self.to_string()));
        let help = match &self {
            Failure::Explain(e) => e.help(),
            Failure::Record(e) => e.help().map(str::to_string),
            Failure::Checkup(e) => e.help().map(str::to_string),
            Failure::Write { what, source } => not_written(what, source),
            Failure::Other { help, .. } | Failure::Usage { help, .. } | Failure::Never { help, .. } => {
                help.clone()
            }
            _ => None,
        };
        if let Some(help) = help {
            for line in clean(&help).lines() {
                // A line that is already indented belongs to a list.
                let indent = if line.starts_with(' ') { "" } else { "       " };
                remark!("{indent}{line}");
            }
        }
        match self {
            Failure::Never { .. } => ExitCode::from(NEVER),
            Failure::Usage { .. } => ExitCode::from(USAGE),
            _ => ExitCode::FAILURE,
        }
    }
}

/// Bytes at the start of a file that show whether it is text.
const START: u64 = 4096;

/// Whether a file begins like text, or is empty.
fn is_text(file: &Path) -> bool {
    let mut start = vec![];
    let read = std::fs::File::open(file).and_then(|file| file.take(START).read_to_end(&mut start));
    read.is_ok()
        && !start.contains(&0)
        && std::str::from_utf8(&start).map_or_else(|e| e.error_len().is_none(), |_| true)
}
