//! Timestamps of each step of an I/O. All its durations are derived from them.

use device::{largest_remainder, Behind, Split};
use serde::Serialize;
use trace::Nanos;

/// A flush of the device's cache that an I/O waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlushWait {
    /// Time before the issue, waiting for another write's data between two flushes, and whose data that was.
    pub queued: Behind,
    /// When the flush was issued.
    pub issued: Nanos,
    /// When the flush was completed.
    pub completed: Nanos,
    /// Time during the flush in which the device completed nothing, longer than a flush explains.
    pub paused: Nanos,
    /// Time during the flush behind the interfering task with the largest share.
    pub behind: Behind,
    /// Time during the flush behind the task with the second largest share.
    pub second: Behind,
    /// Time during the flush behind all other tasks.
    pub others: Nanos,
}

/// Time of a flush wait, split into parts that sum to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flushed {
    /// Time in which the device completed nothing.
    pub paused: Nanos,
    /// Time behind the two interfering tasks with the largest shares.
    pub behind: [Behind; 2],
    /// Time behind all other tasks.
    pub others: Nanos,
    /// Time of the flush itself.
    pub own: Nanos,
}

impl FlushWait {
    /// A flush with its time in the device split. If its own service time is unknown, all of it is the flush's own, except a pause.
    pub fn new(issued: Nanos, completed: Nanos, split: &Split) -> FlushWait {
        let flush = FlushWait { issued, completed, ..FlushWait::default() };
        let [behind, second, rest @ ..] = split.behind;
        let others = split.others + rest.iter().map(|b| b.time).sum();
        match split.known {
            true => FlushWait { paused: split.paused, behind, second, others, ..flush },
            false => FlushWait { paused: split.paused, ..flush },
        }
    }

    /// Splits the last `length` of the flush. The flush's own time comes last.
    pub fn last(&self, length: Nanos) -> Flushed {
        let whole = self.completed.since(self.issued);
        let before = [self.paused, self.behind.time, self.second.time, self.others];
        let own = whole.since(before.into_iter().sum());
        let parts = largest_remainder(length.since(own), &before.map(|part| part.0));
        Flushed {
            paused: parts[0],
            behind: [Behind { time: parts[1], ..self.behind }, Behind { time: parts[2], ..self.second }],
            others: parts[3],
            own: length.min(own),
        }
    }
}

/// Timestamps of one request, or of one bio in the request that served it.
///
/// A timestamp is `None` if the step was not seen: the recording began later, the event was lost, or the kernel has no
/// such step (no insert without a scheduler).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timeline {
    /// `Q`: the (first) bio entered the block layer.
    pub queued: Option<Nanos>,
    /// `G`: it got a request; for a merged bio `M`: it joined one.
    pub got: Option<Nanos>,
    /// `I`: it was inserted into the scheduler.
    pub inserted: Option<Nanos>,
    /// The first `D`.
    pub first_issued: Option<Nanos>,
    /// The last `D`; later than the first if the driver requeued the request.
    pub issued: Option<Nanos>,
    /// `C` of the data; without flushes the same as `completed`.
    pub data_completed: Option<Nanos>,
    /// Time of the end, including a flush after the data.
    pub completed: Nanos,
    /// Number of times that the driver requeued it.
    pub requeues: u32,
    /// Number of these requeues that came so late after the issue that the kernel must have aborted the request.
    pub given_up: u32,
    /// Total time from each requeue to the next issue.
    pub requeued: Nanos,
    /// Flush before the data (`REQ_PREFLUSH`), or the flush itself if there is no data.
    pub preflush: Option<FlushWait>,
    /// Flush after the data (`REQ_FUA` on a device without FUA).
    pub postflush: Option<FlushWait>,
    /// Whether it went through the kernel's flush machinery (block/blk-flush.c).
    pub flushed: bool,
}

impl Timeline {
    /// Time from the first known timestamp to the end.
    pub fn total(&self) -> Nanos {
        self.completed.since(self.start())
    }

    /// The first known timestamp.
    pub fn start(&self) -> Nanos {
        self.queued.or(self.got).or(self.inserted).or(self.first_issued).unwrap_or(self.completed)
    }

    /// `Q2G`: time until it had a request (or had joined one).
    pub fn q2g(&self) -> Option<Nanos> {
        Some(self.got?.since(self.queued?))
    }

    /// `G2I`: time until the scheduler had it, or without a scheduler until it was issued.
    pub fn g2i(&self) -> Option<Nanos> {
        Some(self.inserted.or(self.first_issued)?.since(self.got?))
    }

    /// `I2D`: time in the scheduler until first issued.
    pub fn i2d(&self) -> Option<Nanos> {
        Some(self.first_issued?.since(self.inserted?))
    }

    /// `D2C`: time in the device, from the last issue to the data's completion.
    pub fn d2c(&self) -> Option<Nanos> {
        Some(self.data_completed?.since(self.issued?))
    }

    /// `Q2C`: time from queue to completion.
    pub fn q2c(&self) -> Option<Nanos> {
        Some(self.completed.since(self.queued?))
    }
}
