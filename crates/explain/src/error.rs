//! Why an input was not explained.

use operation::NotThere;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why it was not.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A recording could not be read.
    #[error(transparent)]
    Trace(#[from] trace::Error),
    /// SIGINT or SIGTERM came while a file was read.
    #[error("interrupted")]
    Interrupted,
    /// Nothing in the recording is called what is asked for.
    #[error(transparent)]
    NotThere(#[from] NotThere),
    /// Something else that the user must know.
    #[error("{what}")]
    Other {
        /// What happened.
        what: String,
        /// What to do.
        help: Option<String>,
    },
}

impl Error {
    /// An error and what to do about it.
    pub(crate) fn new(what: impl Into<String>, help: impl Into<String>) -> Error {
        Error::Other { what: what.into(), help: Some(help.into()) }
    }

    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        match self {
            Error::Trace(e) => e.help().map(str::to_string),
            Error::Interrupted => None,
            Error::NotThere(NotThere { there, .. }) => Some(there.clone()),
            Error::Other { help, .. } => help.clone(),
        }
    }
}
