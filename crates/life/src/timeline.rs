//! When an I/O passed each step. Everything about its time is derived from these timestamps.

use device::{largest_remainder, Behind, Split};
use serde::Serialize;
use trace::Nanos;

/// A flush of the device's cache that an I/O waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlushWait {
    /// Before it: whose data between two flushes it had to wait for, until the flush's turn came.
    pub queued: Behind,
    /// When the flush was issued.
    pub issued: Nanos,
    /// When it was completed.
    pub completed: Nanos,
    /// The part of it in which the device completed nothing, for longer than a flush explains.
    pub paused: Nanos,
    /// The part of it behind its heaviest culprits.
    pub behind: Behind,
    /// The part of it behind those next to them.
    pub second: Behind,
    /// The part of it behind all others.
    pub others: Nanos,
}

/// The parts of a stretch in which a flush passed: they sum to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flushed {
    /// The device completed nothing.
    pub paused: Nanos,
    /// Behind the heaviest two.
    pub behind: [Behind; 2],
    /// Behind all others.
    pub others: Nanos,
    /// The flush itself.
    pub own: Nanos,
}

impl FlushWait {
    /// A flush whose time in the device was split so. Of one whose own service is not known all is the flush's.
    pub fn new(issued: Nanos, completed: Nanos, split: &Split) -> FlushWait {
        let flush = FlushWait { issued, completed, ..FlushWait::default() };
        let [behind, second, rest @ ..] = split.behind;
        let others = split.others + rest.iter().map(|b| b.time).sum();
        match split.known {
            true => FlushWait { paused: split.paused, behind, second, others, ..flush },
            false => flush,
        }
    }

    /// The last part of it, in so long a stretch.
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

/// The steps of one request, or of one bio in the request that served it.
///
/// A timestamp is `None` where the step was not seen: the recording began later, the event was lost, or the
/// kernel has no such step (no scheduler: no insert).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timeline {
    /// `Q`: the (first) bio entered the block layer.
    pub queued: Option<Nanos>,
    /// `G`: a request was there; for a merged bio `M`: it had joined one.
    pub got: Option<Nanos>,
    /// `I`: into the scheduler.
    pub inserted: Option<Nanos>,
    /// The first `D`.
    pub first_issued: Option<Nanos>,
    /// The last `D`; later than the first where the driver requeued the request.
    pub issued: Option<Nanos>,
    /// `C` of the data (of everything, where there is no flush).
    pub data_completed: Option<Nanos>,
    /// The end.
    pub completed: Nanos,
    /// How often the driver requeued it.
    pub requeues: u32,
    /// How often of these it had been there for so long that the kernel must have aborted it.
    pub given_up: u32,
    /// Time between requeue and reissue.
    pub requeued: Nanos,
    /// Flush before the data (`REQ_PREFLUSH`), or the flush itself where there is no data.
    pub preflush: Option<FlushWait>,
    /// Flush after the data (`REQ_FUA` on a device that has no FUA).
    pub postflush: Option<FlushWait>,
    /// Whether it went through the kernel's flush machinery (block/blk-flush.c).
    pub flushed: bool,
}

impl Timeline {
    /// From the first stamp that was seen to the end.
    pub fn total(&self) -> Nanos {
        self.completed.since(self.start())
    }

    /// The first stamp that was seen.
    pub fn start(&self) -> Nanos {
        self.queued.or(self.got).or(self.inserted).or(self.first_issued).unwrap_or(self.completed)
    }

    /// `Q2G`: until it had a request (or had joined one).
    pub fn q2g(&self) -> Option<Nanos> {
        Some(self.got?.since(self.queued?))
    }

    /// `G2I`: until the scheduler had it; where there is no scheduler, until it was issued.
    pub fn g2i(&self) -> Option<Nanos> {
        Some(self.inserted.or(self.first_issued)?.since(self.got?))
    }

    /// `I2D`: in the scheduler, until first issued.
    pub fn i2d(&self) -> Option<Nanos> {
        Some(self.first_issued?.since(self.inserted?))
    }

    /// `D2C`: in the device, from the last issue to the data's completion.
    pub fn d2c(&self) -> Option<Nanos> {
        Some(self.data_completed?.since(self.issued?))
    }

    /// `Q2C`: all of it.
    pub fn q2c(&self) -> Option<Nanos> {
        Some(self.completed.since(self.queued?))
    }
}
