//! The victims: tasks whose waiting time is accounted for.

use life::Class;
use operation::Kind;
use serde::Serialize;
use trace::{DevId, Fs};

/// The number of a victim in its table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VictimId(pub u32);

/// The kind of operation or I/O in which a victim waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum Asked {
    /// An operation: a system call, a page fault and the like.
    Operation(Kind),
    /// A bio, if only the block layer was recorded.
    Bio(Class),
    /// A bio of read-ahead that no task waits for yet.
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

    /// Its plural. Example: `fsyncs`.
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

    /// The class of the requests with which it competes.
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

/// A victim: a task with one kind of operation on one device. Each row of the table belongs to a victim.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Victim {
    /// The task's name. Example: `postgres`.
    pub task: Box<str>,
    /// The kind of operation or I/O.
    pub asked: Asked,
    /// The kind of file system; `Unknown` for bios.
    #[serde(skip)]
    pub fs: Fs,
    /// The device of the file system; 0 if unknown.
    pub dev: DevId,
}

impl Victim {
    /// Stands for all victims with the same kind of operation that are not distinguished.
    pub fn others(&self) -> Victim {
        Victim { task: "others".into(), asked: self.asked, fs: Fs::Unknown, dev: DevId(0) }
    }

    /// Whether it stands for victims that are not distinguished.
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
