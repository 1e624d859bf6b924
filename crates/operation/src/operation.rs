//! An operation: what a task asked for and waited for, from beginning to end.

use life::{Class, TaskName};
use serde::Serialize;
use trace::{Call, DevId, Fs, Nanos, Tid};

/// System calls by number, and what no call is: page faults, asynchronous I/O, background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// From `sys_enter` to `sys_exit`.
    Call(Call),
    /// A page fault that had to read. It begins where the task fell asleep: the fault itself is not recorded.
    PageFault,
    /// A read through io_uring, from submission to completion.
    RingRead,
    /// The same of a write.
    RingWrite,
    /// The same of an fsync.
    RingSync,
    /// Anything else through io_uring.
    RingOther,
    /// A read through libaio: from `io_submit`, or from the one before it in the same call, to its
    /// completion. Of a read that takes several bios each counts.
    AioRead,
    /// The same of a write.
    AioWrite,
    /// A commit of ext4's journal (jbd2), from `jbd2_start_commit` to `jbd2_end_commit`.
    JournalCommit,
    /// A flusher's turn with one file (`writeback_single_inode`).
    Writeback,
}

impl Kind {
    /// Whether one task has several of them in flight at once.
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

    /// Its name on the screen and in JSON.
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

    /// With which requests it competes in a device: reads of all kinds wait for reads, the rest for
    /// synchronous writes.
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

    /// Whether an application waits for it. Commits and write-back go on behind its back; a task that waits for
    /// one has it in its own ledger. The calls of libaio and io_uring hand over and collect operations, which
    /// are counted themselves.
    pub fn is_foreground(self) -> bool {
        let hands_over = Kind::Call(Call::IoSubmit) == self
            || Kind::Call(Call::IoGetevents) == self
            || Kind::Call(Call::IoUringEnter) == self;
        !hands_over && !matches!(self, Kind::JournalCommit | Kind::Writeback)
    }

    /// Whether it is there to move data, as much as it was asked for.
    pub fn moves_data(self) -> bool {
        use Call::*;
        let by_ring = matches!(self, Kind::RingRead | Kind::RingWrite | Kind::AioRead | Kind::AioWrite);
        by_ring || matches!(self, Kind::Call(Read | Write | Sendfile | CopyFileRange))
    }

    /// Whether it waits until data is safe.
    pub fn makes_safe(self) -> bool {
        use Call::*;
        matches!(self, Kind::Call(Fsync | Fdatasync | Sync | Syncfs) | Kind::RingSync)
    }

    /// By `IORING_OP_*` (include/uapi/linux/io_uring.h).
    pub fn of_ring(opcode: u8) -> Kind {
        match opcode {
            1 | 4 | 22 => Kind::RingRead,
            2 | 5 | 23 => Kind::RingWrite,
            3 => Kind::RingSync,
            _ => Kind::RingOther,
        }
    }
}

/// An operation, over or still going on when the recording ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// The call, or what else it was.
    pub kind: Kind,
    /// The task that asked for it.
    pub tid: Tid,
    /// The process that the task is a thread of, where the recording saw it begin or found it there.
    pub process: Option<Tid>,
    /// The task's name then (`comm`).
    #[serde(skip)]
    pub task: TaskName,
    /// Time of its first event; of a page fault of the sleep.
    pub from: Nanos,
    /// Not before `from`; of one that went on, the end of the recording.
    pub to: Nanos,
    /// Of one that had not ended when the recording did: for how long its task has slept in one piece.
    #[serde(skip)]
    pub still_out: Option<Nanos>,
    /// Whether it had begun before the recording did: then `from` is the beginning of that, and it took longer.
    #[serde(skip)]
    pub begun_before: bool,
    /// The file descriptor, where the call has one.
    pub fd: Option<i32>,
    /// The file system of its file.
    #[serde(skip)]
    pub fs: Fs,
    /// The file system's device; 0 where it is not known.
    pub dev: DevId,
    /// The file; 0 where it is not known.
    pub inode: u64,
    /// Whether its descriptor is one that had a path when recording began, and has been open ever since: then
    /// it is that very file, not only one of its number.
    #[serde(skip)]
    pub told: bool,
    /// As returned: bytes, a descriptor, or a negative errno.
    pub result: i64,
    /// Whether anything says that it was about storage: a file system's event, a bio, an uninterruptible
    /// sleep. Reads of pipes and sockets have none of these.
    pub is_storage: bool,
}

impl Operation {
    /// Whether its result is a number of bytes.
    pub fn moves_bytes(&self) -> bool {
        use Call::*;
        let moving = matches!(self.kind, Kind::Call(Read | Write | Sendfile | CopyFileRange));
        moving || matches!(self.kind, Kind::RingRead | Kind::RingWrite | Kind::AioRead | Kind::AioWrite)
    }

    /// One of which no more is known than whose it was and when.
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

    /// `to - from`.
    pub fn total(&self) -> Nanos {
        self.to.since(self.from)
    }
}
