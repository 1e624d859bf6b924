//! Reasons for which time passes: each segment of a ledger has exactly one.

use serde::Serialize;

/// The reason of a segment. The names in JSON are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// `Q2G`: waiting for a request (a tag), or for a place in one (`Q2M`).
    GetRequest,
    /// `G2I`: between getting the request and the scheduler; where there is none, until it was issued. The task's
    /// plug is in it.
    Prepare,
    /// `I2D`: in the I/O scheduler.
    Scheduler,
    /// Requeued by the driver, waiting to be issued again.
    Requeue,
    /// `D2C`: in the device.
    Device,
    /// Waiting until a flush that others had begun was over, or its own could be sent.
    FlushQueue,
    /// The flush before its data.
    Preflush,
    /// The flush after its data.
    Postflush,
    /// Between the last step that was seen and the end.
    Completion,
    /// Stacked device: only reads of it were in flight below.
    LowerRead,
    /// Stacked device: writes of it were in flight below.
    LowerWrite,
    /// Stacked device: nothing of it was in flight below; it waited in the driver (md, dm) itself.
    Stacking,
    /// Running on a processor.
    OnCpu,
    /// Runnable, but other tasks had the processor.
    WaitCpu,
    /// A work item lay in its queue until a worker took it.
    WorkQueue,
    /// From the completion of its request until it was woken.
    WakeUp,
    /// A lock whose holder is not known.
    Lock,
    /// Dirty throttling: it wrote faster than the device writes back (`balance_dirty_pages`).
    DirtyThrottle,
    /// Throttled by writeback throttling (block/blk-wbt.c).
    WritebackThrottle,
    /// Throttled by a limit of its cgroup (block/blk-throttle.c, blk-iocost.c, blk-iolatency.c).
    CgroupLimit,
    /// Waiting in direct reclaim for memory to be freed.
    Reclaim,
    /// The device's queue was frozen while a setting changed (`blk_queue_enter`).
    QueueFreeze,
    /// A timer, or an interrupt that completed no request, ended the wait.
    Timer,
    /// An interruptible sleep: for input, for another task.
    Sleep,
    /// Not explained by anything that was recorded.
    Unexplained,
}

impl Reason {
    /// Number of reasons.
    pub const COUNT: usize = 25;

    /// All reasons: those of an I/O in the order of its steps, then those of tasks.
    pub const ALL: [Reason; Reason::COUNT] = [
        Reason::GetRequest,
        Reason::Prepare,
        Reason::Scheduler,
        Reason::Requeue,
        Reason::FlushQueue,
        Reason::Preflush,
        Reason::Device,
        Reason::Postflush,
        Reason::Completion,
        Reason::Stacking,
        Reason::LowerRead,
        Reason::LowerWrite,
        Reason::OnCpu,
        Reason::WaitCpu,
        Reason::WorkQueue,
        Reason::WakeUp,
        Reason::Lock,
        Reason::DirtyThrottle,
        Reason::WritebackThrottle,
        Reason::CgroupLimit,
        Reason::Reclaim,
        Reason::QueueFreeze,
        Reason::Timer,
        Reason::Sleep,
        Reason::Unexplained,
    ];

    /// Its index in arrays.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Reason::GetRequest => "get-request",
            Reason::Prepare => "prepare",
            Reason::Scheduler => "scheduler",
            Reason::Requeue => "requeue",
            Reason::Device => "device",
            Reason::FlushQueue => "flush-queue",
            Reason::Preflush => "preflush",
            Reason::Postflush => "postflush",
            Reason::Completion => "completion",
            Reason::LowerRead => "lower-read",
            Reason::LowerWrite => "lower-write",
            Reason::Stacking => "stacking",
            Reason::OnCpu => "on-cpu",
            Reason::WaitCpu => "wait-cpu",
            Reason::WorkQueue => "work-queue",
            Reason::WakeUp => "wake-up",
            Reason::Lock => "lock",
            Reason::DirtyThrottle => "dirty-throttle",
            Reason::WritebackThrottle => "writeback-throttle",
            Reason::CgroupLimit => "cgroup-limit",
            Reason::Reclaim => "reclaim",
            Reason::QueueFreeze => "queue-freeze",
            Reason::Timer => "timer",
            Reason::Sleep => "sleep",
            Reason::Unexplained => "unexplained",
        }
    }

    /// In plain words, with blktrace's name of the phase where it has one.
    pub fn words(self) -> &'static str {
        match self {
            Reason::GetRequest => "waiting for a request, a tag (Q2G)",
            Reason::Prepare => "between request and scheduler (G2I)",
            Reason::Scheduler => "in the I/O scheduler (I2D)",
            Reason::Requeue => "requeued by the driver",
            Reason::Device => "in the device (D2C)",
            Reason::FlushQueue => "waiting for its turn to flush",
            Reason::Preflush => "flushing the device's cache before the data",
            Reason::Postflush => "flushing the device's cache after the data",
            Reason::Completion => "being completed",
            Reason::LowerRead => "reads on the devices below",
            Reason::LowerWrite => "writes on the devices below",
            Reason::Stacking => "in md or dm itself",
            Reason::OnCpu => "on a processor",
            Reason::WaitCpu => "waiting for a processor",
            Reason::WorkQueue => "a work item waiting for a worker",
            Reason::WakeUp => "from completion to wake-up",
            Reason::Lock => "waiting for a lock",
            Reason::DirtyThrottle => "dirty throttling (balance_dirty_pages)",
            Reason::WritebackThrottle => "writeback throttling (wbt)",
            Reason::CgroupLimit => "throttled by its cgroup's limit",
            Reason::Reclaim => "waiting for memory to be freed",
            Reason::QueueFreeze => "the queue was frozen",
            Reason::Timer => "waiting for a timer or an interrupt",
            Reason::Sleep => "waiting for input or another task",
            Reason::Unexplained => "unexplained",
        }
    }
}
