//! A value and where it was read: causes quote both.

use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// A place in a document. Printed as `queue-vda.txt:23` or `system.json: before.disks.vda.queue.nr_requests`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub struct At {
    /// The document's name: its path within the capture.
    pub file: Arc<str>,
    /// Where in it.
    pub place: Place,
}

/// Where in a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A line of a text, counted from 1.
    Line(u32),
    /// A word of a mail: its line, and on a long one its column.
    Spot(Spot),
    /// A value of a JSON document: the names that lead to it, with dots between.
    Key(Arc<str>),
}

/// Where a word of a text stands: its line from 1, and on lines that are too long to find it by eye, its byte in the line from 1:
/// `12`, `12:4010`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub struct Spot {
    /// Line, from 1.
    pub line: u32,
    /// Byte in the line from 1, or 0 on lines of ordinary length.
    pub column: u32,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            0 => write!(f, "{}", self.line),
            column => write!(f, "{}:{column}", self.line),
        }
    }
}

impl Serialize for Spot {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Line(line) => write!(f, "{}:{line}", self.file),
            Place::Spot(spot) => write!(f, "{}:{spot}", self.file),
            Place::Key(key) => write!(f, "{}: {key}", self.file),
        }
    }
}

impl Serialize for At {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// A value and the place that says so. Printed as `256 (queue-vda.txt:23)`.
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

/// Two places that say different things of one setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// Which setting, e.g. `vda/queue/nr_requests`.
    pub what: String,
    /// The one that was read first and holds.
    pub kept: Fact<String>,
    /// The one that says otherwise.
    pub other: Fact<String>,
}
