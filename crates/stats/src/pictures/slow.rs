//! The slowest requests of each moment: so that whatever stretch of time is asked for, its slowest are known.

use crate::series::Cell;
use ledger::Ledger;
use life::{Bio, Class, Contention, Op, Request, Timeline};
use trace::{Bytes, DevId, Nanos, Sector, Tid};

/// How many are kept of each column.
const OF_A_COLUMN: usize = 2;

/// A slow request; of a bio-based device a bio.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowRequest {
    /// Where.
    pub dev: DevId,
    /// The operation.
    pub op: Op,
    /// The class it competed in.
    pub class: Class,
    /// Where it started.
    pub start: Sector,
    /// How much it moved.
    pub bytes: Bytes,
    /// Whose.
    pub tid: Tid,
    /// A number of [`Tasks`](crate::Tasks).
    pub task: u32,
    /// Its steps.
    pub time: Timeline,
    /// Where its time went.
    pub ledger: Ledger,
    /// Who else was there.
    pub contention: Contention,
}

impl SlowRequest {
    /// Of a request.
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

    /// Of a bio.
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

    /// How long it took.
    pub fn total(&self) -> Nanos {
        self.ledger.total()
    }

    /// The slower one first; of equals the earlier one.
    fn order(&self) -> impl Ord {
        (std::cmp::Reverse(self.total()), self.time.completed, self.start, self.dev, self.tid)
    }
}

/// The slowest that were completed in a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlowMoment {
    kept: Vec<SlowRequest>,
}

impl SlowMoment {
    /// Whether one that took so long is among them.
    #[inline]
    pub fn wants(&self, total: Nanos) -> bool {
        self.kept.len() < OF_A_COLUMN || self.kept.last().is_some_and(|least| total >= least.total())
    }

    /// Adds one; the fastest goes if there are too many.
    pub fn add(&mut self, slow: SlowRequest) {
        let at = self.kept.partition_point(|k| k.order() <= slow.order());
        self.kept.insert(at, slow);
        self.kept.truncate(OF_A_COLUMN);
    }

    /// The slowest first.
    pub fn all(&self) -> &[SlowRequest] {
        &self.kept
    }
}

impl Cell for SlowMoment {
    fn merge(&mut self, other: &Self) {
        other.kept.iter().for_each(|slow| self.add(slow.clone()));
    }
}
