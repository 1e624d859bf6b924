//! What pictures need in addition to the facts: what happened when, in columns of time. It is counted separately, so
//! that only commands that draw pictures pay for it.
//!
//! [`Pictures`] observes requests and operations ([`IoObserver`], [`OperationObserver`]). Its parts are bounded and
//! merge exactly.

mod columns;
mod extents;
mod heat;
mod slow;
mod slow_operation;

pub use columns::{Columns, FINEST, MOST_COLUMNS};
pub use extents::{Axis, Extents, Who, EXTENT_GRID};
pub use heat::{heat_bucket, heat_lower, Heat, HEAT_BUCKETS};
pub use slow::{SlowMoment, SlowRequest};
pub use slow_operation::{SlowOperation, STRETCHES};

use crate::op_key::OpKey;
use crate::sampled::SampledOperation;
use crate::series::Cell;
use crate::tasks::Tasks;
use ledger::Reason;
use life::{Bio, ByClass, Class, IoObserver, Names, Op, Request};
use operation::{Account, History, Operation, OperationObserver, Outside};
use std::collections::BTreeMap;
use trace::{Bytes, DevId, Flags, Nanos, Sector};

/// Largest number of devices; each takes a few hundred KB.
const MOST_DEVICES: usize = 32;
/// Largest number of groups of operations.
const MOST_GROUPS: usize = 64;
/// Number of slowest requests of each class kept for the whole recording.
const SLOWEST: usize = 32;

/// What happened in one column of time, for one kind of I/O.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Latencies of those that ended in it.
    pub heat: Heat,
    /// Number of those that ended in it.
    pub completed: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Sum of the times in flight within the column, in ns (requests: in the device; bios and operations: from their
    /// beginning on). Divided by the column's width it is the mean depth.
    pub depth_ns: u64,
    /// Latency of the slowest one that ended in it, and the reason with most of that time.
    pub slowest: Option<(Nanos, Reason)>,
}

impl Moment {
    /// Counts one that ended. `why` is called only if it is the slowest.
    #[inline]
    fn record(&mut self, latency: Nanos, bytes: u64, why: impl FnOnce() -> Reason) {
        self.heat.record(latency);
        self.completed += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        if self.slowest.is_none_or(|(slowest, _)| latency >= slowest) {
            self.slowest = self.slowest.max(Some((latency, why())));
        }
    }
}

/// The reason with the most time; among equal ones the one that an I/O meets first.
fn main_reason(time_of: impl Fn(Reason) -> Nanos) -> Reason {
    let all = Reason::ALL.into_iter().rev();
    all.max_by_key(|reason| time_of(*reason)).unwrap_or(Reason::Unexplained)
}

impl Cell for Moment {
    fn merge(&mut self, o: &Moment) {
        self.heat.merge(&o.heat);
        self.completed += o.completed;
        self.bytes = self.bytes.saturating_add(o.bytes);
        self.depth_ns = self.depth_ns.saturating_add(o.depth_ns);
        self.slowest = self.slowest.max(o.slowest);
    }
}

/// What the kernel does with a device in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// Writeback of dirty data.
    Writeback,
    /// Writes of a file system's journal or log, and writes that make room in it.
    Journal,
}

impl Behind {
    /// Both kinds.
    pub const ALL: [Behind; 2] = [Behind::Writeback, Behind::Journal];

    /// The kind of a request, if it is one of these. ext4's journal is written by `jbd2/DEVICE` (fs/jbd2/journal.c).
    /// XFS pushes its log's tail by `xfsaild/DEVICE` (fs/xfs/xfs_trans_ail.c) and writes the log from a worker, as
    /// metadata or with FUA or flush flags (xlog_write_iclog in fs/xfs/xfs_log.c).
    fn of(r: &Request, names: &Names) -> Option<Behind> {
        let task = names.text(r.task);
        let through = r.flags.has(Flags::META) || r.flags.has(Flags::FUA) || r.flags.has(Flags::FLUSH);
        let is_journal = task.starts_with("jbd2") || task.starts_with("xfsaild");
        match r.class() {
            Class::SyncWrite | Class::Background if is_journal => Some(Behind::Journal),
            Class::SyncWrite if task.starts_with("kworker") && through => Some(Behind::Journal),
            Class::Background => Some(Behind::Writeback),
            _ => None,
        }
    }
}

/// Pictures of one device.
#[derive(Clone, Debug, Default)]
pub struct DevicePictures {
    /// Its requests (bios, if it is bio-based), by class.
    pub classes: [Columns<Moment>; Class::COUNT],
    /// Background work of the kernel, in the order of [`Behind::ALL`].
    pub behind: [Columns<Moment>; 2],
    /// Accesses over time and place.
    pub extents: Extents,
    in_flight: ByClass<u32>,
    since: Nanos,
}

/// Everything that pictures need.
#[derive(Clone, Debug, Default)]
pub struct Pictures {
    /// Pictures by device.
    pub devices: BTreeMap<DevId, DevicePictures>,
    /// Operations of tasks, and background work of the kernel (commits, writeback).
    pub operations: BTreeMap<OpKey, Columns<Moment>>,
    /// The slowest requests of each column, by class. Classes are separate because no task waits for any single
    /// background write, and those are slow by nature.
    pub slow: [Columns<SlowMoment>; Class::COUNT],
    /// The slowest operation of each interval, among those that a task waits for.
    pub slow_operations: Columns<SlowOperation, STRETCHES>,
    /// Names of the tasks in the pictures.
    pub tasks: Tasks,
    /// Number of requests and operations in no picture, because there were too many devices or kinds.
    pub left_out: u64,
    slowest: [Vec<SlowRequest>; Class::COUNT],
}

impl Pictures {
    /// The slowest requests of a class in the whole recording, the slowest first.
    pub fn slowest(&self, class: Class) -> &[SlowRequest] {
        &self.slowest[class.index()]
    }

    fn device(&mut self, id: DevId) -> Option<&mut DevicePictures> {
        if self.devices.len() >= MOST_DEVICES && !self.devices.contains_key(&id) {
            return None;
        }
        Some(self.devices.entry(id).or_default())
    }

    /// Counts a request or bio. `slow` is called only if it is among the slowest.
    fn completed(&mut self, c: Completed, slow: impl Fn() -> SlowRequest) {
        let why = || {
            let ledger = slow().ledger;
            main_reason(|reason| ledger.of_reason(reason))
        };
        let Some(device) = self.device(c.dev) else {
            self.left_out += 1;
            return;
        };
        device.classes[c.class.index()].at(c.at).record(c.latency, c.bytes.0, why);
        if let Some(writes) = writes(c.op) {
            device.extents.record(c.at, c.start, Who { task: c.task, writes });
        }
        let moment = self.slow[c.class.index()].at(c.at);
        if moment.wants(c.latency) {
            moment.add(slow());
        }
        let slowest = &mut self.slowest[c.class.index()];
        if slowest.len() < SLOWEST || slowest.last().is_some_and(|s| c.latency > s.total()) {
            let at = slowest.partition_point(|s| s.total() >= c.latency);
            slowest.insert(at, slow());
            slowest.truncate(SLOWEST);
        }
    }
}

/// A completed request, or a completed bio of a bio-based device.
struct Completed {
    dev: DevId,
    class: Class,
    op: Op,
    start: Sector,
    bytes: Bytes,
    task: u32,
    latency: Nanos,
    at: Nanos,
}

/// Whether an operation writes; `None` if it has no place on the device.
fn writes(op: Op) -> Option<bool> {
    match op {
        Op::Read => Some(false),
        Op::Write | Op::Discard => Some(true),
        Op::Flush | Op::Passthrough => None,
    }
}

impl IoObserver for Pictures {
    fn request(&mut self, r: &Request, names: &Names) {
        let task = self.tasks.number(r.task, names);
        let (latency, at) = (r.time.total(), r.time.completed);
        let (dev, class, op, start, bytes) = (r.dev, r.class(), r.op, r.start, r.bytes);
        let completed = Completed { dev, class, op, start, bytes, task, latency, at };
        self.completed(completed, || SlowRequest::request(r, task));
        if let Some((behind, device)) = Behind::of(r, names).zip(self.device(dev)) {
            let columns = &mut device.behind[behind as usize];
            columns.at(at).record(latency, bytes.0, || Reason::Unexplained);
            columns.over(r.time.start(), at, |m, part| {
                m.depth_ns = m.depth_ns.saturating_add(part.0);
            });
        }
    }

    fn bio(&mut self, b: &Bio, names: &Names) {
        if b.by_request {
            return;
        }
        let task = self.tasks.number(b.task, names);
        let (latency, at) = (b.time.total(), b.time.completed);
        let (dev, class, op, start, bytes) = (b.dev, b.class(), b.op, b.start, b.bytes);
        let completed = Completed { dev, class, op, start, bytes, task, latency, at };
        self.completed(completed, || SlowRequest::bio(b, task));
        // No event reports the depth of a bio-based device: each bio counts from its queueing on.
        if let Some(device) = self.device(dev) {
            device.classes[class.index()].over(b.time.start(), at, |m, part| {
                m.depth_ns = m.depth_ns.saturating_add(part.0);
            });
        }
    }

    fn in_flight(&mut self, dev: DevId, now: Nanos, in_flight: &ByClass<u32>) {
        let Some(device) = self.device(dev) else { return };
        let since = device.since;
        device.since = since.max(now);
        for (class, depth) in device.in_flight.iter().enumerate().filter(|(_, depth)| **depth > 0) {
            let depth = u64::from(*depth);
            device.classes[class].over(since, now, |moment, part| {
                moment.depth_ns = moment.depth_ns.saturating_add(part.0.saturating_mul(depth));
            });
        }
        device.in_flight = *in_flight;
    }
}

impl OperationObserver for Pictures {
    fn operation(&mut self, o: &Operation, account: Account, names: &Names, history: &History) {
        if !o.is_storage {
            return;
        }
        if o.kind.is_foreground() {
            let slowest = self.slow_operations.at(o.to);
            if slowest.wants(o.total()) {
                slowest.set(SampledOperation::new(*o, account.clone(), names, history));
            }
        }
        let key = OpKey { kind: o.kind, fs: o.fs, dev: o.dev };
        if self.operations.len() >= MOST_GROUPS && !self.operations.contains_key(&key) {
            self.left_out += 1;
            return;
        }
        let bytes = if o.moves_bytes() { u64::try_from(o.result).unwrap_or(0) } else { 0 };
        let columns = self.operations.entry(key).or_default();
        columns.at(o.to).record(o.total(), bytes, || main_reason(|reason| account.of(reason)));
        columns.over(o.from, o.to, |m, part| m.depth_ns = m.depth_ns.saturating_add(part.0));
    }

    fn outside(&mut self, _: &Outside) {}
}
