//! Operations: what a task asked for and waited for, from beginning to end.

use life::{Class, TaskName};
use serde::Serialize;
use trace::{Call, DevId, Fs, Nanos, Tid};

/// Kind of an operation: a system call, a page fault, asynchronous I/O or background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A system call, from `sys_enter` to `sys_exit`.
    Call(Call),
    /// A page fault that had to read. It begins when the task falls asleep, because the fault itself is not recorded.
    PageFault,
    /// A read through io_uring, from submission to completion.
    RingRead,
    /// A write through io_uring, from submission to completion.
    RingWrite,
    /// An fsync through io_uring, from submission to completion.
    RingSync,
    /// Any other operation through io_uring.
    RingOther,
    /// A read through libaio: from `io_submit`, or from the bio before it in the same call, until `io_getevents` returns it, or to its
    /// completion if no such call does. If a read takes several bios, each counts.
    AioRead,
    /// A write through libaio, measured like [`Kind::AioRead`].
    AioWrite,
    /// A commit of ext4's journal (jbd2), from `jbd2_start_commit` to `jbd2_end_commit`.
    JournalCommit,
    /// One file's turn in a flusher (`writeback_single_inode`).
    Writeback,
}

impl Kind {
    /// Whether one task can have several of them in flight at once.
    pub fn overlaps(self) -> bool {
        use Kind::*;
        matches!(self, RingRead | RingWrite | RingSync | RingOther | AioRead | AioWrite)
    }

    /// Each kind once, calls first.
    pub fn all() -> impl Iterator<Item = Kind> {
        use Kind::*;
        let others = [
            PageFault,
            RingRead,
            RingWrite,
            RingSync,
            RingOther,
            AioRead,
            AioWrite,
            JournalCommit,
            Writeback,
        ];
        trace::Call::ALL.into_iter().map(Kind::Call).chain(others)
    }

    /// Its name on the screen and in JSON, for example `io_uring read`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Call(call) => call.name(),
            Kind::PageFault => "page-fault",
            Kind::RingRead => "io_uring read",
            Kind::RingWrite => "io_uring write",
            Kind::RingSync => "io_uring fsync",
            Kind::RingOther => "io_uring",
            Kind::AioRead => "libaio read",
            Kind::AioWrite => "libaio write",
            Kind::JournalCommit => "journal-commit",
            Kind::Writeback => "writeback",
        }
    }

    /// The plural, as in "3 page faults".
    pub fn plural(self) -> &'static str {
        match self {
            Kind::Call(call) => match call {
                Call::Read => "reads",
                Call::Write => "writes",
                Call::Fsync => "fsyncs",
                Call::Fdatasync => "fdatasyncs",
                Call::Sync => "syncs",
                Call::Syncfs => "syncfs calls",
                Call::SyncFileRange => "sync_file_range calls",
                Call::Msync => "msyncs",
                Call::Open => "opens",
                Call::Close => "closes",
                Call::Unlink => "unlinks",
                Call::Rename => "renames",
                Call::Truncate => "truncates",
                Call::Fallocate => "fallocates",
                Call::Getdents => "directory reads",
                Call::Stat => "stats",
                Call::Mkdir => "mkdirs",
                Call::Link => "links",
                Call::Attributes => "attribute changes",
                Call::Sendfile => "sendfiles",
                Call::CopyFileRange => "copy_file_range calls",
                Call::IoSubmit => "io_submit calls",
                Call::IoGetevents => "io_getevents calls",
                Call::IoUringEnter => "io_uring_enter calls",
                Call::Dup
                | Call::Dup2
                | Call::Dup3
                | Call::Fcntl
                | Call::Ioctl
                | Call::CloseRange
                | Call::Exec
                | Call::Other => "other calls",
            },
            Kind::PageFault => "page faults",
            Kind::RingRead => "io_uring reads",
            Kind::RingWrite => "io_uring writes",
            Kind::RingSync => "io_uring fsyncs",
            Kind::RingOther => "io_uring operations",
            Kind::AioRead => "libaio reads",
            Kind::AioWrite => "libaio writes",
            Kind::JournalCommit => "journal commits",
            Kind::Writeback => "writebacks",
        }
    }

    /// The class of requests that it waits for in a device: reads of all kinds wait for reads, background writeback
    /// for writeback, everything else for synchronous writes.
    pub fn class(self) -> Class {
        match self {
            Kind::Call(Call::Read | Call::Open | Call::Getdents | Call::Stat)
            | Kind::PageFault
            | Kind::RingRead
            | Kind::AioRead => Class::Read,
            Kind::Writeback => Class::Background,
            _ => Class::SyncWrite,
        }
    }

    /// Whether an application waits for it. Commits and writeback run in the background; a task that waits for one has
    /// it in its own account. The calls of libaio and io_uring submit and collect operations, which are counted
    /// themselves.
    pub fn is_foreground(self) -> bool {
        let hands_over = Kind::Call(Call::IoSubmit) == self
            || Kind::Call(Call::IoGetevents) == self
            || Kind::Call(Call::IoUringEnter) == self;
        !hands_over && !matches!(self, Kind::JournalCommit | Kind::Writeback)
    }

    /// Whether its purpose is to move as many bytes as it was asked for.
    pub fn moves_data(self) -> bool {
        use Call::*;
        let by_ring = matches!(self, Kind::RingRead | Kind::RingWrite | Kind::AioRead | Kind::AioWrite);
        by_ring || matches!(self, Kind::Call(Read | Write | Sendfile | CopyFileRange))
    }

    /// Whether it copies from a file: what it waits for may be reads or writes.
    pub fn copies(self) -> bool {
        matches!(self, Kind::Call(Call::Sendfile | Call::CopyFileRange))
    }

    /// Whether it waits until data is on stable storage.
    pub fn makes_safe(self) -> bool {
        use Call::*;
        matches!(self, Kind::Call(Fsync | Fdatasync | Sync | Syncfs) | Kind::RingSync)
    }

    /// The kind for an `IORING_OP_*` (include/uapi/linux/io_uring.h).
    pub fn of_ring(opcode: u8) -> Kind {
        match opcode {
            1 | 4 | 22 => Kind::RingRead,
            2 | 5 | 23 => Kind::RingWrite,
            3 => Kind::RingSync,
            _ => Kind::RingOther,
        }
    }
}

/// An operation that has ended, or was in progress when the recording ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// What kind of operation it was.
    pub kind: Kind,
    /// The task that asked for it.
    pub tid: Tid,
    /// The process of the task; `None` if the recording neither saw it begin nor found it running.
    pub process: Option<Tid>,
    /// The task's name at that time (`comm`).
    #[serde(skip)]
    pub task: TaskName,
    /// Time of its first event; for a page fault, of the sleep.
    pub from: Nanos,
    /// Time of its end, not before `from`; if it did not end, the end of the recording.
    pub to: Nanos,
    /// If it had not ended when the recording did: how long its task slept without interruption. Otherwise `None`.
    #[serde(skip)]
    pub still_out: Option<Nanos>,
    /// Whether it began before the recording. Then `from` is the recording's beginning, and the operation took longer.
    #[serde(skip)]
    pub begun_before: bool,
    /// The file descriptor, if the call has one.
    pub fd: Option<i32>,
    /// The kind of file system that its file is on.
    #[serde(skip)]
    pub fs: Fs,
    /// The file system's device; 0 if not known.
    pub dev: DevId,
    /// Inode number of the file; 0 if not known.
    pub inode: u64,
    /// Whether its descriptor had a path when recording began and has been open since. Then the path is that of this
    /// very file, not of another file that had the same inode number.
    #[serde(skip)]
    pub told: bool,
    /// Return value: bytes, a descriptor, or a negative errno.
    pub result: i64,
    /// Whether any event shows that it was about storage: a file system's event, a bio, an uninterruptible sleep.
    /// Reads of pipes and sockets have none of these.
    pub is_storage: bool,
}

impl Operation {
    /// Whether its result is a number of bytes.
    pub fn moves_bytes(&self) -> bool {
        use Call::*;
        let moving = matches!(self.kind, Kind::Call(Read | Write | Sendfile | CopyFileRange));
        moving || matches!(self.kind, Kind::RingRead | Kind::RingWrite | Kind::AioRead | Kind::AioWrite)
    }

    /// An operation of which only the task and the time are known.
    pub(crate) fn of(kind: Kind, tid: Tid, task: TaskName, from: Nanos, to: Nanos) -> Operation {
        let (fs, dev) = (Fs::Unknown, DevId(0));
        let to = to.max(from);
        Operation {
            kind,
            tid,
            process: None,
            task,
            from,
            to,
            still_out: None,
            begun_before: false,
            fd: None,
            fs,
            dev,
            inode: 0,
            told: false,
            result: 0,
            is_storage: true,
        }
    }

    /// `to - from`, not negative.
    pub fn total(&self) -> Nanos {
        self.to.since(self.from)
    }
}
