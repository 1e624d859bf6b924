//! Errors of making or finishing a recording: what happened, where, and what to do.

use std::io;
use std::path::{Path, PathBuf};

/// A reason why a recording is missing or incomplete.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused an operation on a file.
    #[error("{}: {doing}: {source}", .path.display())]
    Io {
        /// The attempted operation in a few words, for example `writing`.
        doing: &'static str,
        /// The file or folder that the operation was for.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A problem that the user can fix; `help` says how.
    #[error("{what}")]
    Refused {
        /// What happened.
        what: String,
        /// Advice on what to do.
        help: String,
    },
}

/// Result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error `what` with advice `help`.
    pub fn refused(what: impl Into<String>, help: impl Into<String>) -> Error {
        Error::Refused { what: what.into(), help: help.into() }
    }

    /// Advice on what to do; `None` if there is none.
    pub fn help(&self) -> Option<&str> {
        match self {
            Error::Refused { help, .. } => Some(help),
            Error::Io { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied => Some("recording needs root: run it with sudo; for anything else give a place that you may write to"),
                io::ErrorKind::StorageFull => Some("give another folder with -o, or stream with -o -"),
                _ => None,
            },
        }
    }

    /// Whether the cause is a full disk.
    pub fn is_full(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull)
    }
}

/// Adds the file and the operation to an error of the system.
pub trait At<T> {
    /// Converts an error to [`Error::Io`] about the operation `doing` on `path`.
    fn at(self, doing: &'static str, path: &Path) -> Result<T>;
}

impl<T, E: Into<io::Error>> At<T> for std::result::Result<T, E> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T> {
        self.map_err(|e| Error::Io { doing, path: path.to_path_buf(), source: e.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_can_do_something_is_told_what() {
        let io = |kind: io::ErrorKind| {
            Err::<(), _>(io::Error::from(kind)).at("opening", Path::new("/x")).unwrap_err()
        };
        let help = |kind| io(kind).help().map(str::to_string);
        assert!(help(io::ErrorKind::PermissionDenied).unwrap().contains("sudo"));
        assert!(help(io::ErrorKind::StorageFull).unwrap().contains("-o"));
        assert_eq!(help(io::ErrorKind::NotFound), None);
        assert_eq!(Error::refused("no trace", "record one").help(), Some("record one"));
        assert!(io(io::ErrorKind::StorageFull).is_full() && !io(io::ErrorKind::NotFound).is_full());
        assert!(io(io::ErrorKind::NotFound).to_string().starts_with("/x: opening: "));
    }
}
