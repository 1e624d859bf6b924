//! One action of a task, or on a task, outside the block layer.
//!
//! Task events travel in the same [`Batch`](crate::Batch) as block events. Each has its position between them, so that
//! consumers see both in time order. Formats with only block events (blktrace, blkparse) have no task events.

use crate::span::Span;
use crate::syscall::Call;
use units::{Bytes, Cpu, DevId, Nanos, Tid};

/// The processor's context when an event was recorded (`common_flags`; include/linux/trace_events.h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context(pub u8);

impl Context {
    /// Bit: in a hardware interrupt (`TRACE_FLAG_HARDIRQ`).
    pub const HARD: u8 = 8;
    /// Bit: in a software interrupt (`TRACE_FLAG_SOFTIRQ`), also in `ksoftirqd`.
    pub const SOFT: u8 = 16;

    /// Whether an interrupt caused the event, so that the recorded task is only the interrupted one.
    pub fn is_interrupt(self) -> bool {
        self.0 & (Self::HARD | Self::SOFT) != 0
    }
}

/// Why a task left the processor, from `prev_state` of `sched_switch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// It was runnable: another task took the processor.
    Preempted,
    /// It sleeps and a signal would wake it (`TASK_INTERRUPTIBLE`): it waits for input, a timer or another task.
    Interruptible,
    /// It sleeps and signals do not wake it (`TASK_UNINTERRUPTIBLE`): most I/O.
    Uninterruptible,
    /// It is a kernel thread that waits for work (`TASK_IDLE`; a separate state since Linux 4.14).
    Idle,
    /// It is stopped, traced, parked or dead.
    Stopped,
}

/// Id of a kernel function, a stack or a cgroup path within one recording; [`What::Text`] gives its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextId(pub u32);

/// A file system, identified by the event group that its events are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fs {
    /// None of those below, or not known.
    #[default]
    Unknown,
    /// XFS.
    Xfs,
    /// ext4, which also serves ext2 and ext3.
    Ext4,
    /// btrfs.
    Btrfs,
    /// F2FS.
    F2fs,
    /// A block device opened as a file.
    Block,
}

impl Fs {
    /// Its name as in `mount`.
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

    /// The file system with this name in `mount`; [`Fs::Unknown`] for all others.
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
    /// `jbd2_start_commit`: the commit starts.
    Start,
    /// `jbd2_commit_locking`: waits until the tasks that still change the transaction are done.
    Locking,
    /// `jbd2_commit_flushing`: writes file data first (data=ordered).
    Flushing,
    /// `jbd2_commit_logging`: writes the blocks, then the commit record.
    Logging,
    /// `jbd2_end_commit`: the commit is done.
    End,
}

impl CommitPhase {
    /// The name of its event without `jbd2_commit_`, for example `locking`; `start` and `end` for the outer two.
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

/// Steps of the software interrupt that completes requests (block/blk-mq.c, `blk_done_softirq`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completions {
    /// The interrupt was raised: there are requests to complete.
    Wanted,
    /// The interrupt handler begins.
    Begin,
    /// The interrupt handler ends.
    End,
}

/// File system events that end a task's I/O (fs/iomap/direct-io.c, fs/xfs/xfs_file.c, fs/xfs/xfs_aops.c). They are recorded in the task
/// that completes the I/O (an interrupted task, the server of a FUSE disk), which is in no call about that file.
const OF_COMPLETIONS: [&str; 3] = ["iomap_dio_complete", "xfs_end_io_direct_write", "xfs_setfilesize"];

/// Whether an event of this name tells nothing about the activity of its task.
pub(crate) fn is_of_completion(name: &str) -> bool {
    OF_COMPLETIONS.contains(&name)
}

/// Placeholder for the flags of an `open` that has no flags argument.
pub const NO_FLAGS: u64 = u64::MAX;

/// The kind of task event, with its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The task enters a system call.
    Enter {
        /// The system call.
        call: Call,
        /// Its first four arguments. For `open` and its variants the last element holds the flags, whichever argument they are in;
        /// [`NO_FLAGS`] if they are in none.
        args: [u64; 4],
    },
    /// The task returns from a system call.
    Exit {
        /// The system call.
        call: Call,
        /// Its return value: a count, or a negative errno.
        result: i64,
    },
    /// The processor switches from the event's task to another.
    Switch {
        /// Why the event's task left the processor.
        left: Left,
        /// The task that runs next.
        next: Tid,
    },
    /// The kernel stack of the event's task when it left the processor.
    Stack(TextId),
    /// The event's task, or an interrupt on top of it, wakes this task.
    Wake(Tid),
    /// A work item is queued (`workqueue_queue_work`).
    WorkQueued {
        /// The address of the work item, which identifies it.
        work: u64,
        /// The kernel function that it will run.
        function: TextId,
    },
    /// The event's task, a worker, starts to execute a work item.
    WorkStart {
        /// The address of the work item.
        work: u64,
        /// The kernel function that it runs.
        function: TextId,
    },
    /// The worker has finished its work item.
    WorkEnd,
    /// A step of the software interrupt in which the processor completes requests (`BLOCK_SOFTIRQ`). The
    /// event's task is only the interrupted one.
    Completions(Completions),
    /// The event's task starts direct I/O (`iomap_dio_rw_begin`).
    Direct {
        /// The device of the file system.
        dev: DevId,
        /// The inode number of the file.
        inode: u64,
        /// Offset in the file.
        at: Bytes,
        /// Length of the I/O.
        bytes: Bytes,
    },
    /// The event's task works on a file, or on the file system as a whole if `inode` is 0.
    File {
        /// The type of the file system.
        fs: Fs,
        /// The device of the file system.
        dev: DevId,
        /// The inode number of the file.
        inode: u64,
    },
    /// The task changed journaled metadata: it reserved space in the log of XFS, or finished a handle of ext4's journal.
    Changes {
        /// The type of the file system.
        fs: Fs,
        /// The device of the file system that the journal belongs to.
        dev: DevId,
        /// Blocks that the handle added to the transaction, less those that it removed again (`jbd2_handle_stats`: `dirtied_blocks`); 0 if
        /// the kernel does not say.
        blocks: i32,
    },
    /// The journal thread reaches a phase of a commit.
    Commit {
        /// The device of the file system that the journal belongs to.
        dev: DevId,
        /// The phase that begins; [`CommitPhase::End`] if the commit is done.
        phase: CommitPhase,
    },
    /// The task waits until writeback of a page of this file ends.
    WaitPage {
        /// The inode number of the file.
        inode: u64,
    },
    /// The flusher starts writeback of a file.
    Writeback {
        /// The device of the file system.
        dev: DevId,
        /// The inode number of the file.
        inode: u64,
        /// The cgroup that its dirty pages are charged to (the folder's inode); 0 if the kernel does not say, 1 (the root) for
        /// tasks without a cgroup of their own.
        cgroup: u64,
    },
    /// The task made a file dirty (`writeback_dirty_inode`): it wrote to the file, or touched its timestamps.
    DirtiedFile {
        /// The whole disk, even if the file system is on a partition; 0 if there is no block device.
        disk: DevId,
        /// The inode number of the file.
        inode: u64,
    },
    /// The task created a file.
    Created {
        /// The device of the file system.
        dev: DevId,
        /// The inode number of the new file.
        inode: u64,
    },
    /// A file was removed; another file may get its inode number.
    Freed {
        /// The device of the file system.
        dev: DevId,
        /// The inode number of the removed file.
        inode: u64,
    },
    /// The flusher ends writeback of the file.
    WritebackEnd,
    /// The task wrote to a file on this device, and the kernel checks whether to throttle it
    /// (`balance_dirty_pages`).
    Dirtied {
        /// The device; 0 if it is no block device.
        dev: DevId,
    },
    /// An operation was submitted to io_uring.
    RingSubmit {
        /// The address of the request, which identifies it.
        request: u64,
        /// The operation, `IORING_OP_*`.
        opcode: u8,
    },
    /// io_uring has completed an operation.
    RingComplete {
        /// The address of the request.
        request: u64,
        /// A count, or a negative errno.
        result: i64,
    },
    /// The event's task created another task.
    Born {
        /// The new task.
        tid: Tid,
        /// Whether the new task is a thread of the same process.
        thread: bool,
        /// Whether both share one table of file descriptors: a file that one opens is open in the other.
        shares_files: bool,
    },
    /// A task is moved to a cgroup (`cgroup_attach_task`).
    CgroupAttach {
        /// The task. If all threads of a process are moved, only the first is reported.
        tid: Tid,
        /// The hierarchy, by the number in `/proc/PID/cgroup`: 0 is cgroup v2.
        hierarchy: u32,
        /// The cgroup's path below the root of the hierarchy.
        path: TextId,
    },
    /// The event's task executes another program from here on.
    Exec,
    /// The task ends.
    Gone,
    /// Events of this processor are missing between `since` and this event.
    Lost {
        /// The time of the last event before the gap.
        since: Nanos,
    },
    /// The text of an id: a function, a path, or a stack with the innermost function first, separated by `\n`.
    Text {
        /// The id that other events use.
        id: TextId,
        /// The position of its text in the batch.
        text: Span,
    },
}

/// One event of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskEvent {
    /// Timestamp on the trace's own clock.
    pub time: Nanos,
    /// Number of the batch's block events that come before it.
    pub after: u32,
    /// The task that was running.
    pub tid: Tid,
    /// The processor that recorded it.
    pub cpu: Cpu,
    /// Whether the processor was in an interrupt.
    pub context: Context,
    /// What happened, with its data.
    pub what: What,
}
