//! Holders: which task has requests in a device, for whom, and of what kind. Time behind others is split by holder.

use crate::bio::Bio;
use crate::op::{Class, Op};
use crate::owner::Owner;
use crate::request::Request;
use crate::task_name::TaskName;
use serde::Serialize;

/// Kind of I/O of a holder. Each kind of a task is a separate holder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Io {
    /// Reads, read-ahead included.
    #[default]
    Read,
    /// Writes that a task waits for (sync flag, FUA or preflush).
    SyncWrite,
    /// Writeback: writes without any of these flags, for which no task waits.
    BackgroundWrite,
    /// Flushes of the device's cache.
    Flush,
    /// Discards and passthrough commands.
    Discard,
    /// Blocks of a file system's journal or log.
    Journal,
}

impl Io {
    /// Number of kinds.
    pub const COUNT: usize = 6;

    /// The kind for a class; never [`Io::Journal`], which needs the owner.
    pub fn of(class: Class) -> Io {
        match class {
            Class::Read => Io::Read,
            Class::SyncWrite => Io::SyncWrite,
            Class::Background => Io::BackgroundWrite,
            Class::Flush => Io::Flush,
            Class::Other => Io::Discard,
        }
    }

    /// Its name in JSON, for example `sync-write`.
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

    /// Its name in text for people, in the plural: "reads", "writeback".
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

/// A holder of requests in a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Holding {
    /// The task that queued them; for flushes the owner.
    pub task: TaskName,
    /// The task whose data they move: the same as `task` unless another owner is known.
    pub owner: TaskName,
    /// Kind of I/O.
    pub io: Io,
}

impl Holding {
    /// The holder of a request.
    #[inline]
    pub fn of(r: &Request) -> Holding {
        Holding::new(r.task, r.owner, r.op, r.class())
    }

    /// The holder of a bio.
    pub fn of_bio(b: &Bio) -> Holding {
        Holding::new(b.task, b.owner, b.op, b.class())
    }

    #[inline]
    fn new(task: TaskName, owner: Option<Owner>, op: Op, class: Class) -> Holding {
        let journal = owner.is_some_and(|o| o.journal) && op == Op::Write;
        let io = if journal { Io::Journal } else { Io::of(class) };
        let owner = owner.map_or(task, |o| o.task);
        // The kernel's flush machinery issues a flush on behalf of the task that asked for it.
        let task = if op == Op::Flush { owner } else { task };
        Holding { task, owner, io }
    }
}
