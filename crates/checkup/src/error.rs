//! The error of a checkup: what happened, where, and what to do.
//!
//! Errors of the system, and those that a user can fix, are the recorder's errors. This crate adds the interruption,
//! and the advice on errors with files.

use record::Error as Stopped;
use std::io::ErrorKind;

/// Why a checkup was refused or aborted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system or a check refused something.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// SIGINT, SIGTERM or SIGHUP ended it; all its files were removed.
    #[error("interrupted")]
    Interrupted,
}

/// The result of functions of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with advice on what to do.
    pub fn refused(what: impl Into<String>, help: impl Into<String>) -> Error {
        Stopped::refused(what, help).into()
    }

    /// Advice on what to do, if there is any.
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
