//! What the scheduler, the work queues and the journals said of a task: the records of which its past is
//! made.

use trace::{CommitPhase, Context, Cpu, DevId, Left, Nanos, TextId, Tid};

/// What a task does from some moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs on a processor.
    Running,
    /// It could run: another task was given its processor.
    Preempted,
    /// It was woken and waits for a processor.
    Woken(Wake),
    /// It sleeps; how deep says `prev_state` of the switch.
    Asleep(Left),
}

/// What woke a task, or put a work item into a queue, and what had just happened on that processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// Time of `sched_waking` or `workqueue_queue_work`.
    pub time: Nanos,
    /// The task that ran; in an interrupt it is only the one that was interrupted.
    pub by: Tid,
    /// Interrupt, softirq or the task's own.
    pub context: Context,
    /// The waking processor.
    pub cpu: Cpu,
    /// The request that was completed there just before, in the same context, by its number in
    /// [`Served`](crate::Served).
    pub served: Option<u64>,
}

/// A stretch of a task's time; it ends where the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Where the one before ends.
    pub from: Nanos,
    /// What it does until the next stretch.
    pub state: State,
    /// Where it ran, or ran last.
    pub cpu: Cpu,
    /// Where in the kernel it stood when it left the processor.
    pub stack: Option<TextId>,
}

impl Stretch {
    /// What woke the task, where this is its wait for a processor after a sleep.
    pub(crate) fn wake(&self) -> Option<Wake> {
        match self.state {
            State::Woken(wake) => Some(wake),
            _ => None,
        }
    }
}

/// A sleep, or the part of one that is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sleep {
    pub tid: Tid,
    pub left: Left,
    pub stack: Option<TextId>,
    /// What ended it, where that was seen.
    pub wake: Option<Wake>,
    pub from: Nanos,
    pub to: Nanos,
}

/// A work item that a worker ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Time of `workqueue_execute_start`.
    pub from: Nanos,
    /// `None`: it goes on.
    pub to: Option<Nanos>,
    /// The kernel function that it calls.
    pub function: TextId,
    /// What put it into the queue, if that was seen.
    pub queued: Option<Wake>,
}

/// A phase of a journal's commit; it ends where the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Time of the `jbd2` event.
    pub from: Nanos,
    /// The one that begins.
    pub phase: CommitPhase,
    /// The device of the journal's file system.
    pub dev: DevId,
}
