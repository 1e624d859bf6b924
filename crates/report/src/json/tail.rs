//! The slowest operations by reason, and writes that some tasks sent for others, in JSON.

use super::operations::Level;
use crate::sent_for;
use explain::device_mapper::InMapper;
use explain::Explanation;
use ledger::{Reason, RollUp};
use life::Class;
use serde::Serialize;
use stats::class_op;
use trace::{Bytes, Nanos};

/// The slowest 1 % of each kind of operation that a task waits for. Times are in nanoseconds.
#[derive(Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Tail {
    /// The lowest latency threshold of all groups.
    threshold_ns: Nanos,
    /// What that number means; absent for texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold_is: Option<&'static str>,
    /// Number of operations that are among the slowest.
    operations: u64,
    /// The sum of their latencies, in nanoseconds.
    total_ns: Nanos,
    /// Their time by reason; sums to total_ns.
    by_reason: Vec<ByReason>,
    #[serde(flatten)]
    groups: Option<Groups>,
}

/// The slowest operations by kind.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Groups {
    /// Time in device-mapper that no cause explains, one sentence each.
    unexplained_in_dm: Vec<String>,
    /// The smallest part of the operations that forms the tail: 0.01. The part is larger if otherwise one operation would have most of
    /// the tail's time, and not most of what all lost.
    share_of_operations: f64,
    /// One entry per kind of operation, device and, if operations were recorded, task.
    groups: Vec<Group>,
}

/// The slowest operations of one group.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Group {
    /// The name of the device.
    name: String,
    /// The kind of operation.
    op: &'static str,
    /// What is counted: bios, or operations of tasks.
    level: Level,
    /// The type of the file system; null for bios.
    filesystem: Option<String>,
    /// The class of requests with which they compete.
    class: Class,
    /// Number of all operations of the group.
    of: u64,
    /// The shortest latency among the slowest.
    threshold_ns: Nanos,
    /// Number of the slowest.
    operations: u64,
    /// The sum of their latencies, in nanoseconds.
    total_ns: Nanos,
    /// Their time by reason; sums to total_ns.
    by_reason: Vec<ByReason>,
}

/// The time with one reason.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ByReason {
    /// The reason, as `iowhy report CAPTURE phases` names it.
    reason: Reason,
    /// The length of time, in nanoseconds.
    ns: Nanos,
    /// The part of the total, 0 to 1.
    share: f64,
    /// The reason in words.
    words: &'static str,
}

/// Writes of one purpose that were sent to a device for a task.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct SentFor {
    /// The name of the device that was written to.
    device: String,
    /// What was sent: `file data`, `journal` or `discards`.
    what: &'static str,
    /// The task on whose behalf it was sent; null if unknown.
    whose: Option<String>,
    /// Whether that is only probable: it was written before the recording.
    probably: bool,
    /// Number of requests.
    requests: u64,
    /// Number of bytes written.
    bytes: Bytes,
}

impl Tail {
    pub fn of(e: &Explanation) -> Tail {
        let time = e.focus.time();
        Tail {
            threshold_ns: e.focus.threshold(),
            threshold_is: Some("the lowest of groups[].threshold_ns: each group's tail begins at its own"),
            operations: time.operations,
            total_ns: time.total,
            by_reason: by_reason(&time),
            groups: Some(Groups {
                unexplained_in_dm: e.in_mapper.iter().map(InMapper::words).collect(),
                share_of_operations: stats::TAIL_SHARE,
                groups: e.focus.groups.iter().map(|g| group(e, g)).collect(),
            }),
        }
    }

    pub fn cut(&mut self, rows: usize) {
        self.groups.iter_mut().for_each(|g| g.groups.truncate(rows));
    }
}

pub(crate) fn sent_for(e: &Explanation) -> Vec<SentFor> {
    let one = |r: sent_for::Row| SentFor {
        device: e.name(r.dev),
        what: sent_for::purpose(r.purpose),
        whose: r.whose,
        probably: r.probably,
        requests: r.sent.requests,
        bytes: r.sent.bytes,
    };
    sent_for::rows(e).into_iter().map(one).collect()
}

fn group(e: &Explanation, g: &stats::Group) -> Group {
    let time = &g.tail.sum.time;
    Group {
        name: e.name(g.dev),
        op: g.op.map_or(class_op(g.class).name(), |op| op.kind.name()),
        level: if g.op.is_some() { Level::Operation } else { Level::Bio },
        filesystem: g.op.map(|op| e.filesystem(&op)),
        class: g.class,
        of: g.operations,
        threshold_ns: g.tail.threshold,
        operations: time.operations,
        total_ns: time.total,
        by_reason: by_reason(time),
    }
}

fn by_reason(time: &RollUp) -> Vec<ByReason> {
    let one = |(reason, ns): &(Reason, Nanos)| ByReason {
        reason: *reason,
        ns: *ns,
        share: time.share(*reason),
        words: reason.words(),
    };
    time.by_size().iter().map(one).collect()
}
