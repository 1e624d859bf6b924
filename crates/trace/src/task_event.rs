//! One thing that a task did, or that was done to it, outside the block layer.
//!
//! They travel in the same [`Batch`](crate::Batch) as block events, each with its place between them, so that both
//! are seen in order of time. Formats that know block events only (blktrace, blkparse) bring none.

use crate::event::Span;
use crate::syscall::Call;
use units::{Bytes, Cpu, DevId, Nanos, Tid};

/// What the processor was doing when an event was recorded (`common_flags`; include/linux/trace_events.h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context(pub u8);

impl Context {
    /// In a hardware interrupt (`TRACE_FLAG_HARDIRQ`).
    pub const HARD: u8 = 8;
    /// In a software interrupt (`TRACE_FLAG_SOFTIRQ`), `ksoftirqd` too.
    pub const SOFT: u8 = 16;

    /// Whether the task that ran is only the one that was interrupted.
    pub fn is_interrupt(self) -> bool {
        self.0 & (Self::HARD | Self::SOFT) != 0
    }
}

/// Why a task left the processor, from `prev_state` of `sched_switch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// It could have gone on: another took the processor.
    Preempted,
    /// It sleeps and a signal would wake it (`TASK_INTERRUPTIBLE`): waiting for input, a timer, another task.
    Interruptible,
    /// It sleeps and nothing but what it waits for wakes it (`TASK_UNINTERRUPTIBLE`): most I/O.
    Uninterruptible,
    /// A kernel thread that waits for work (`TASK_IDLE`; told apart since Linux 4.14).
    Idle,
    /// Stopped, traced, parked, dead.
    Stopped,
}

/// Numbers a kernel function, a stack or a control group's path within one recording; [`What::Text`] says what it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextId(pub u32);

/// A file system, by the group its events are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fs {
    /// Not known.
    #[default]
    Unknown,
    /// XFS.
    Xfs,
    /// ext4 (and ext2, ext3 through it).
    Ext4,
    /// btrfs.
    Btrfs,
    /// F2FS.
    F2fs,
    /// A block device opened as a file.
    Block,
}

impl Fs {
    /// Its name as `mount` has it.
    pub fn name(self) -> &'static str {
        match self {
            Fs::Unknown => "unknown",
            Fs::Xfs => "xfs",
            Fs::Ext4 => "ext4",
            Fs::Btrfs => "btrfs",
            Fs::F2fs => "f2fs",
            Fs::Block => "block device",
        }
    }

    /// By the name that `mount` has.
    pub fn by_name(name: &str) -> Fs {
        match name {
            "xfs" => Fs::Xfs,
            "ext4" | "ext3" | "ext2" => Fs::Ext4,
            "btrfs" => Fs::Btrfs,
            "f2fs" => Fs::F2fs,
            _ => Fs::Unknown,
        }
    }
}

/// The phases of a jbd2 commit (fs/jbd2/commit.c, in this order).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CommitPhase {
    /// `jbd2_start_commit`.
    Start,
    /// `jbd2_commit_locking`: waits until those who still change the transaction are done.
    Locking,
    /// `jbd2_commit_flushing`: other files' data first (data=ordered).
    Flushing,
    /// `jbd2_commit_logging`: the blocks, then the commit record.
    Logging,
    /// `jbd2_end_commit`.
    End,
}

impl CommitPhase {
    /// Its name: that of its event without `jbd2_commit_`.
    pub fn name(self) -> &'static str {
        match self {
            CommitPhase::Start => "start",
            CommitPhase::Locking => "locking",
            CommitPhase::Flushing => "flushing",
            CommitPhase::Logging => "logging",
            CommitPhase::End => "end",
        }
    }
}

/// What happens to the software interrupt that completes requests (block/blk-mq.c, `blk_done_softirq`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completions {
    /// There is something to complete.
    Wanted,
    /// It begins.
    Begin,
    /// It is over.
    End,
}

/// Events of a file system that end a task's I/O (fs/iomap/direct-io.c, fs/xfs/xfs_file.c, fs/xfs/xfs_aops.c): whoever completes it
/// has them, an interrupt or the server of a FUSE disk, and is in no call about that file.
const OF_COMPLETIONS: [&str; 3] = ["iomap_dio_complete", "xfs_end_io_direct_write", "xfs_setfilesize"];

/// Whether an event of this name says nothing of what its task does.
pub(crate) fn is_of_completion(name: &str) -> bool {
    OF_COMPLETIONS.contains(&name)
}

/// The flags of an `open` that no argument has.
pub const NO_FLAGS: u64 = u64::MAX;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A system call begins.
    Enter {
        /// Which.
        call: Call,
        /// Its first four arguments. Of `open` and its kin the last one is the flags, whichever it is there;
        /// [`NO_FLAGS`] where no argument has them.
        args: [u64; 4],
    },
    /// It ends.
    Exit {
        /// Which.
        call: Call,
        /// What it returned: a count, or minus an errno.
        result: i64,
    },
    /// The processor goes from the event's task to another.
    Switch {
        /// Why the event's task left.
        left: Left,
        /// Who runs now.
        next: Tid,
    },
    /// Where the event's task stood in the kernel when it left the processor.
    Stack(TextId),
    /// The event's task, or an interrupt in it, wakes another.
    Wake(Tid),
    /// A work item is put into a queue.
    WorkQueued {
        /// Its address.
        work: u64,
        /// What it runs.
        function: TextId,
    },
    /// The event's task, a worker, starts a work item.
    WorkStart {
        /// Its address.
        work: u64,
        /// What it runs.
        function: TextId,
    },
    /// The worker is done with it.
    WorkEnd,
    /// The software interrupt in which the processor completes requests (`BLOCK_SOFTIRQ`) is wanted, begins, or is over. The
    /// event's task is only the one that is interrupted.
    Completions(Completions),
    /// The event's task begins direct I/O (`iomap_dio_rw_begin`).
    Direct {
        /// The file system's device.
        dev: DevId,
        /// Which file.
        inode: u64,
        /// From where in the file.
        at: Bytes,
        /// How much.
        bytes: Bytes,
    },
    /// The event's task is at work on a file, or on a file system where `inode` is 0.
    File {
        /// Which kind of file system.
        fs: Fs,
        /// The device.
        dev: DevId,
        /// Which file.
        inode: u64,
    },
    /// The task changed what a journal keeps: it reserved room in the log of XFS, or is done with a handle of ext4's journal.
    Changes {
        /// Which kind of file system.
        fs: Fs,
        /// Whose journal.
        dev: DevId,
        /// Blocks that were not in the transaction before, less those that it took out again (`jbd2_handle_stats`: `dirtied_blocks`); 0 where
        /// the kernel does not say.
        blocks: i32,
    },
    /// The journal thread is at a commit.
    Commit {
        /// Whose journal.
        dev: DevId,
        /// What of the commit begins (or that it ends).
        phase: CommitPhase,
    },
    /// The task waits until a page of this file is written.
    WaitPage {
        /// Which file.
        inode: u64,
    },
    /// The flusher starts to write a file back.
    Writeback {
        /// The device.
        dev: DevId,
        /// Which file.
        inode: u64,
        /// For which control group its pages are counted (the folder's inode); 0 where the kernel does not say, 1 for
        /// all that are in none of their own.
        cgroup: u64,
    },
    /// The task made a file dirty (`writeback_dirty_inode`): wrote to it, or touched its times.
    DirtiedFile {
        /// On which disk, also where the file system is on a partition; 0 where it is no block device.
        disk: DevId,
        /// Which file.
        inode: u64,
    },
    /// The task made a file that was not there.
    Created {
        /// The device.
        dev: DevId,
        /// Which number it has.
        inode: u64,
    },
    /// A file is no more; another one may get its number.
    Freed {
        /// The device.
        dev: DevId,
        /// Which number.
        inode: u64,
    },
    /// The flusher is done with it.
    WritebackEnd,
    /// The task wrote to a file of this device, and the kernel looks whether it must be made to wait
    /// (`balance_dirty_pages`).
    Dirtied {
        /// On which device; 0 where it is no block device.
        dev: DevId,
    },
    /// An operation was handed to io_uring.
    RingSubmit {
        /// Its address.
        request: u64,
        /// `IORING_OP_*`.
        opcode: u8,
    },
    /// io_uring is done with it.
    RingComplete {
        /// Its address.
        request: u64,
        /// A count, or minus an errno.
        result: i64,
    },
    /// The event's task made another.
    Born {
        /// Which.
        tid: Tid,
        /// Whether it is a thread of the same process.
        thread: bool,
        /// Whether both have the same file descriptors: what one opens the other has open too.
        shares_files: bool,
    },
    /// A task is put into a control group (`cgroup_attach_task`).
    CgroupAttach {
        /// Which: of a process all of whose threads are moved, only the first is told.
        tid: Tid,
        /// In which hierarchy, by the number in `/proc/PID/cgroup`: 0 is version 2.
        hierarchy: u32,
        /// The folder's path below the hierarchy's root.
        path: TextId,
    },
    /// The event's task runs another program from now on.
    Exec,
    /// A task ends.
    Gone,
    /// Events of this processor are missing, since `since`.
    Lost {
        /// The last event before.
        since: Nanos,
    },
    /// What a number stands for: a function, a path, or a stack with the innermost function first and `\n` between.
    Text {
        /// The number.
        id: TextId,
        /// Where its text lies in the batch.
        text: Span,
    },
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskEvent {
    /// When.
    pub time: Nanos,
    /// How many of the batch's block events come before it.
    pub after: u32,
    /// The task that ran.
    pub tid: Tid,
    /// On which processor.
    pub cpu: Cpu,
    /// In an interrupt or not.
    pub context: Context,
    /// What happened.
    pub what: What,
}
