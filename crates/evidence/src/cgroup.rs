//! A control group that limits or weighs I/O.

use crate::fact::Fact;
use serde::Serialize;
use std::collections::BTreeMap;

/// Settings of a group (Documentation/admin-guide/cgroup-v2.rst, "IO Interface Files"; version 1: blkio).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cgroup {
    /// Its folder below `/sys/fs/cgroup`; empty: the root.
    pub path: String,
    /// Its number in traces: the folder's inode.
    pub id: u64,
    /// Its files by name, as they read: `io.max`.
    pub settings: BTreeMap<String, Fact<String>>,
}
