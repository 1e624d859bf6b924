//! Decides whether a task reads sequentially, whatever else reads in between.

use crate::note::Note;
use life::SEEK;
use trace::{Nanos, Sector};

/// The reads of one task on one device. Successive reads of a scan may be slightly apart: several processes scan one
/// table block by block, and each leaves out what is cached. A request that follows another and was queued before that one was
/// completed is a piece of the same read: the task had nothing of it yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reader {
    streams: [Stream; STREAMS],
    latest: usize,
    /// Where the next stream goes, in place of the one that began first.
    next: usize,
    reads: u64,
    followed: u64,
    taken_in_turn: u64,
}

/// How many files, or places in them, a task may read by turns and still be known to read each in order.
const STREAMS: usize = 8;

/// Reads that follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stream {
    end: Sector,
    /// When the first piece of the latest read was completed.
    first_completed: Nanos,
}

impl Default for Stream {
    /// Followed by no read.
    fn default() -> Stream {
        Stream { end: Sector(u64::MAX), first_completed: Nanos(0) }
    }
}

impl Stream {
    fn is_followed_by(&self, n: &Note) -> bool {
        n.start >= self.end && n.start.0 - self.end.0 <= SEEK
    }
}

impl Reader {
    /// Adds a completed read of the task.
    pub(crate) fn record(&mut self, n: &Note) {
        let is_next = self.streams[self.latest].is_followed_by(n);
        let known = || self.streams.iter().position(|stream| stream.is_followed_by(n));
        let known = if is_next { Some(self.latest) } else { known() };
        let at = known.unwrap_or(self.next);
        if known.is_none() {
            self.next = (at + 1) % STREAMS;
        }
        self.latest = at;
        let stream = &mut self.streams[at];
        stream.end = n.start.after(n.bytes);
        if known.is_some() && n.queued().is_some_and(|queued| queued < stream.first_completed) {
            return;
        }
        stream.first_completed = n.completed;
        self.reads += 1;
        self.followed += u64::from(is_next);
        self.taken_in_turn += u64::from(known.is_some() && !is_next);
    }

    /// Share of its reads that begin at the end of the one before, or shortly after it.
    pub fn in_order(&self) -> f64 {
        self.followed as f64 / self.reads.max(1) as f64
    }

    /// Share of its reads that continue not the one before but an earlier one: those of several files, each read in order.
    pub fn in_turn(&self) -> f64 {
        self.taken_in_turn as f64 / self.reads.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::Bytes;

    /// Random reads of 2 MiB each, cut in two.
    #[test]
    fn pieces_of_one_read_are_no_order() {
        let of = |next: u64| {
            let mut reader = Reader::default();
            for i in 0..10 {
                for piece in 0..2 {
                    let mut r = life::Request::default();
                    let start = Sector(i * next + piece * 2048);
                    (r.op, r.start, r.bytes) = (life::Op::Read, start, Bytes(1 << 20));
                    r.time.queued = Some(Nanos(1000 * i + piece));
                    r.time.completed = Nanos(1000 * i + 400 * (piece + 1));
                    reader.record(&Note::of(&r, 0));
                }
            }
            reader.in_order()
        };
        assert_eq!((of(900_000), of(4096)), (0.0, 0.9));
    }

    #[test]
    fn a_scan_is_in_order_and_a_search_is_not() {
        let read = |sector| {
            let mut r = life::Request::default();
            (r.op, r.start, r.bytes) = (life::Op::Read, Sector(sector), Bytes(8192));
            Note::of(&r, 0)
        };
        let of = |sectors: &[u64]| {
            let mut reader = Reader::default();
            sectors.iter().for_each(|sector| reader.record(&read(*sector)));
            reader.in_order()
        };
        assert_eq!(of(&[0, 16, 32, 64, 80]), 0.8, "one is left out");
        assert_eq!(of(&[0, 90_000, 16, 70_000]), 0.0);
        assert_eq!(of(&[64, 48, 32]), 0.0, "backward is no order that anybody reads ahead for");
    }

    #[test]
    fn files_are_read_in_turn_if_each_is_read_in_order() {
        let of = |files: u64| {
            let mut reader = Reader::default();
            for i in 0..100 {
                let mut r = life::Request::default();
                let start = Sector((i % files) * 1_000_000 + i / files * 256);
                (r.op, r.start, r.bytes) = (life::Op::Read, start, Bytes(256 * 512));
                reader.record(&Note::of(&r, 0));
            }
            [reader.in_order(), reader.in_turn()]
        };
        assert_eq!(of(1), [0.99, 0.0]);
        assert_eq!(of(4), [0.0, 0.96]);
        assert_eq!(of(9), [0.0, 0.0], "one more than it remembers");
    }
}
