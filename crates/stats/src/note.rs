//! What is counted of a completed request, as small as possible: passing data from one CPU to another is expensive by the byte.

use life::{ByClass, Class, Op, Request};
use trace::{Bytes, Cpu, DevId, Flags, Nanos, Sector};

/// A completed request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note {
    pub start: Sector,
    pub bytes: Bytes,
    queued: Stamp,
    got: Stamp,
    inserted: Stamp,
    first_issued: Stamp,
    issued: Stamp,
    data_completed: Stamp,
    pub completed: Nanos,
    pub beside_bytes: Bytes,
    pub late: Nanos,
    pub dev: DevId,
    pub flags: Flags,
    pub task: u32,
    pub complete_cpu: Cpu,
    pub merges: u32,
    pub requeues: u32,
    pub given_up: u32,
    pub beside: ByClass<u32>,
    /// Background writes issued while it was in the scheduler.
    pub overtaken: u32,
    pub failed: bool,
    pub op: Op,
    /// Whether it carried exactly one whole bio.
    pub whole: bool,
    pub into_flood: bool,
    /// Whether discards or passthrough commands were completed while it was in the device.
    pub met_other: bool,
}

/// A timestamp that may be missing.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stamp(u64);

const NEVER: Stamp = Stamp(u64::MAX);

impl Stamp {
    #[inline]
    fn of(at: Option<Nanos>) -> Stamp {
        at.map_or(NEVER, |at| Stamp(at.0))
    }

    #[inline]
    fn seen(self) -> Option<Nanos> {
        (self != NEVER).then_some(Nanos(self.0))
    }
}

impl Note {
    /// When its first bio was queued; `None` if that was not seen.
    #[inline]
    pub fn queued(&self) -> Option<Nanos> {
        self.queued.seen()
    }

    /// The note of a request; `task` is its number in [`Tasks`](crate::Tasks).
    #[inline]
    pub fn of(r: &Request, task: u32) -> Note {
        let t = &r.time;
        Note {
            start: r.start,
            bytes: r.bytes,
            queued: Stamp::of(t.queued),
            got: Stamp::of(t.got),
            inserted: Stamp::of(t.inserted),
            first_issued: Stamp::of(t.first_issued),
            issued: Stamp::of(t.issued),
            data_completed: Stamp::of(t.data_completed),
            completed: t.completed,
            beside_bytes: r.contention.beside_bytes,
            late: r.contention.late,
            dev: r.dev,
            flags: r.flags,
            task,
            complete_cpu: r.complete_cpu,
            merges: r.merges,
            requeues: t.requeues,
            given_up: t.given_up,
            beside: r.contention.beside,
            overtaken: r.contention.overtaken_by[Class::Background.index()],
            failed: r.failed(),
            op: r.op,
            whole: r.bios == 1 && !r.split,
            into_flood: r.contention.into_flood,
            met_other: r.contention.served[Class::Other.index()] > 0,
        }
    }

    /// The class by which contention is counted.
    #[inline]
    pub fn class(&self) -> Class {
        Class::of(self.op, self.flags)
    }

    /// Number of other requests in the device when it was issued.
    #[inline]
    pub fn ahead(&self) -> u64 {
        self.beside.iter().map(|n| u64::from(*n)).sum()
    }

    /// When it was inserted into the scheduler.
    #[inline]
    pub fn inserted(&self) -> Option<Nanos> {
        self.inserted.seen()
    }

    /// When it was first issued.
    #[inline]
    pub fn first_issued(&self) -> Option<Nanos> {
        self.first_issued.seen()
    }

    /// When its data was completed.
    #[inline]
    pub fn data_completed(&self) -> Option<Nanos> {
        self.data_completed.seen()
    }

    /// Time until it had a request.
    #[inline]
    pub fn q2g(&self) -> Option<Nanos> {
        Some(self.got.seen()?.since(self.queued.seen()?))
    }

    /// Time until the scheduler had it; without a scheduler, until it was issued.
    #[inline]
    pub fn g2i(&self) -> Option<Nanos> {
        Some(self.inserted().or(self.first_issued())?.since(self.got.seen()?))
    }

    /// Time in the scheduler.
    #[inline]
    pub fn i2d(&self) -> Option<Nanos> {
        Some(self.first_issued()?.since(self.inserted()?))
    }

    /// Time in the device.
    #[inline]
    pub fn d2c(&self) -> Option<Nanos> {
        Some(self.data_completed()?.since(self.issued.seen()?))
    }

    /// Time from queue to completion.
    #[inline]
    pub fn q2c(&self) -> Option<Nanos> {
        Some(self.completed.since(self.queued.seen()?))
    }

    /// Time from the first known timestamp to the end.
    #[inline]
    pub fn total(&self) -> Nanos {
        let first =
            [self.queued, self.got, self.inserted, self.first_issued].into_iter().find(|s| *s != NEVER);
        first.map_or(Nanos(0), |first| self.completed.since(Nanos(first.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_a_third_of_a_request() {
        assert!(3 * size_of::<Note>() <= size_of::<Request>());
    }

    #[test]
    fn a_note_tells_the_same_times() {
        let stamps = [None, Some(Nanos(3)), Some(Nanos(70))];
        let choose = |number: usize, place: u32| stamps[number / 3usize.pow(place) % 3];
        for number in 0..3usize.pow(6) {
            let mut r = Request { bios: 1, ..Request::default() };
            let t = &mut r.time;
            (t.queued, t.got, t.inserted) = (choose(number, 0), choose(number, 1), choose(number, 2));
            (t.first_issued, t.issued) = (choose(number, 3), choose(number, 4));
            (t.data_completed, t.completed) = (choose(number, 5), Nanos(90));
            let n = Note::of(&r, 7);
            let t = &r.time;
            assert_eq!((n.q2g(), n.g2i(), n.i2d()), (t.q2g(), t.g2i(), t.i2d()));
            assert_eq!((n.d2c(), n.q2c(), n.total()), (t.d2c(), t.q2c(), t.total()));
        }
    }
}
