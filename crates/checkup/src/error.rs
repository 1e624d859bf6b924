//! Why there is no checkup: what happened, where, what to do.

use std::io;
use std::path::{Path, PathBuf};

/// A reason why it was refused or broken off.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused something.
    #[error("{}: {doing}: {source}", .path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// What a person can put right; `help` says how.
    #[error("{what}")]
    Refused {
        /// What happened.
        what: String,
        /// What to do.
        help: String,
    },
    /// Ctrl-C or SIGTERM; all was removed.
    #[error("interrupted")]
    Interrupted,
}

/// What functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with advice.
    pub fn refused(what: impl Into<String>, help: impl Into<String>) -> Error {
        Error::Refused { what: what.into(), help: help.into() }
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&str> {
        match self {
            Error::Refused { help, .. } => Some(help),
            Error::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                Some("the folder must be yours to write in; sudo lets iowhy see more, too")
            }
            Error::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                Some("free some space; all files of the checkup were removed")
            }
            _ => None,
        }
    }
}

/// Adds the file and what was being done.
pub(crate) trait At<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T>;
}

impl<T, E: Into<io::Error>> At<T> for std::result::Result<T, E> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T> {
        self.map_err(|e| Error::Io { doing, path: path.to_path_buf(), source: e.into() })
    }
}
