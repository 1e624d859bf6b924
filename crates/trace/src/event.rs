//! One event of the block layer, in a form common to all recorders.
//!
//! Every format becomes a stream of [`Event`]s in time order, carried in [`Batch`]es. An event is small and
//! `Copy`; its texts (task names, kernel messages, driver data) are stored in the batch and read
//! through [`Batch::text`]. Letters and categories are those of blktrace (include/uapi/linux/blktrace_api.h).

use crate::span::Span;
use crate::task_event::TaskEvent;
use units::{Bytes, Cpu, DevId, Nanos, Sector, Tid};

/// The kind of step. [`Action::letters`] gives the letter that blkparse prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// `Q`: a bio entered the block layer.
    Queue,
    /// `M`: a bio (or a whole request) was merged at the end of a request.
    BackMerge,
    /// `F`: a bio was merged at the front of a request.
    FrontMerge,
    /// `G`: a request (a tag) was allocated for a bio.
    Get,
    /// `S`: the task sleeps until a request is free (removed in Linux 5.12).
    SleepForRequest,
    /// `R`: an issued request was requeued by the driver.
    Requeue,
    /// `D`: the request was issued to the driver.
    Issue,
    /// `C`: a request, or a bio of a bio-based device, was completed, partly or fully.
    Complete,
    /// `P`: the task starts to plug: it holds back its requests to send them together.
    Plug,
    /// `U`: the task unplugs: it sends the requests that it held back.
    Unplug,
    /// `UT`: as `U`, because the task was about to sleep (the manuals still call it a timer).
    UnplugImplicit,
    /// `I`: the request entered the I/O scheduler.
    Insert,
    /// `X`: a bio was split in two; [`Detail::Split`] is the start of the second part.
    Split,
    /// `B`: the data was copied to a bounce buffer.
    Bounce,
    /// `A`: the bio was remapped to another device; [`Detail::Remap`] holds the original device and sector.
    Remap,
    /// The request was aborted (`ABORT`).
    Abort,
    /// Data that only the driver can interpret (`drv`).
    DriverData,
    /// `ZP`: a zone's write plug starts to hold back writes (version 8).
    ZonePlug,
    /// `ZU`: a zone's write plug releases the writes (version 8).
    ZoneUnplug,
    /// `ZM`: a zone management command was issued (version 8).
    ZoneManage,
    /// Note: from here on `tid` has the name in [`Batch::text`].
    TaskName,
    /// Note: the wall clock at `time` was [`Detail::Wall`].
    WallClock,
    /// `m`: a message from the kernel; its text is in [`Batch::text`].
    Message,
    /// Added by the reader: [`Detail::Lost`] events are missing before this one on this CPU.
    Lost,
    /// An action code that this program does not know (from a newer kernel); it is counted and printed.
    Other(u16),
}

impl Action {
    /// The text that blkparse prints in the action column (`%a`); `?` if it has none.
    pub fn letters(self) -> &'static str {
        match self {
            Action::Queue => "Q",
            Action::BackMerge => "M",
            Action::FrontMerge => "F",
            Action::Get => "G",
            Action::SleepForRequest => "S",
            Action::Requeue => "R",
            Action::Issue => "D",
            Action::Complete => "C",
            Action::Plug => "P",
            Action::Unplug => "U",
            Action::UnplugImplicit => "UT",
            Action::Insert => "I",
            Action::Split => "X",
            Action::Bounce => "B",
            Action::Remap => "A",
            Action::Abort => "ABORT",
            Action::DriverData => "drv",
            Action::ZonePlug => "ZP",
            Action::ZoneUnplug => "ZU",
            Action::ZoneManage => "ZM",
            Action::Message => "m",
            Action::TaskName | Action::WallClock | Action::Lost | Action::Other(_) => "?",
        }
    }

    /// An index for tables, below [`Action::KINDS`]; all unknown actions share one.
    pub fn index(self) -> usize {
        match self {
            Action::Queue => 0,
            Action::BackMerge => 1,
            Action::FrontMerge => 2,
            Action::Get => 3,
            Action::SleepForRequest => 4,
            Action::Requeue => 5,
            Action::Issue => 6,
            Action::Complete => 7,
            Action::Plug => 8,
            Action::Unplug => 9,
            Action::UnplugImplicit => 10,
            Action::Insert => 11,
            Action::Split => 12,
            Action::Bounce => 13,
            Action::Remap => 14,
            Action::Abort => 15,
            Action::DriverData => 16,
            Action::ZonePlug => 17,
            Action::ZoneUnplug => 18,
            Action::ZoneManage => 19,
            Action::TaskName => 20,
            Action::WallClock => 21,
            Action::Message => 22,
            Action::Lost => 23,
            Action::Other(_) => 24,
        }
    }

    /// Number of different values of [`Action::index`].
    pub const KINDS: usize = 25;

    /// Whether the record is a note about the trace instead of a step in the life of an I/O.
    pub fn is_note(self) -> bool {
        matches!(self, Action::TaskName | Action::WallClock | Action::Message | Action::Lost)
    }
}

/// The kind of I/O: the category bits of a blktrace action (`BLK_TC_*`), shifted down by 16. Bits from 16 on
/// exist in version 8 only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Flags(pub u32);

impl Flags {
    /// A read.
    pub const READ: Flags = Flags(1 << 0);
    /// A write or a discard.
    pub const WRITE: Flags = Flags(1 << 1);
    /// The device's cache is flushed first (`REQ_PREFLUSH`), or the request is itself such a flush.
    pub const FLUSH: Flags = Flags(1 << 2);
    /// A task waits for this I/O.
    pub const SYNC: Flags = Flags(1 << 3);
    /// Category "queueing": the step belongs to queueing.
    pub const QUEUE: Flags = Flags(1 << 4);
    /// Category "requeueing": the request goes back from the driver.
    pub const REQUEUE: Flags = Flags(1 << 5);
    /// Category "issue": the request goes to the driver.
    pub const ISSUE: Flags = Flags(1 << 6);
    /// Category "completion": the I/O ends.
    pub const COMPLETE: Flags = Flags(1 << 7);
    /// From a file system (set for everything that is not passthrough).
    pub const FS: Flags = Flags(1 << 8);
    /// A command passed through from user space or a driver (`SG_IO`, nvme-cli).
    pub const PASSTHROUGH: Flags = Flags(1 << 9);
    /// The record is a note (of a name, the wall clock, a message).
    pub const NOTE: Flags = Flags(1 << 10);
    /// Read-ahead: no task has asked for the data yet.
    pub const AHEAD: Flags = Flags(1 << 11);
    /// File system metadata.
    pub const META: Flags = Flags(1 << 12);
    /// Discard (TRIM).
    pub const DISCARD: Flags = Flags(1 << 13);
    /// The payload is driver data.
    pub const DRIVER_DATA: Flags = Flags(1 << 14);
    /// The data must be on the medium before completion (`REQ_FUA`).
    pub const FUA: Flags = Flags(1 << 15);
    /// Zone append: the data is written at the zone's write pointer.
    pub const ZONE_APPEND: Flags = Flags(1 << 16);
    /// Reset of one zone.
    pub const ZONE_RESET: Flags = Flags(1 << 17);
    /// Reset of all zones of the device.
    pub const ZONE_RESET_ALL: Flags = Flags(1 << 18);
    /// Zone finish: the zone becomes full.
    pub const ZONE_FINISH: Flags = Flags(1 << 19);
    /// Explicit open of a zone.
    pub const ZONE_OPEN: Flags = Flags(1 << 20);
    /// Close of a zone.
    pub const ZONE_CLOSE: Flags = Flags(1 << 21);

    /// Whether all bits of `other` are set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// All bits that are set in either.
    pub fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// `self` without the bits of `other`.
    pub fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
}

/// Data that only some actions have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// The action has no further data.
    #[default]
    None,
    /// `X`: the first sector of the second part.
    Split(Sector),
    /// `U`, `UT`: number of requests that were sent.
    Requests(u64),
    /// `A`: the device and sector before remapping.
    Remap {
        /// The upper device.
        dev: DevId,
        /// The first sector on that device.
        sector: Sector,
    },
    /// `WallClock`: time since 1970.
    Wall {
        /// Whole seconds since 1970.
        seconds: u32,
        /// Nanoseconds within the second.
        nanos: u32,
    },
    /// Number of events missing before this one.
    Lost(u64),
    /// Bytes stored in the batch: a name, a message, driver data, a passthrough command.
    Text(Span),
}

/// One event. Fields that an action does not use are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Timestamp on the trace's own clock, never adjusted.
    pub time: Nanos,
    /// First sector on the device, in units of 512 bytes.
    pub sector: Sector,
    /// Size of the I/O in bytes.
    pub bytes: Bytes,
    /// The id of the cgroup attached to the record, or 0 if there is none.
    pub cgroup: u64,
    /// The device that the event happened on.
    pub dev: DevId,
    /// The task that was running. For a completion, this is the interrupted task.
    pub tid: Tid,
    /// The processor that recorded it, as the record says.
    pub cpu: Cpu,
    /// The record's number on its CPU and device; 0 if the format has none.
    pub sequence: u32,
    /// The error of a completion, or 0. blktrace keeps 16 bits of it.
    pub error: u16,
    /// The kind of I/O.
    pub flags: Flags,
    /// The kind of step.
    pub action: Action,
    /// Data that only this action has.
    pub detail: Detail,
}

impl Default for Event {
    fn default() -> Event {
        Event {
            time: Nanos(0),
            sector: Sector(0),
            bytes: Bytes(0),
            cgroup: 0,
            dev: DevId(0),
            tid: Tid(0),
            cpu: Cpu(0),
            sequence: 0,
            error: 0,
            flags: Flags(0),
            action: Action::Other(0),
            detail: Detail::None,
        }
    }
}

/// Consecutive events in time order, with the texts that they refer to.
///
/// Batches are reused: a reader clears and fills the batch that it is given, so a trace of any length needs the
/// memory of a few batches.
#[derive(Debug, Default)]
pub struct Batch {
    /// Block events and notes.
    pub events: Vec<Event>,
    /// What tasks did between these events; [`TaskEvent::after`] gives the position.
    pub tasks: Vec<TaskEvent>,
    text: Vec<u8>,
    /// Limit on events, raised by [`Batch::grow`]; used if above [`Batch::EVENTS`].
    most: usize,
}

impl Batch {
    /// Events that a reader puts into a batch. Large enough that passing a batch to another thread costs little
    /// per event, small enough (350 KB) that a short recording fills several.
    pub const EVENTS: usize = 4096;

    /// Task events per batch. Each costs its consumer more than a block event: with four times as many, recordings of some seconds took up to
    /// 1/10 longer.
    const TASKS: usize = 1024;

    /// Events per batch in a long recording. Writing to a batch that another processor has just read waits for that processor's cache; at this
    /// size (1.4 MB) most of the batch has left that cache (1/6 less time for 3 million events; twice the size gains nothing more).
    const MOST_EVENTS: usize = 4 * Batch::EVENTS;

    /// Raises the limit to 1/8 of the events read so far, within bounds (`MOST_EVENTS`).
    pub fn grow(&mut self, so_far: u64) {
        self.most = usize::try_from(so_far / 8).unwrap_or(usize::MAX).min(Self::MOST_EVENTS);
    }

    /// Removes all events and texts but keeps the memory.
    pub fn clear(&mut self) {
        self.events.clear();
        self.tasks.clear();
        self.text.clear();
    }

    /// Bytes of text at which a batch is full: 256 per event. The kernel's messages have at most 128 bytes
    /// (`BLK_TN_MAX_MSG`), but a record has room for 65535.
    pub const TEXT: usize = 1 << 20;

    /// Whether the reader should stop filling it.
    pub fn is_full(&self) -> bool {
        self.events.len() >= self.most.max(Self::EVENTS)
            || self.tasks.len() >= Self::TASKS
            || self.text.len() >= Self::TEXT
    }

    /// Whether it has no events of either kind (texts do not count).
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.tasks.is_empty()
    }

    /// Stores a text for an event of this batch.
    pub fn store(&mut self, text: &[u8]) -> Detail {
        let start = self.text.len() as u32;
        self.text.extend_from_slice(text);
        Detail::Text(Span { start, len: text.len() as u32 })
    }

    /// The text of an event of this batch; empty if the event has none.
    pub fn text(&self, event: &Event) -> &[u8] {
        match event.detail {
            Detail::Text(s) => self.at(s),
            _ => &[],
        }
    }

    /// The bytes at a span of this batch; empty if out of range.
    pub fn at(&self, s: Span) -> &[u8] {
        self.text.get(s.start as usize..(s.start + s.len) as usize).unwrap_or_default()
    }
}
