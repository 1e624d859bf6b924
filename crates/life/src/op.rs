//! Operations (what an I/O does to the device) and classes (whether a task waits for it).

use serde::Serialize;
use trace::{Action, Event, Flags};

/// Operation of a bio or request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Data from the device.
    #[default]
    Read,
    /// Data to the device.
    Write,
    /// Empties the device's volatile cache. It moves no bytes, which is why btt does not count it.
    Flush,
    /// Discard (TRIM, UNMAP).
    Discard,
    /// A command that did not come through the file system (`SG_IO`, nvme-cli, a driver's own).
    Passthrough,
}

impl Op {
    /// All operations, in the order of tables.
    pub const ALL: [Op; 5] = [Op::Read, Op::Write, Op::Flush, Op::Discard, Op::Passthrough];

    /// The operation of a block event. A write with a preflush counts as a write if it moves data, and as a flush if
    /// not.
    #[inline]
    pub fn of(event: &Event) -> Op {
        const NEITHER_READ_NOR_WRITE: u32 = Flags::PASSTHROUGH.0 | Flags::DISCARD.0 | Flags::FLUSH.0;
        let f = event.flags;
        if f.0 & NEITHER_READ_NOR_WRITE == 0 {
            // Indexed instead of branching, here and in `Class::of`: a processor cannot predict which it is.
            return [Op::Read, Op::Write][f.has(Flags::WRITE) as usize];
        }
        if f.has(Flags::PASSTHROUGH) {
            Op::Passthrough
        } else if f.has(Flags::DISCARD) {
            Op::Discard
        } else if f.has(Flags::FLUSH) && (event.bytes.0 == 0 || !f.has(Flags::WRITE)) {
            Op::Flush
        } else if f.has(Flags::WRITE) {
            Op::Write
        } else {
            Op::Read
        }
    }

    /// Its name in JSON and in tables, for example `read`.
    pub fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Flush => "flush",
            Op::Discard => "discard",
            Op::Passthrough => "passthrough",
        }
    }
}

/// The flags that give the kind of I/O, without those that give the step at which an event was recorded.
pub const KIND: Flags = Flags(
    Flags::READ.0
        | Flags::WRITE.0
        | Flags::FLUSH.0
        | Flags::SYNC.0
        | Flags::AHEAD.0
        | Flags::META.0
        | Flags::DISCARD.0
        | Flags::FUA.0
        | Flags::PASSTHROUGH.0,
);

/// The flags of `event` that give the kind of I/O.
pub fn kind(event: &Event) -> Flags {
    Flags(event.flags.0 & KIND.0)
}

/// Classes by which competing requests in a device are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Reads. A task waits for them, or soon will (read-ahead).
    Read,
    /// Writes that a task waits for (`op_is_sync` in include/linux/blk_types.h).
    SyncWrite,
    /// Writeback: no task waits for any single one of these writes.
    Background,
    /// Flushes.
    Flush,
    /// Discards and passthrough commands.
    Other,
}

impl Class {
    /// Number of classes.
    pub const COUNT: usize = 5;

    /// All classes, in the order of [`Class::index`].
    pub const ALL: [Class; Class::COUNT] =
        [Class::Read, Class::SyncWrite, Class::Background, Class::Flush, Class::Other];

    /// The class of an operation with these flags.
    #[inline]
    pub fn of(op: Op, flags: Flags) -> Class {
        const AWAITED: u32 = Flags::SYNC.0 | Flags::FUA.0 | Flags::FLUSH.0;
        /// Class for each operation, without and with a task that waits.
        const OF: [[Class; 2]; 5] = [
            [Class::Read, Class::Read],
            [Class::Background, Class::SyncWrite],
            [Class::Flush, Class::Flush],
            [Class::Other, Class::Other],
            [Class::Other, Class::Other],
        ];
        OF[op as usize][(flags.0 & AWAITED != 0) as usize]
    }

    /// Index into a [`crate::ByClass`]: 0 to 4.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }
}

/// Whether an event is a step of an I/O with an extent (not a plug, not a note).
pub fn has_extent(action: Action) -> bool {
    !action.is_note() && !matches!(action, Action::Plug | Action::Unplug | Action::UnplugImplicit)
}
