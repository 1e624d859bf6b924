//! A cgroup that limits or weighs I/O.

use crate::fact::Fact;
use serde::Serialize;
use std::collections::BTreeMap;

/// A cgroup and its settings (Documentation/admin-guide/cgroup-v2.rst, "IO Interface Files"; v1: blkio).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cgroup {
    /// Its path below `/sys/fs/cgroup`; empty for the root.
    pub path: String,
    /// Its id in traces: the inode of its folder.
    pub id: u64,
    /// Its files by name, with their contents: `io.max`.
    pub settings: BTreeMap<String, Fact<String>>,
}
