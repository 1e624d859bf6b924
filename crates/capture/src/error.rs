//! Why a recording could not be made or finished: what happened, where, and what to do.

use std::io;
use std::path::{Path, PathBuf};

/// A reason why there is no recording, or an incomplete one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused an operation on a file.
    #[error("{}: {doing}: {source}", .path.display())]
    Io {
        /// What was being done, in a few words.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Anything that a person can put right. `help` says how.
    #[error("{what}")]
    Refused {
        /// What happened.
        what: String,
        /// What to do.
        help: String,
    },
}

/// What functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with advice.
    pub fn refused(what: impl Into<String>, help: impl Into<String>) -> Error {
        Error::Refused { what: what.into(), help: help.into() }
    }

    /// What to do about it, if there is something to say.
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

    /// Whether the disk is full.
    pub fn is_full(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull)
    }
}

/// Adds the file and what was being done to an error of the system.
pub trait At<T> {
    /// Says what was being done, with which file.
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
