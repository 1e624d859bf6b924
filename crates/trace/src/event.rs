//! One event of the block layer, from any recorder.
//!
//! Every format becomes a stream of [`Event`]s in time order, carried in [`Batch`]es. An event is small and
//! `Copy`; texts (task names, kernel messages, driver data) lie in the batch beside it and are reached
//! through [`Batch::text`]. Letters and categories are blktrace's own (include/uapi/linux/blktrace_api.h).

use crate::task_event::TaskEvent;
use units::{Bytes, Cpu, DevId, Nanos, Sector, Tid};

/// What happened. The letter blkparse prints is in [`Action::letters`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// `Q`: a bio entered the block layer.
    Queue,
    /// `M`: a bio (or a whole request) was joined to the end of a request.
    BackMerge,
    /// `F`: a bio was joined to the front of a request.
    FrontMerge,
    /// `G`: a request (a tag) was got for a bio.
    Get,
    /// `S`: the task sleeps until a request is free (gone since Linux 5.12).
    SleepForRequest,
    /// `R`: the driver gave an issued request back.
    Requeue,
    /// `D`: the driver was given the request.
    Issue,
    /// `C`: a request, or a bio of a bio-based device, was completed in part or whole.
    Complete,
    /// `P`: the task starts to hold its requests back to send them together.
    Plug,
    /// `U`: the task unplugs: it sends what it collected.
    Unplug,
    /// `UT`: the same, because the task was about to sleep (the manuals still call it a timer).
    UnplugImplicit,
    /// `I`: the request entered the I/O scheduler.
    Insert,
    /// `X`: a bio was cut in two; [`Detail::Split`] is the second part's start.
    Split,
    /// `B`: the data was copied to a bounce buffer.
    Bounce,
    /// `A`: the bio was mapped to another device; [`Detail::Remap`] says from where.
    Remap,
    /// The request was aborted.
    Abort,
    /// Data that only the driver understands.
    DriverData,
    /// A zone's write plug starts to hold writes back (version 8).
    ZonePlug,
    /// A zone's write plug lets them go (version 8).
    ZoneUnplug,
    /// A zone management command was issued (version 8).
    ZoneManage,
    /// Note: `tid` is called what [`Batch::text`] says, from now on.
    TaskName,
    /// Note: the wall clock, [`Detail::Wall`], at `time`.
    WallClock,
    /// `m`: a message from the kernel, the text in [`Batch::text`].
    Message,
    /// Not in any file: the reader saw that [`Detail::Lost`] events are missing before this one on this CPU.
    Lost,
    /// A code this program does not know (from a newer kernel); it is counted and printed.
    Other(u16),
}

impl Action {
    /// What blkparse prints in the action column (`%a`).
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

    /// A small number for tables: below [`Action::KINDS`]; all unknown actions share one.
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

    /// How many numbers [`Action::index`] gives.
    pub const KINDS: usize = 25;

    /// Whether the record is a note about the trace and not a step in the life of an I/O.
    pub fn is_note(self) -> bool {
        matches!(self, Action::TaskName | Action::WallClock | Action::Message | Action::Lost)
    }
}

/// What kind of I/O it was: the category bits of a blktrace action (`BLK_TC_*`), shifted down. Bits from 16 on
/// exist in version 8 only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Flags(pub u32);

impl Flags {
    /// Reads.
    pub const READ: Flags = Flags(1 << 0);
    /// Writes (discards too).
    pub const WRITE: Flags = Flags(1 << 1);
    /// The device's cache is to be emptied first (`REQ_PREFLUSH`), or the request is such a flush.
    pub const FLUSH: Flags = Flags(1 << 2);
    /// A task waits for it.
    pub const SYNC: Flags = Flags(1 << 3);
    /// Category "queueing".
    pub const QUEUE: Flags = Flags(1 << 4);
    /// Category "requeueing".
    pub const REQUEUE: Flags = Flags(1 << 5);
    /// Category "issue".
    pub const ISSUE: Flags = Flags(1 << 6);
    /// Category "completion".
    pub const COMPLETE: Flags = Flags(1 << 7);
    /// From a file system (set for everything that is not passthrough).
    pub const FS: Flags = Flags(1 << 8);
    /// A command passed through from user space or a driver (`SG_IO`, nvme-cli).
    pub const PASSTHROUGH: Flags = Flags(1 << 9);
    /// A note.
    pub const NOTE: Flags = Flags(1 << 10);
    /// Read-ahead: no task asked for it yet.
    pub const AHEAD: Flags = Flags(1 << 11);
    /// File system metadata.
    pub const META: Flags = Flags(1 << 12);
    /// Discard (TRIM).
    pub const DISCARD: Flags = Flags(1 << 13);
    /// Driver data follows.
    pub const DRIVER_DATA: Flags = Flags(1 << 14);
    /// The data must be on the medium before completion (`REQ_FUA`).
    pub const FUA: Flags = Flags(1 << 15);
    /// Zone append: written where the zone's write pointer stands.
    pub const ZONE_APPEND: Flags = Flags(1 << 16);
    /// Zone reset.
    pub const ZONE_RESET: Flags = Flags(1 << 17);
    /// Reset of all zones.
    pub const ZONE_RESET_ALL: Flags = Flags(1 << 18);
    /// Zone finish.
    pub const ZONE_FINISH: Flags = Flags(1 << 19);
    /// Zone open.
    pub const ZONE_OPEN: Flags = Flags(1 << 20);
    /// Zone close.
    pub const ZONE_CLOSE: Flags = Flags(1 << 21);

    /// Whether all bits of `other` are set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    pub fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// `self` without the bits of `other`.
    pub fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
}

/// The part of an event that only some actions have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Nothing more.
    #[default]
    None,
    /// `X`: where the second part starts.
    Split(Sector),
    /// `U`, `UT`: how many requests were sent.
    Requests(u64),
    /// `A`: the device and sector it came from.
    Remap {
        /// The upper device.
        dev: DevId,
        /// Where on it.
        sector: Sector,
    },
    /// Note: seconds and nanoseconds since 1970.
    Wall {
        /// Seconds.
        seconds: u32,
        /// Nanoseconds within the second.
        nanos: u32,
    },
    /// Reader's note: how many events are missing.
    Lost(u64),
    /// Bytes in the batch: a name, a message, driver data, a passthrough command.
    Text(Span),
}

/// Where in a batch's texts something lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// How many.
    pub len: u32,
}

/// One event. Fields that an action does not use are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, on the trace's own clock (never adjusted).
    pub time: Nanos,
    /// Where on the device.
    pub sector: Sector,
    /// The size in bytes.
    pub bytes: Bytes,
    /// The cgroup that was tagged on, or 0.
    pub cgroup: u64,
    /// The device.
    pub dev: DevId,
    /// The task that was running. At completion that is the interrupted task.
    pub tid: Tid,
    /// The processor, as the record says.
    pub cpu: Cpu,
    /// The record's number on its CPU and device; 0 where the format has none.
    pub sequence: u32,
    /// 0, or the error of a completion. blktrace keeps 16 bits of it.
    pub error: u16,
    /// Kind of I/O.
    pub flags: Flags,
    /// What happened.
    pub action: Action,
    /// What only this action has.
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

/// A run of events in time order with the texts they refer to.
///
/// Batches are reused: a reader clears and fills the one it is handed, so a trace of any length needs the
/// memory of a few batches.
#[derive(Debug, Default)]
pub struct Batch {
    /// The events.
    pub events: Vec<Event>,
    /// What tasks did beside them; each says after how many of `events` it stands.
    pub tasks: Vec<TaskEvent>,
    text: Vec<u8>,
    /// How many events it takes if that is more than [`Batch::EVENTS`].
    most: usize,
}

impl Batch {
    /// How many events a reader puts into a batch. Large enough that handing a batch to another thread costs
    /// nothing beside its events, small enough (350 KB) that a short recording is in several.
    pub const EVENTS: usize = 4096;

    /// How many events of tasks. Whoever takes them in does more for each: with four times as many, recordings of some seconds took up to a tenth
    /// longer.
    const TASKS: usize = 1024;

    /// How many of a long recording. What is written to a batch that another processor has just read waits for that one's cache; of this size
    /// (1.4 MB) most of it has left that cache meanwhile (a sixth less time for 3 million events; twice as many gain nothing more).
    const MOST_EVENTS: usize = 4 * Batch::EVENTS;

    /// Lets it take an eighth of what was read so far, within bounds.
    pub fn grow(&mut self, so_far: u64) {
        self.most = usize::try_from(so_far / 8).unwrap_or(usize::MAX).min(Self::MOST_EVENTS);
    }

    /// Forgets all events and texts, keeps the memory.
    pub fn clear(&mut self) {
        self.events.clear();
        self.tasks.clear();
        self.text.clear();
    }

    /// How many bytes of text: 256 for each event. The kernel's messages are of 128 bytes at most
    /// (`BLK_TN_MAX_MSG`), but a record has room for 65535.
    pub const TEXT: usize = 1 << 20;

    /// Whether the reader should stop filling.
    pub fn is_full(&self) -> bool {
        self.events.len() >= self.most.max(Self::EVENTS)
            || self.tasks.len() >= Self::TASKS
            || self.text.len() >= Self::TEXT
    }

    /// Whether it brings nothing.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.tasks.is_empty()
    }

    /// Stores a text for an event of this batch.
    pub fn store(&mut self, text: &[u8]) -> Detail {
        let start = self.text.len() as u32;
        self.text.extend_from_slice(text);
        Detail::Text(Span { start, len: text.len() as u32 })
    }

    /// The text that belongs to an event of this batch; empty if it has none.
    pub fn text(&self, event: &Event) -> &[u8] {
        match event.detail {
            Detail::Text(s) => self.at(s),
            _ => &[],
        }
    }

    /// The text at a place of this batch.
    pub fn at(&self, s: Span) -> &[u8] {
        self.text.get(s.start as usize..(s.start + s.len) as usize).unwrap_or_default()
    }
}
