//! Who waited: the tasks whose time is accounted for.

use life::Class;
use operation::Kind;
use serde::Serialize;
use trace::{DevId, Fs};

/// What it waited in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum Asked {
    /// An operation: a system call, a page fault.
    Operation(Kind),
    /// A bio, where only the block layer was recorded.
    Bio(Class),
    /// A bio of read-ahead: no task waits for it yet.
    Ahead,
}

impl Asked {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Asked::Operation(kind) => kind.name(),
            Asked::Bio(Class::Read) | Asked::Ahead => "read",
            Asked::Bio(Class::SyncWrite | Class::Background) => "write",
            Asked::Bio(Class::Flush) => "flush",
            Asked::Bio(Class::Other) => "discard",
        }
    }

    /// In the plural: `fsyncs`.
    pub fn plural(self) -> &'static str {
        match self {
            Asked::Operation(kind) => kind.plural(),
            Asked::Bio(Class::Read) => "reads",
            Asked::Bio(Class::SyncWrite) => "synchronous writes",
            Asked::Bio(Class::Background) => "writeback",
            Asked::Bio(Class::Flush) => "flushes",
            Asked::Bio(Class::Other) => "discards",
            Asked::Ahead => "read-ahead",
        }
    }

    /// With which requests it competes.
    pub fn class(self) -> Class {
        match self {
            Asked::Operation(kind) => kind.class(),
            Asked::Bio(class) => class,
            Asked::Ahead => Class::Read,
        }
    }

    /// Whether a task waits for it.
    pub fn is_foreground(self) -> bool {
        match self {
            Asked::Operation(kind) => kind.is_foreground(),
            Asked::Bio(class) => matches!(class, Class::Read | Class::SyncWrite | Class::Flush),
            Asked::Ahead => false,
        }
    }
}

/// Who waited: a row of the table belongs to one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Victim {
    /// The task's name.
    pub task: Box<str>,
    /// What it waited in.
    pub asked: Asked,
    /// On which kind of file system.
    #[serde(skip)]
    pub fs: Fs,
    /// On which device that lies; 0 where not known.
    pub dev: DevId,
}

impl Victim {
    /// Those of the same operation that are not told apart.
    pub fn others(&self) -> Victim {
        Victim { task: "others".into(), asked: self.asked, fs: Fs::Unknown, dev: DevId(0) }
    }

    /// Whether it is such.
    pub fn is_others(&self) -> bool {
        *self == self.others()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_of_blocks_is_called_by_its_class() {
        let called = Class::ALL.map(|class| Asked::Bio(class).plural());
        assert_eq!(called, ["reads", "synchronous writes", "writeback", "flushes", "discards"]);
        assert_eq!(Asked::Ahead.plural(), "read-ahead");
    }
}
