//! The slowest operations in JSON, by reason; and what some tasks sent for others.

use super::operations::Level;
use crate::sent_for;
use explain::device_mapper::InMapper;
use explain::Explanation;
use ledger::{Reason, RollUp};
use life::Class;
use serde::Serialize;
use stats::class_op;
use trace::{Bytes, Nanos};

/// The slowest 1 % of each kind that a task waits for. Times are in nanoseconds.
#[derive(Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Tail {
    /// The lowest threshold of all kinds.
    threshold_ns: Nanos,
    /// What that number means; not of texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold_is: Option<&'static str>,
    /// How many are among the slowest.
    operations: u64,
    /// The sum of their times, in nanoseconds.
    total_ns: Nanos,
    /// Sums to total_ns.
    by_reason: Vec<ByReason>,
    #[serde(flatten)]
    groups: Option<Groups>,
}

/// The slowest by kind.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Groups {
    /// Time in device-mapper that no cause explains, a sentence each.
    unexplained_in_dm: Vec<String>,
    /// The part of the operations that is the tail, at least: 0.01. It is more where one operation would have most of its time, and not
    /// most of what all lost.
    share_of_operations: f64,
    /// By kind.
    groups: Vec<Group>,
}

/// The slowest of one kind.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Group {
    /// The device.
    name: String,
    /// The operation.
    op: &'static str,
    /// What is counted.
    level: Level,
    /// The file system, of operations.
    filesystem: Option<String>,
    /// With which requests they compete.
    class: Class,
    /// How many there were in all.
    of: u64,
    /// The slowest took at least so long.
    threshold_ns: Nanos,
    /// How many these are.
    operations: u64,
    /// The sum of their times, in nanoseconds.
    total_ns: Nanos,
    /// Sums to total_ns.
    by_reason: Vec<ByReason>,
}

/// A part of the time.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ByReason {
    /// The reason, as `iowhy report CAPTURE phases` names it.
    reason: Reason,
    /// How long, in nanoseconds.
    ns: Nanos,
    /// The part of the whole, 0 to 1.
    share: f64,
    /// The reason in words.
    words: &'static str,
}

/// What some tasks sent for others.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct SentFor {
    /// The device it was sent to.
    device: String,
    /// What it was: `file data`, `journal`.
    what: &'static str,
    /// The task it was sent for; null where that is not known.
    whose: Option<String>,
    /// How many requests.
    requests: u64,
    /// The bytes moved.
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
