//! A ledger as JSON: the lines of the screen, every part unfolded, and the sum by reason. All in nanoseconds; the
//! lines within a line, and the parts of each depth within the one above, sum to it exactly.

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

/// An operation of a task, and where every nanosecond of it went. Times are those of the recording's clock.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Operation<'a> {
    #[serde(flatten)]
    told: OperationSummary<Nanos>,
    /// The account whole.
    parts: Vec<Part<'a>>,
    /// Each passing from one task to another.
    hops: Vec<WakeupRow<'a>>,
    #[serde(flatten)]
    events: Option<Gathered<'a>>,
}

/// An operation of a task in short.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct OperationSummary<Time> {
    /// What it is: an operation of a task.
    level: Level,
    /// The operation.
    op: &'static str,
    /// The task it belongs to.
    task: String,
    /// The thread's number.
    tid: Tid,
    /// Its process; null where that is not known.
    process: Option<Tid>,
    /// On which kind of file system.
    filesystem: &'static str,
    /// The device.
    device: Option<String>,
    /// Where that is mounted.
    mount: Option<String>,
    /// The file's number; 0 where it is not known.
    inode: u64,
    /// The file's path; null where that is not known.
    file: Option<String>,
    /// Whose data, if another task's.
    data_of: Option<String>,
    /// The descriptor.
    fd: Option<i32>,
    /// What it returned: bytes, a descriptor, or a negative error number.
    result: i64,
    /// The start.
    from_ns: Time,
    /// The end; of one that is not over, that of the recording.
    to_ns: Time,
    /// Whether it had begun before the recording did: then `from_ns` is the beginning of that, and it took longer.
    begun_before: bool,
    /// Whether its end was seen.
    over: bool,
    /// How long it took.
    total_ns: Nanos,
    /// The part that nothing explains.
    unexplained_ns: Nanos,
    /// Sums to total_ns.
    by_reason: Vec<ByReason>,
    /// The account as the screen of `slow` has it.
    lines: Vec<Line>,
}

/// A reason.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ByReason {
    /// The name of the reason.
    reason: Reason,
    /// How long, in nanoseconds.
    ns: Nanos,
}

/// A part of an account.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Part<'a> {
    /// Its depth in the tree.
    depth: u8,
    /// When it began, in nanoseconds of the recording's clock.
    from_ns: Nanos,
    /// How long, in nanoseconds.
    ns: Nanos,
    #[serde(flatten)]
    what: What<'a>,
    /// What the device completed meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    meanwhile: Option<&'a [Interfering]>,
    /// What the processor ran meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    processor_ran: Option<&'a [Ran]>,
}

/// What a part is.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum What<'a> {
    /// It has no parts: this was the reason.
    Leaf {
        /// The reason.
        reason: Reason,
    },
    /// A sleep. Its parts say what ended it.
    Wait {
        /// Which wait, by the stack.
        wait: Wait,
        /// The kernel function that waits.
        function: String,
        /// The stack, from the innermost function.
        stack: Vec<&'a str>,
    },
    /// Another task, which the one above waited for. Its parts are what that task did.
    Task {
        /// The task's name.
        task: Option<&'a str>,
        /// The thread's number.
        tid: Tid,
    },
    /// A work item. Its parts are how it came to run, and what it did.
    Work {
        /// Its function.
        work: &'a str,
        /// The worker's name.
        task: Option<&'a str>,
        /// The worker's number.
        tid: Tid,
        /// Who queued it; null where that was not seen.
        queued_by: Option<&'a str>,
        /// The number of that thread.
        queued_by_tid: Option<Tid>,
        /// Whether an interrupt queued it.
        queued_in_interrupt: Option<bool>,
        /// When, in nanoseconds of the recording's clock.
        queued_ns: Option<Nanos>,
    },
    /// A phase of a journal's commit. Its parts are what the journal's thread did in it.
    Commit {
        /// The phase: `start`, `locking`, `flushing`, `logging`, `end`.
        commit: &'static str,
    },
    /// A request. Its parts are its own ledger.
    Request {
        /// What it did.
        request: Op,
        /// With which requests it competes.
        class: Class,
        /// The device.
        device: String,
        /// The first sector.
        sector: Sector,
        /// The size in bytes.
        bytes: Bytes,
        /// The task that sent it.
        task: Option<&'a str>,
        /// The thread's number.
        tid: Tid,
        /// The file's inode number.
        inode: Option<u64>,
        /// Whose data, where another task sent it.
        data_of: Option<String>,
    },
}

/// A passing from one task to another.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WakeupRow<'a> {
    /// When, in nanoseconds of the recording's clock.
    at_ns: Nanos,
    /// Who woke the other, or queued the work item.
    by: Option<&'a str>,
    /// The number of that thread.
    by_tid: Tid,
    /// Whether an interrupt did it.
    interrupt: bool,
    /// Who was woken, or works.
    who: Option<&'a str>,
    /// The number of that thread.
    who_tid: Tid,
    /// Until it ran, in nanoseconds.
    latency_ns: Nanos,
    /// Whether it ran on another processor.
    crossed: bool,
}

impl<'a> Operation<'a> {
    /// One operation, with its events where they were gathered.
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

/// An operation in short; `at` says when something was.
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
