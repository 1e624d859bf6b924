//! What makes operations a group.

use operation::Kind;
use trace::{DevId, Fs};

/// A group of operations: one kind on one file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpKey {
    /// Kind of operation.
    pub kind: Kind,
    /// Kind of file system.
    pub fs: Fs,
    /// Its device; 0 if not known.
    pub dev: DevId,
}
