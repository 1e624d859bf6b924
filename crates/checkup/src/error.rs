//! Why there is no checkup: what happened, where, what to do.
//!
//! What can be refused by the system or put right by a person is the recorder's error; that all was removed is our own
//! matter, and the advice where a file is concerned.

use record::Error as Stopped;
use std::io::ErrorKind;

/// A reason why it was refused or broken off.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something was refused.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// Ctrl-C or SIGTERM; all was removed.
    #[error("interrupted")]
    Interrupted,
}

/// What functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with advice.
    pub fn refused(what: impl Into<String>, help: impl Into<String>) -> Error {
        Stopped::refused(what, help).into()
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&str> {
        match self {
            Error::Stopped(Stopped::Io { source, .. }) => match source.kind() {
                ErrorKind::PermissionDenied => {
                    Some("you must be allowed to write in the folder; with sudo iowhy also sees more")
                }
                ErrorKind::StorageFull => Some("free some space; all files of the checkup were removed"),
                _ => None,
            },
            Error::Stopped(e) => e.help(),
            Error::Interrupted => None,
        }
    }
}
