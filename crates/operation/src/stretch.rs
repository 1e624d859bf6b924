//! Records of a task's past, from events of the scheduler, the work queues and the journals.

use trace::{CommitPhase, Context, Cpu, DevId, Left, Nanos, TextId, Tid};

/// State of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs on a CPU.
    Running,
    /// It could run, but its CPU was given to another task.
    Preempted,
    /// It was woken and waits for a CPU.
    Woken(Wake),
    /// It sleeps; `prev_state` of the switch gives the kind of sleep.
    Asleep(Left),
}

/// What woke a task or queued a work item, with the completion just before on that CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// Time of `sched_waking` or `workqueue_queue_work`.
    pub time: Nanos,
    /// The task that ran; in an interrupt, the task that was interrupted.
    pub by: Tid,
    /// Whether it came from an interrupt, a softirq or the task itself.
    pub context: Context,
    /// The CPU that the wakeup came from.
    pub cpu: Cpu,
    /// The request completed just before on that CPU, in the same context, by its number in [`Served`](crate::Served).
    pub served: Option<u64>,
}

/// A stretch of a task's time in one state. It ends where the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Its start, where the stretch before ends.
    pub from: Nanos,
    /// State until the next stretch.
    pub state: State,
    /// CPU on which it ran, or ran last.
    pub cpu: Cpu,
    /// Its kernel stack when it left the CPU; `None` if not recorded.
    pub stack: Option<TextId>,
}

impl Stretch {
    /// What woke the task, if this stretch is its wait for a CPU after a sleep.
    pub(crate) fn wake(&self) -> Option<Wake> {
        match self.state {
            State::Woken(wake) => Some(wake),
            _ => None,
        }
    }
}

/// A sleep, or part of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sleep {
    pub tid: Tid,
    pub left: Left,
    pub stack: Option<TextId>,
    /// What ended it, if that was seen.
    pub wake: Option<Wake>,
    pub from: Nanos,
    pub to: Nanos,
}

/// A work item that a worker ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Time of `workqueue_execute_start`.
    pub from: Nanos,
    /// When it ended; `None` while it runs.
    pub to: Option<Nanos>,
    /// The kernel function of the work item.
    pub function: TextId,
    /// What queued it; `None` if that was not seen.
    pub queued: Option<Wake>,
}

/// A phase of a journal's commit. It ends where the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Time of the `jbd2` event.
    pub from: Nanos,
    /// The phase that begins.
    pub phase: CommitPhase,
    /// The device of the journal's file system.
    pub dev: DevId,
}
