//! The tail: the slowest operations of some victims and where their time went, computed from the table of waits.

use ledger::{Reason, RollUp};
use life::{Io, Op};
use serde::Serialize;
use trace::{Bytes, Nanos};
use waits::{CulpritKind, Link, Phase, Selection, Table, VictimId};

/// The share of operations that is called the tail: the slowest 1 %, or more if a single one would be most of that
/// ([`Table::slowest_of`]).
pub const TAIL_SHARE: f64 = 0.01;

/// Time of some operations, by reason and by other facts of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TailTime {
    /// Time by reason.
    pub time: RollUp,
    /// Part of `device` behind background writes.
    pub flooded: Nanos,
    /// Part of `scheduler` in which background writes were dispatched.
    pub overtaken: Nanos,
    /// Part of `scheduler` in which the driver took nothing (after a requeue).
    pub refused: Nanos,
    /// Part of `get request` in which all tags were taken.
    pub full: Nanos,
    /// Part of `device` behind other requests.
    pub behind: Nanos,
    /// Part of `behind` that is behind other requests of the same task.
    pub own_queue: Nanos,
    /// Part of `device` in which nothing was completed.
    pub paused: Nanos,
    /// Part of `device` that is within the variation of such requests when alone.
    pub varied: Nanos,
    /// Part of `device` of operations that were split into several requests.
    pub split_device: Nanos,
    /// Part of `device` of writes that are not whole blocks.
    pub unaligned: Nanos,
    /// Part of `device` in which the device was done, but no CPU had processed the completion yet.
    pub late: Nanos,
    /// Number of operations that were split, of all operations.
    pub split: u64,
    /// Number of their pieces.
    pub pieces: u64,
    /// Bytes of these operations.
    pub split_bytes: Bytes,
}

impl TailTime {
    /// Time of the operations of some victims in a selection.
    pub fn of(table: &Table, victims: &[VictimId], which: Selection) -> TailTime {
        let mut sum = TailTime::default();
        for victim in victims {
            let (operations, total) = table.selected(*victim, which);
            sum.time.operations += operations;
            sum.time.total += total;
            for row in table.rows_of(*victim, which) {
                sum.add(table, &row);
            }
            let cut = table.of(*victim).1.cut;
            sum.split += cut.ops;
            sum.pieces += cut.pieces;
            sum.split_bytes += Bytes(cut.bytes);
        }
        sum
    }

    fn add(&mut self, table: &Table, row: &waits::Row) {
        let (time, phase) = (row.time, table.phase(row.chain));
        let culprit = table.culprit_of(row.culprit);
        let reason = phase.map_or(Reason::Unexplained, Phase::reason);
        self.time.spend(reason, time);
        let background = culprit.io == Some(Io::BackgroundWrite);
        match phase {
            Some(Phase::Behind) => {
                self.behind += time;
                self.flooded += if background { time } else { Nanos(0) };
                self.own_queue += if culprit.kind == CulpritKind::Own { time } else { Nanos(0) };
            }
            Some(Phase::Paused) => self.paused += time,
            Some(Phase::Varies) => self.varied += time,
            Some(Phase::Late) => self.late += time,
            Some(Phase::Refused) => self.refused += time,
            Some(Phase::NoTag) => self.full += time,
            Some(Phase::Reason(Reason::Scheduler)) if background => self.overtaken += time,
            _ => {}
        }
        if reason == Reason::Device {
            let request = table.links(row.chain).into_iter().rev().find_map(|link| match link {
                Link::Request(op, cut, ragged) if op != Op::Flush => Some((cut, ragged)),
                _ => None,
            });
            let (cut, ragged) = request.unwrap_or_default();
            self.split_device += if cut { time } else { Nanos(0) };
            self.unaligned += if ragged { time } else { Nanos(0) };
        }
    }

    /// Adds the times of others.
    pub fn merge(&mut self, o: &TailTime) {
        self.time.merge(&o.time);
        self.flooded += o.flooded;
        self.overtaken += o.overtaken;
        self.refused += o.refused;
        self.full += o.full;
        self.behind += o.behind;
        self.own_queue += o.own_queue;
        self.paused += o.paused;
        self.varied += o.varied;
        self.split_device += o.split_device;
        self.unaligned += o.unaligned;
        self.late += o.late;
        self.split += o.split;
        self.pieces += o.pieces;
        self.split_bytes += o.split_bytes;
    }
}

/// The slowest operations of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Slowest {
    /// Lower bound of the slowest 1 %, rounded down to a bucket: what "slow" is judged by.
    pub p99: Nanos,
    /// Lower bound of the tail: the slowest 1 %, or more ([`Table::slowest_of`]).
    pub threshold: Nanos,
    /// Time of the operations in the tail.
    pub sum: TailTime,
}

impl Slowest {
    /// The slowest operations of some victims, in whole buckets.
    pub fn of(table: &Table, victims: &[VictimId]) -> Slowest {
        let (which, _) = table.slowest_of(victims, TAIL_SHARE);
        Slowest {
            p99: table.slowest_from(victims, TAIL_SHARE).lower(),
            threshold: which.from.lower(),
            sum: TailTime::of(table, victims, which),
        }
    }
}
