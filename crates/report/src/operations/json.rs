//! An operation's account as JSON, in nanoseconds: the lines of the screen, every part unfolded, and the sum by reason.
//! The lines within a line, and the parts of each depth within the one above, sum to it exactly.

use super::events::Gathered;
use super::line::{lines, Line};
use crate::json::operations::Level;
use explain::Places;
use ledger::Reason;
use life::{Class, Op};
use operation::{Done, Entry, Wait, Wakeup};
use serde::Serialize;
use stats::{Interfering, Ran, SampledOperation};
use trace::{Bytes, DevId, Nanos, Sector, Tid};

/// An operation of a task, with an account of every nanosecond of it. Times are those of the recording's clock.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Operation<'a> {
    #[serde(flatten)]
    told: OperationSummary<Nanos>,
    /// The unfolded account, depth first.
    parts: Vec<Part<'a>>,
    /// Wakeups and queued work items: each hop from one task to another.
    hops: Vec<WakeupRow<'a>>,
    #[serde(flatten)]
    events: Option<Gathered<'a>>,
}

/// An operation of a task with its folded account.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct OperationSummary<Time> {
    /// Always `operation`.
    level: Level,
    /// The kind of operation, such as `fsync`.
    op: &'static str,
    /// The name of the task that did it.
    task: String,
    /// The thread's number (tid).
    tid: Tid,
    /// The number of its process; null if unknown.
    process: Option<Tid>,
    /// The type of the file system, such as `ext4`.
    filesystem: &'static str,
    /// The file system's device; null if unknown.
    device: Option<String>,
    /// The file system's mount point; null if unknown.
    mount: Option<String>,
    /// The file's inode number; 0 if unknown.
    inode: u64,
    /// The file's path; null if unknown.
    file: Option<String>,
    /// The tasks whose data or changes it wrote, if others'.
    data_of: Option<String>,
    /// The file descriptor; null if it has none.
    fd: Option<i32>,
    /// Its result: bytes, a descriptor, or a negative error number.
    result: i64,
    /// The time at which it began.
    from_ns: Time,
    /// The time at which it ended; if it is not over, the end of the recording.
    to_ns: Time,
    /// Whether it began before the recording: then `from_ns` is the start of the recording, and it took longer.
    begun_before: bool,
    /// Whether its end was recorded.
    over: bool,
    /// The time from `from_ns` to `to_ns`.
    total_ns: Nanos,
    /// The part of that time which nothing explains.
    unexplained_ns: Nanos,
    /// Its time by reason; sums to total_ns.
    by_reason: Vec<ByReason>,
    /// The folded account, as `slow` shows it on the screen.
    lines: Vec<Line>,
}

/// The time with one reason.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ByReason {
    /// The name of the reason.
    reason: Reason,
    /// The length of time, in nanoseconds.
    ns: Nanos,
}

/// A part of an account.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Part<'a> {
    /// Its depth in the tree, from 0.
    depth: u8,
    /// The time at which it began, in nanoseconds of the recording's clock.
    from_ns: Nanos,
    /// Its length, in nanoseconds.
    ns: Nanos,
    #[serde(flatten)]
    what: What<'a>,
    /// I/O that the device completed meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    meanwhile: Option<&'a [Interfering]>,
    /// Tasks that the processor ran meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    processor_ran: Option<&'a [Ran]>,
}

/// The kind of a part.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum What<'a> {
    /// A reason; it has no parts.
    Leaf {
        /// The reason for this time.
        reason: Reason,
    },
    /// A sleep. Its parts show what ended it.
    Wait {
        /// The kind of wait, recognised by the stack.
        wait: Wait,
        /// The kernel function that waits.
        function: String,
        /// The stack, innermost function first.
        stack: Vec<&'a str>,
    },
    /// Another task that was waited for. Its parts are what that task did.
    Task {
        /// The name of the task; null if unknown.
        task: Option<&'a str>,
        /// The thread's number (tid).
        tid: Tid,
    },
    /// A work item. Its parts are how long it was queued, and what it did.
    Work {
        /// The function that it runs.
        work: &'a str,
        /// The name of the worker's task; null if unknown.
        task: Option<&'a str>,
        /// The worker's thread number.
        tid: Tid,
        /// The task that queued it; null if that was not recorded.
        queued_by: Option<&'a str>,
        /// The number of that thread.
        queued_by_tid: Option<Tid>,
        /// Whether it was queued in an interrupt.
        queued_in_interrupt: Option<bool>,
        /// The time at which it was queued, in nanoseconds of the recording's clock.
        queued_ns: Option<Nanos>,
    },
    /// A phase of a journal's commit. Its parts are what the journal's thread did in it.
    Commit {
        /// The phase: `start`, `locking`, `flushing`, `logging`, `end`.
        commit: &'static str,
    },
    /// A request, or a bio. Its parts are its own ledger.
    Request {
        /// The operation, such as a read or a write.
        request: Op,
        /// The class of requests with which it competes.
        class: Class,
        /// The name of the device.
        device: String,
        /// The first sector.
        sector: Sector,
        /// The size in bytes.
        bytes: Bytes,
        /// The name of the task that queued it; null if unknown.
        task: Option<&'a str>,
        /// The number (tid) of that task.
        tid: Tid,
        /// The inode number of the file whose data it carries; null if unknown.
        inode: Option<u64>,
        /// The task whose data it carries, if another task queued it.
        data_of: Option<String>,
    },
}

/// A hop from one task to another: a wakeup, or a queued work item.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WakeupRow<'a> {
    /// The time of the wakeup, in nanoseconds of the recording's clock.
    at_ns: Nanos,
    /// The task that woke the other or queued the work item; null if unknown.
    by: Option<&'a str>,
    /// The number of that thread.
    by_tid: Tid,
    /// Whether it was done in an interrupt.
    interrupt: bool,
    /// The task that was woken or runs the work item; null if unknown.
    who: Option<&'a str>,
    /// The number of that thread.
    who_tid: Tid,
    /// The time until that task ran, in nanoseconds.
    latency_ns: Nanos,
    /// Whether it then ran on another processor.
    crossed: bool,
}

impl<'a> Operation<'a> {
    /// An operation for JSON, with its events if they were gathered.
    pub fn of(sampled: &'a SampledOperation, places: &Places, events: Option<Gathered<'a>>) -> Operation<'a> {
        let hop = |h: &Wakeup| WakeupRow {
            at_ns: h.at,
            by: name(sampled, h.by),
            by_tid: h.by,
            interrupt: h.interrupt,
            who: name(sampled, h.who),
            who_tid: h.who,
            latency_ns: h.latency,
            crossed: h.crossed,
        };
        let parts = sampled.account.nodes.iter().enumerate().map(|(at, node)| Part {
            depth: node.depth,
            from_ns: node.from,
            ns: node.length(),
            what: what(sampled, at, &node.part, places),
            meanwhile: sampled.met.get(&at).filter(|m| !m.is_empty()).map(Vec::as_slice),
            processor_ran: sampled.ran.get(&at).filter(|r| !r.is_empty()).map(Vec::as_slice),
        });
        let (parts, hops) = (parts.collect(), sampled.account.hops.iter().map(hop).collect());
        Operation { told: told(sampled, places, |t| t), parts, hops, events }
    }
}

/// An operation with its folded account; `at` converts times.
pub(crate) fn told<T>(
    sampled: &SampledOperation,
    places: &Places,
    at: impl Fn(Nanos) -> T,
) -> OperationSummary<T> {
    let (o, account) = (&sampled.operation, &sampled.account);
    let by_reason = Reason::ALL.iter().map(|r| ByReason { reason: *r, ns: account.of(*r) });
    OperationSummary {
        level: Level::Operation,
        op: o.kind.name(),
        task: sampled.task.clone(),
        tid: o.tid,
        process: o.process,
        filesystem: o.fs.name(),
        device: (o.dev != DevId(0)).then(|| places.device(o.dev)),
        mount: places.mount(o.dev).map(|m| m.0.to_string()),
        inode: o.inode,
        file: places.file(o).map(str::to_string),
        data_of: sampled.whose.clone(),
        fd: o.fd,
        result: o.result,
        from_ns: at(o.from),
        to_ns: at(o.to),
        begun_before: o.begun_before,
        over: o.still_out.is_none(),
        total_ns: account.total(),
        unexplained_ns: account.of(Reason::Unexplained),
        by_reason: by_reason.filter(|r| r.ns.0 > 0).collect(),
        lines: lines(sampled, places),
    }
}

fn name(sampled: &SampledOperation, tid: Tid) -> Option<&str> {
    sampled.names.get(&tid).map(String::as_str)
}

fn what<'a>(
    sampled: &'a SampledOperation,
    at: usize,
    part: &'a operation::Part,
    places: &Places,
) -> What<'a> {
    let text = |id| sampled.texts.get(id).map_or("", String::as_str);
    match part {
        operation::Part::Leaf(reason) => What::Leaf { reason: *reason },
        operation::Part::Wait { wait, stack } => {
            let stack: Vec<&str> = stack.as_ref().map_or("", text).lines().collect();
            What::Wait { wait: *wait, function: Wait::function_of(&stack.join("\n")).to_string(), stack }
        }
        operation::Part::Task(tid) => What::Task { task: name(sampled, *tid), tid: *tid },
        operation::Part::Work { function, worker, queued } => What::Work {
            work: text(function),
            task: name(sampled, *worker),
            tid: *worker,
            queued_by: queued.as_ref().and_then(|q| name(sampled, q.by)),
            queued_by_tid: queued.map(|q| q.by),
            queued_in_interrupt: queued.map(|q| q.context.is_interrupt()),
            queued_ns: queued.map(|q| q.time),
        },
        operation::Part::Commit(phase) => What::Commit { commit: phase.name() },
        operation::Part::Request(entry) => request(sampled, at, entry, places),
    }
}

fn request<'a>(sampled: &'a SampledOperation, at: usize, entry: &Entry, places: &Places) -> What<'a> {
    let (request, class, tid) = match &entry.done {
        Done::Request(r) => (r.op, r.class(), r.tid),
        Done::Bio(b) => (b.op, b.class(), b.tid),
    };
    What::Request {
        request,
        class,
        device: places.device(entry.done.dev()),
        sector: entry.done.start(),
        bytes: entry.done.bytes(),
        task: name(sampled, tid),
        tid,
        inode: entry.sent_for.as_ref().and_then(|s| s.inode),
        data_of: sampled.writers.get(&at).and_then(|whose| places.whose(whose)),
    }
}
