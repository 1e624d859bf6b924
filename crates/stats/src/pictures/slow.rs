//! The slowest requests of each column, so that the slowest of any selected time are known.

use crate::series::Cell;
use ledger::Ledger;
use life::{Bio, Class, Contention, Op, Request, Timeline};
use trace::{Bytes, DevId, Nanos, Sector, Tid};

/// Number of requests kept for each column.
const OF_A_COLUMN: usize = 2;

/// A slow request, or a slow bio of a bio-based device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowRequest {
    /// Its device.
    pub dev: DevId,
    /// Read, write, flush and so on.
    pub op: Op,
    /// The class by which contention is counted.
    pub class: Class,
    /// First sector.
    pub start: Sector,
    /// Bytes moved.
    pub bytes: Bytes,
    /// The task that queued it.
    pub tid: Tid,
    /// Number of the task's name in [`Tasks`](crate::Tasks).
    pub task: u32,
    /// Timestamps of its steps.
    pub time: Timeline,
    /// Its time, divided by reason.
    pub ledger: Ledger,
    /// What else was in the device.
    pub contention: Contention,
}

impl SlowRequest {
    /// A slow request.
    pub fn request(r: &Request, task: u32) -> SlowRequest {
        SlowRequest {
            dev: r.dev,
            op: r.op,
            class: r.class(),
            start: r.start,
            bytes: r.bytes,
            tid: r.tid,
            task,
            time: r.time,
            ledger: Ledger::of(&r.time),
            contention: r.contention,
        }
    }

    /// A slow bio.
    pub fn bio(b: &Bio, task: u32) -> SlowRequest {
        SlowRequest {
            dev: b.dev,
            op: b.op,
            class: b.class(),
            start: b.start,
            bytes: b.bytes,
            tid: b.tid,
            task,
            time: b.time,
            ledger: Ledger::of_bio(b),
            contention: b.contention,
        }
    }

    /// Its total time.
    pub fn total(&self) -> Nanos {
        self.ledger.total()
    }

    /// Sort key: the slower one first; among equal ones the earlier one.
    fn order(&self) -> impl Ord {
        (std::cmp::Reverse(self.total()), self.time.completed, self.start, self.dev, self.tid)
    }
}

/// The slowest requests that were completed in a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlowMoment {
    kept: Vec<SlowRequest>,
}

impl SlowMoment {
    /// Whether a request of this duration is among the slowest.
    #[inline]
    pub fn wants(&self, total: Nanos) -> bool {
        self.kept.len() < OF_A_COLUMN || self.kept.last().is_some_and(|least| total >= least.total())
    }

    /// Adds a request. If there are too many, the fastest is removed.
    pub fn add(&mut self, slow: SlowRequest) {
        let at = self.kept.partition_point(|k| k.order() <= slow.order());
        self.kept.insert(at, slow);
        self.kept.truncate(OF_A_COLUMN);
    }

    /// The requests kept, the slowest first.
    pub fn all(&self) -> &[SlowRequest] {
        &self.kept
    }
}

impl Cell for SlowMoment {
    fn merge(&mut self, other: &Self) {
        other.kept.iter().for_each(|slow| self.add(slow.clone()));
    }
}
