//! Where a recording lies, so that it can be opened again and the files beside it found.

use crate::spool::Spool;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder, a file in it, or NAME for `NAME.blktrace.0`: whatever [`open`](crate::open) takes.
///
/// What came packed or through a pipe lies in a temporary folder, which goes away with the last clone of its place.
#[derive(Clone, Debug)]
pub struct Place {
    path: PathBuf,
    _spool: Option<Arc<Spool>>,
}

impl Place {
    /// A path of the user's.
    pub(crate) fn given(path: &Path) -> Place {
        Place { path: path.to_path_buf(), _spool: None }
    }

    /// A folder within a temporary one.
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
