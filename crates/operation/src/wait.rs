//! What a task may wait for in the kernel, in words, and the reason that an account gives it. `stacks.rs` has the
//! functions that identify each wait.

use ledger::Reason;
use serde::Serialize;

/// What a sleep is for, identified by the functions on its stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// The stack is not known, or no rule fits it.
    Unknown,
    /// Direct I/O (O_DIRECT) that the task itself sent.
    DirectIo,
    /// A page that is being read.
    PageRead,
    /// A page of a file that is mapped, or of a program.
    PageFault,
    /// Data of the file under writeback: `fsync` waits for what it sent.
    OwnData,
    /// A stable page: under writeback, it must not change until it is written.
    StablePage,
    /// The journal's commit (ext4).
    JournalCommit,
    /// A jbd2 handle: room in the journal, or the end of a commit's lock on new handles (ext4).
    JournalHandle,
    /// A metadata block that a commit is writing (ext4).
    JournalBuffer,
    /// Within a commit: data of other files, which must be written first (data=ordered).
    OrderedData,
    /// Within a commit: the blocks of the journal.
    JournalBlocks,
    /// The journal's superblock, which is written to make room in the journal.
    JournalSuperblock,
    /// The end of open handles of the transaction.
    JournalUpdates,
    /// The log must be on disk up to some change (XFS, btrfs, ZFS's intent log).
    LogForce,
    /// XFS: the changes gathered in memory (CIL) must go into the log.
    LogPush,
    /// XFS: room in the log.
    LogSpace,
    /// btrfs: free space, which is made by writing back or committing what others have reserved (fs/btrfs/space-info.c).
    SpaceReserved,
    /// A metadata block: being read, written, or locked.
    Metadata,
    /// A free tag: all requests of the queue are in use (`nr_requests`, queue depth).
    Tag,
    /// Writeback throttling admits no more writes.
    WritebackThrottle,
    /// A limit of its cgroup: `io.max`, iocost, iolatency.
    CgroupLimit,
    /// Dirty throttling: it wrote faster than the device writes back.
    DirtyThrottle,
    /// The lock of a file (i_rwsem, XFS's inode lock).
    InodeLock,
    /// The position of an open file (f_pos_lock), which those who share its descriptor take in turn for `read` and `write`.
    FilePosition,
    /// A mutex or rwsem other than those above.
    Lock,
    /// Memory reclaim: pages must be freed first.
    Reclaim,
    /// A page being read from swap.
    Swap,
    /// The queue is frozen while a setting changes.
    QueueFreeze,
    /// A flush of the device's cache.
    Flush,
    /// A work item that the task itself queued.
    WorkItem,
    /// md: a stripe of the stripe cache.
    StripeCache,
    /// md: the bitmap of stripes that are being written.
    RaidBitmap,
    /// md: resynchronisation of the part of the array to be read or written.
    RaidBarrier,
    /// md: the superblock, which marks the array as being written.
    RaidSuperblock,
    /// md: the array takes the request: a stripe that another request is changing, a reshape, an array that is suspended.
    RaidRequest,
    /// ZFS: reads and writes of its pool.
    PoolIo,
    /// ZFS: a transaction group that must be written, or end.
    TransactionGroup,
    /// ZFS: too many changes are not yet written; the pool admits no more.
    PoolThrottle,
    /// A command to the device that is no read or write of its data: of a driver or a tool.
    Command,
    /// dm-crypt: the work queue in which the bio is encrypted or decrypted.
    Crypt,
    /// The file system is frozen, or is being unmounted.
    Frozen,
    /// A user-space file system's process (FUSE), or the server (NFS).
    Server,
    /// A loop device's worker, in the page cache of the file behind it: there it serves one request after the other.
    LoopFile,
    /// Batching: other changes may join the task's commit (ext4, `max_batch_time`).
    JournalBatch,
    /// An RCU grace period.
    Rcu,
    /// Resizing of the recording's own ring buffers.
    Tracing,
    /// A timer that the task set: `nanosleep`, `msleep`.
    Timer,
    /// Input, or another task: an interruptible sleep.
    Input,
}

/// Each wait has a bit of its own.
const _: () = assert!(Wait::COUNT < 64);

impl Wait {
    /// Number of waits; each has a bit in a path's set.
    pub const COUNT: usize = Wait::Input as usize + 1;

    /// Its bit in [`Waits`](crate::Waits).
    pub fn bit(self) -> u64 {
        1 << self as u64
    }

    /// The reason for the whole sleep, if it does not matter what ended it: any completed write frees the tag that
    /// another one gets. `None` if it matters.
    pub fn reason(self) -> Option<Reason> {
        Some(match self {
            Wait::Tag => Reason::GetRequest,
            Wait::WritebackThrottle => Reason::WritebackThrottle,
            Wait::CgroupLimit => Reason::CgroupLimit,
            Wait::DirtyThrottle => Reason::DirtyThrottle,
            Wait::Reclaim => Reason::Reclaim,
            Wait::QueueFreeze => Reason::QueueFreeze,
            Wait::Timer | Wait::JournalBatch => Reason::Timer,
            _ => return None,
        })
    }

    /// Whether it is for a lock of any kind.
    pub fn is_lock(self) -> bool {
        matches!(self, Wait::InodeLock | Wait::FilePosition | Wait::Lock)
    }

    /// Its description on the screen.
    pub fn words(self) -> &'static str {
        match self {
            Wait::Unknown => "an unknown wait",
            Wait::DirectIo => "its own I/O",
            Wait::PageRead => "a page being read",
            Wait::PageFault => "a page fault: a page being read",
            Wait::OwnData => "its own data: waiting for writeback",
            Wait::StablePage => "a page it wants to change is being written (stable page)",
            Wait::JournalCommit => "the journal's commit",
            Wait::JournalHandle => "a jbd2 handle (room in the journal)",
            Wait::JournalBuffer => "a metadata block that the journal is writing",
            Wait::OrderedData => "other files' data first (data=ordered)",
            Wait::JournalBlocks => "the journal's blocks",
            Wait::JournalSuperblock => "the journal's superblock",
            Wait::JournalUpdates => "open handles of the transaction",
            Wait::LogForce => "the log's write (log force)",
            Wait::LogPush => "gathering the log's changes (CIL push)",
            Wait::LogSpace => "space in the log",
            Wait::SpaceReserved => "space in the file system (btrfs's reservation)",
            Wait::Metadata => "a block of metadata",
            Wait::Tag => "a request, a tag",
            Wait::WritebackThrottle => "writeback throttling (wbt)",
            Wait::CgroupLimit => "its cgroup's limit",
            Wait::DirtyThrottle => "dirty throttling (balance_dirty_pages)",
            Wait::InodeLock => "the file's lock",
            Wait::FilePosition => "the position of an open file (a shared descriptor)",
            Wait::Lock => "a lock",
            Wait::Reclaim => "memory to be freed",
            Wait::Swap => "a page in swap",
            Wait::QueueFreeze => "the frozen queue",
            Wait::Flush => "a flush of the device's cache",
            Wait::WorkItem => "a work item",
            Wait::StripeCache => "a stripe of md's cache",
            Wait::RaidBitmap => "md's bitmap",
            Wait::RaidBarrier => "md's synchronising of that part of the array",
            Wait::RaidSuperblock => "md's superblock",
            Wait::RaidRequest => "md's array to admit it",
            Wait::PoolIo => "the pool's I/O (ZFS)",
            Wait::TransactionGroup => "the pool's transaction group (ZFS)",
            Wait::PoolThrottle => "room for changes in the pool (ZFS's dirty data)",
            Wait::Command => "a command to the device",
            Wait::Crypt => "dm-crypt's work queue",
            Wait::Frozen => "the frozen file system",
            Wait::Server => "the file system's server",
            Wait::LoopFile => "the page cache of the file behind a loop device",
            Wait::JournalBatch => "others joining its commit (max_batch_time)",
            Wait::Rcu => "an RCU grace period",
            Wait::Tracing => "the recording's own buffers",
            Wait::Timer => "a timer",
            Wait::Input => "input, or another task",
        }
    }
}
