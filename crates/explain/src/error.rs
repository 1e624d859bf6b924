//! The errors of this crate: why an input could not be explained.

use operation::NotThere;
use std::borrow::Cow;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an input could not be explained.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The recording could not be read.
    #[error(transparent)]
    Trace(#[from] trace::Error),
    /// SIGINT or SIGTERM arrived while a file was read.
    #[error("interrupted")]
    Interrupted,
    /// The task, device or the like that a scope asks for does not occur in the recording.
    #[error(transparent)]
    NotThere(#[from] NotThere),
    /// Any other error that the user can act on.
    #[error("{what}")]
    Other {
        /// What happened, as a clause.
        what: String,
        /// What the user can do about it.
        help: Option<String>,
    },
}

impl Error {
    /// Creates an error with advice.
    pub(crate) fn new(what: impl Into<String>, help: impl Into<String>) -> Error {
        Error::Other { what: what.into(), help: Some(help.into()) }
    }

    /// What the user can do about it; `None` if there is no advice.
    pub fn help(&self) -> Option<String> {
        match self {
            Error::Trace(e) => e.help().map(Cow::into_owned),
            Error::Interrupted => None,
            Error::NotThere(NotThere { there, .. }) => Some(there.clone()),
            Error::Other { help, .. } => help.clone(),
        }
    }
}
