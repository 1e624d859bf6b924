//! A value and where it was read: causes quote both.

use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// A line of a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    /// The document's name: its path within the capture.
    pub file: Arc<str>,
    /// Counted from 1.
    pub line: u32,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl Serialize for At {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// A value and the line that says so. Printed as `256 (queue-vda.txt:23)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact<T> {
    /// What is the case.
    pub value: T,
    /// Where it is said.
    pub at: At,
}

impl<T> Fact<T> {
    pub(crate) fn new(value: T, at: &At) -> Fact<T> {
        Fact { value, at: at.clone() }
    }

    /// The fact in another form, from the same source; `None` if it has no such form.
    pub(crate) fn read<U>(&self, how: impl FnOnce(&T) -> Option<U>) -> Option<Fact<U>> {
        Some(Fact { value: how(&self.value)?, at: self.at.clone() })
    }
}

impl<T: fmt::Display> fmt::Display for Fact<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.value, self.at)
    }
}

/// Two lines that contradict each other: a setting changed between two snapshots, or they are of different machines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// Which setting, e.g. `vda/queue/nr_requests`.
    pub what: String,
    /// The one that was read first and holds.
    pub kept: Fact<String>,
    /// The one that says otherwise.
    pub other: Fact<String>,
}
