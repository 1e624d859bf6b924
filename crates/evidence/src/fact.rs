//! A value with its source; causes quote both.

use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// A location in a document. Printed as `queue-vda.txt:23` or `system.json: before.disks.vda.queue.nr_requests`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub struct At {
    /// The document's path within the capture.
    pub file: Arc<str>,
    /// The location within the document.
    pub place: Place,
}

/// A location within a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A line of a text, counted from 1.
    Line(u32),
    /// A word of a mail: its line, and in a long line its column.
    Spot(Spot),
    /// A value of a JSON document: the keys that lead to it, separated by dots.
    Key(Arc<str>),
}

/// The position of a word in a text: its line, and in lines too long to find it by eye, its byte; both count from 1:
/// `12`, `12:4010`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub struct Spot {
    /// Number of the line, from 1.
    pub line: u32,
    /// Byte in the line, from 1; 0 for lines of ordinary length.
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

/// A value and its source. Printed as `256 (queue-vda.txt:23)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact<T> {
    /// The value.
    pub value: T,
    /// The location that it was read from.
    pub at: At,
}

impl<T> Fact<T> {
    pub(crate) fn new(value: T, at: &At) -> Fact<T> {
        Fact { value, at: at.clone() }
    }

    /// The fact converted to another form, with the same source; `None` if the conversion fails.
    pub(crate) fn read<U>(&self, how: impl FnOnce(&T) -> Option<U>) -> Option<Fact<U>> {
        Some(Fact { value: how(&self.value)?, at: self.at.clone() })
    }
}

impl<T: fmt::Display> fmt::Display for Fact<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.value, self.at)
    }
}

/// Two contradictory values of one setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// Name of the setting, for example `vda/queue/nr_requests`.
    pub what: String,
    /// The value that was read first, which is used.
    pub kept: Fact<String>,
    /// The contradicting value.
    pub other: Fact<String>,
}
