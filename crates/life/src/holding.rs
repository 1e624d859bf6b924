//! Who has requests in a device: whose they are and what kind of I/O. By this the time behind others is told apart.

use crate::bio::Bio;
use crate::names::TaskName;
use crate::op::{Class, Op};
use crate::request::Request;
use serde::Serialize;

/// Kinds of I/O that count as separate holders of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Io {
    /// Reads, read-ahead included.
    #[default]
    Read,
    /// Writes that a task waits for.
    SyncWrite,
    /// Writeback: writes without the sync flag, for which no task waits.
    BackgroundWrite,
    /// Flushes of the device's cache.
    Flush,
    /// Discards, passthrough commands.
    Discard,
    /// A journal's or log's own blocks.
    Journal,
}

impl Io {
    /// How many kinds there are.
    pub const COUNT: usize = 6;

    /// Of a class of requests.
    pub fn of(class: Class) -> Io {
        match class {
            Class::Read => Io::Read,
            Class::SyncWrite => Io::SyncWrite,
            Class::Background => Io::BackgroundWrite,
            Class::Flush => Io::Flush,
            Class::Other => Io::Discard,
        }
    }

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Io::Read => "read",
            Io::SyncWrite => "sync-write",
            Io::BackgroundWrite => "background-write",
            Io::Flush => "flush",
            Io::Discard => "discard",
            Io::Journal => "journal",
        }
    }

    /// Its name wherever a human reads, in the plural.
    pub fn words(self) -> &'static str {
        match self {
            Io::Read => "reads",
            Io::SyncWrite => "writes",
            Io::BackgroundWrite => "writeback",
            Io::Flush => "flushes",
            Io::Discard => "discards",
            Io::Journal => "journal writes",
        }
    }
}

/// Whose data a task sends that is not its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner {
    /// Who wrote it, or changed what a journal commits.
    pub task: TaskName,
    /// Whether it is a journal's.
    pub journal: bool,
}

/// Who has requests in a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Holding {
    /// Who issued them.
    pub task: TaskName,
    /// Whose data they move: the issuer's own, unless another task is known.
    pub owner: TaskName,
    /// What kind of I/O.
    pub io: Io,
}

impl Holding {
    /// Of a request.
    #[inline]
    pub fn of(r: &Request) -> Holding {
        Holding::new(r.task, r.owner, r.op, r.class())
    }

    /// Of a bio.
    pub fn of_bio(b: &Bio) -> Holding {
        Holding::new(b.task, b.owner, b.op, b.class())
    }

    #[inline]
    fn new(task: TaskName, owner: Option<Owner>, op: Op, class: Class) -> Holding {
        let journal = owner.is_some_and(|o| o.journal) && op == Op::Write;
        let io = if journal { Io::Journal } else { Io::of(class) };
        let owner = owner.map_or(task, |o| o.task);
        // The kernel's flush machinery issues a flush for whoever asked.
        let task = if op == Op::Flush { owner } else { task };
        Holding { task, owner, io }
    }
}
