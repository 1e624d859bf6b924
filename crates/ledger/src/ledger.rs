//! The ledger: an operation's time, split into segments that touch, never overlap, and sum to it exactly.
//!
//! Segments are cut at the timestamps of a request or bio, in the order of its steps. A missing timestamp cuts nothing: its time goes
//! to the segment before it. A timestamp earlier than the one before it (a clock that stepped back) is moved up to it, so the sum
//! stays exact for every input.

use crate::reason::Reason;
use life::{Bio, Busy, Lower, Timeline};
use serde::Serialize;
use smallvec::SmallVec;
use trace::Nanos;

/// A stretch of time with one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Segment {
    /// The activity or wait in this segment.
    pub reason: Reason,
    /// The beginning of the segment.
    pub from: Nanos,
    /// The end of the segment; the next segment begins here.
    pub to: Nanos,
}

impl Segment {
    /// The duration of the segment.
    pub fn length(&self) -> Nanos {
        self.to.since(self.from)
    }
}

/// The time of one operation, by reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ledger {
    /// The beginning of the operation.
    pub from: Nanos,
    /// The end of the operation.
    pub to: Nanos,
    /// The segments, in order. Empty ones are left out.
    pub segments: SmallVec<[Segment; 8]>,
}

impl Ledger {
    /// The ledger of a request, or of a bio that a request served.
    #[inline]
    pub fn of(t: &Timeline) -> Ledger {
        let mut l = Ledger::starting(t.start());
        l.until(t.got, Reason::GetRequest);
        if t.flushed {
            l.flush_sequence(t);
        } else {
            l.until(t.inserted.or(t.first_issued), Reason::Prepare);
            l.through_device(t);
        }
        l.close(t.completed);
        l
    }

    /// The ledger of a bio, also on a stacked device.
    #[inline]
    pub fn of_bio(bio: &Bio) -> Ledger {
        match &bio.lower {
            Some(lower) if !bio.by_request => Ledger::of_lower(&bio.time, lower),
            _ if bio.by_request => Ledger::of(&bio.time),
            _ => {
                let mut l = Ledger::starting(bio.time.start());
                l.until(Some(bio.time.completed), Reason::Unexplained);
                l
            }
        }
    }

    #[inline(never)]
    fn of_lower(t: &Timeline, lower: &Lower) -> Ledger {
        let mut l = Ledger::starting(t.start());
        for step in &lower.steps {
            let reason = match step.busy {
                Busy::Idle => Reason::Stacking,
                Busy::Reading => Reason::LowerRead,
                Busy::Writing => Reason::LowerWrite,
                Busy::Mixed => Reason::Unexplained,
            };
            l.until(Some(step.until.min(t.completed)), reason);
        }
        l.close(t.completed);
        l
    }

    /// The duration of the operation.
    pub fn total(&self) -> Nanos {
        self.to.since(self.from)
    }

    /// The sum of the segments with this reason.
    pub fn of_reason(&self, reason: Reason) -> Nanos {
        self.segments.iter().filter(|s| s.reason == reason).map(Segment::length).sum()
    }

    #[inline]
    fn starting(from: Nanos) -> Ledger {
        Ledger { from, to: from, segments: SmallVec::new() }
    }

    /// Adds a segment up to a timestamp, if the timestamp is known and time has passed.
    #[inline]
    fn until(&mut self, stamp: Option<Nanos>, reason: Reason) {
        let Some(to) = stamp.filter(|s| *s > self.to) else { return };
        let from = self.to;
        self.to = to;
        match self.segments.last_mut() {
            Some(last) if last.reason == reason => last.to = to,
            _ => self.segments.push(Segment { reason, from, to }),
        }
    }

    /// Adds the segments from the scheduler to the data's completion. A requeued request was in the device several times and waited in
    /// between; those waits are merged into one segment before the last issue.
    #[inline]
    fn through_device(&mut self, t: &Timeline) {
        self.until(t.first_issued, Reason::Scheduler);
        if t.requeues > 0 {
            if let (Some(first), Some(last)) = (t.first_issued, t.issued) {
                let given_back = last.since(first).0.saturating_sub(t.requeued.0);
                self.until(Some(first + Nanos(given_back)), Reason::Device);
                self.until(Some(last), Reason::Requeue);
            }
        }
        self.until(t.data_completed, Reason::Device);
    }

    /// Adds the segments of preflush, data and postflush (block/blk-flush.c), as far as they exist.
    #[inline(never)]
    fn flush_sequence(&mut self, t: &Timeline) {
        if let Some(flush) = t.preflush {
            self.until(Some(flush.issued), Reason::FlushQueue);
            self.until(Some(flush.completed), Reason::Preflush);
        }
        if t.first_issued.is_some() {
            self.until(t.inserted, Reason::Prepare);
            let before_data = if t.preflush.is_some() { Reason::FlushQueue } else { Reason::Prepare };
            self.until(if t.inserted.is_none() { t.first_issued } else { None }, before_data);
            self.through_device(t);
        }
        if let Some(flush) = t.postflush {
            self.until(Some(flush.issued), Reason::FlushQueue);
            self.until(Some(flush.completed), Reason::Postflush);
        }
    }

    /// Adds the rest up to the end. If only the end is known, there is no segment.
    #[inline]
    fn close(&mut self, end: Nanos) {
        let seen_device = self.segments.iter().any(|s| s.reason != Reason::GetRequest);
        let rest = if seen_device { Reason::Completion } else { Reason::Unexplained };
        self.until(Some(end), rest);
        self.to = self.to.max(end);
    }
}
