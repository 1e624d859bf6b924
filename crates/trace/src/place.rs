//! The location of a recording, so that it can be opened again and files beside it can be found.

use crate::spool::Spool;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder, a file in it, or NAME for `NAME.blktrace.0`: any path that [`open`](crate::open) accepts.
///
/// A packed or piped recording is in a temporary folder, which is removed with the last clone of its place.
#[derive(Clone, Debug)]
pub struct Place {
    path: PathBuf,
    _spool: Option<Arc<Spool>>,
}

impl Place {
    /// A path that the user gave.
    pub(crate) fn given(path: &Path) -> Place {
        Place { path: path.to_path_buf(), _spool: None }
    }

    /// A path in a temporary folder, which the place keeps alive.
    pub(crate) fn spooled(path: PathBuf, spool: Spool) -> Place {
        Place { path, _spool: Some(Arc::new(spool)) }
    }
}

impl Deref for Place {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}
