//! Iterates over the records of all CPUs in time order.
//!
//! A record borrows from the page that holds it: nothing is copied or allocated per record.
//! The stream of the current record stays current while it is the earliest, so a run
//! of records from one CPU costs one comparison each. Records of the same time come in order of the CPUs.

use super::bytes::Order;
use super::clock::Clock;
use super::contents::Region;
use super::format::{EventFormat, Formats, Slot};
use super::stream::Stream;
use crate::error::Error;
use crate::quality::Quality;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use units::{Cpu, DevId, Nanos, Tid};

/// Limit in bytes on the unpacked size of all current compressed chunks together.
const CHUNKS: usize = 512 << 20;

/// A record of any event, not yet parsed.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Timestamp in nanoseconds of the trace's clock.
    pub time: Nanos,
    /// The CPU that recorded it.
    pub cpu: Cpu,
    /// The thread that was running.
    pub tid: Tid,
    /// `common_flags`: whether the CPU was in an interrupt.
    pub flags: u8,
    /// The tracing instance, as an index into [`Facts::buffers`](super::Facts::buffers).
    pub buffer: u16,
    /// The event, as an index into [`Formats::events`].
    pub index: usize,
    /// The layout of the event.
    pub event: &'a EventFormat,
    /// The bytes of the record, starting with the `common_type` field.
    pub data: &'a [u8],
    /// The byte order of integers in `data`.
    pub order: Order,
}

impl<'a> Record<'a> {
    /// An integer field, found once with [`EventFormat::slot`].
    #[inline]
    pub fn int(&self, slot: Slot) -> u64 {
        slot.int(self.order, self.data)
    }

    /// The bytes of an array field.
    #[inline]
    pub fn bytes(&self, slot: Slot) -> &'a [u8] {
        slot.bytes(self.order, self.data)
    }

    /// The text of a character array, without its NUL.
    #[inline]
    pub fn text(&self, slot: Slot) -> &'a [u8] {
        slot.text(self.order, self.data)
    }
}

/// The next item of a trace.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A record of an event.
    Record(Record<'a>),
    /// Records of this CPU are missing before the next one.
    Lost {
        /// Time of the first record after the gap.
        time: Nanos,
        /// The CPU that lost records.
        cpu: Cpu,
        /// Number of lost records; 1 if the kernel did not say.
        count: u64,
    },
}

/// An iterator over a trace.
#[derive(Debug)]
pub struct Cursor {
    formats: Arc<Formats>,
    order: Order,
    clock: Clock,
    streams: Vec<Stream>,
    /// Time and index of streams that wait; ended streams are removed.
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
    /// The stream of the last returned record.
    current: Option<usize>,
    /// Losses in `current` to return before its record; 0 if there are none.
    lost: u64,
    /// Index in `formats` of the event of `current`'s record.
    index: usize,
    latest: u64,
    counts: Vec<u64>,
    quality: Quality,
}

impl Cursor {
    /// Starts at the first record of all regions.
    pub fn new(
        formats: Arc<Formats>,
        order: Order,
        clock: Clock,
        regions: Vec<Region>,
    ) -> Result<Cursor, Error> {
        let each = CHUNKS / regions.len().max(1);
        let mut streams = Vec::with_capacity(regions.len());
        for region in regions {
            if region.layout.size > each {
                let what = format!("pages of {} bytes for so many CPUs", region.layout.size);
                return Err(region.input.malformed(region.offset, what));
            }
            streams.push(Stream::new(region, each));
        }
        let counts = vec![0; formats.events().len()];
        let mut cursor = Cursor {
            formats,
            order,
            clock,
            streams,
            waiting: BinaryHeap::new(),
            current: None,
            lost: 0,
            index: 0,
            latest: 0,
            counts,
            quality: Quality::default(),
        };
        for i in 0..cursor.streams.len() {
            if cursor.streams[i].advance()? {
                cursor.waiting.push(Reverse((cursor.streams[i].time(), i)));
            } else {
                cursor.lost_at_end(i);
                cursor.quality.files_missing |= cursor.streams[i].is_cut();
            }
        }
        Ok(cursor)
    }

    /// Records that the pages of some CPU are missing.
    pub fn lacks_a_cpu(&mut self) {
        self.quality.files_missing = true;
    }

    /// The next record or loss; `None` at the end.
    #[inline]
    pub fn step(&mut self) -> Result<Option<Step<'_>>, Error> {
        loop {
            if self.lost > 0 {
                self.lost = 0;
            } else if !self.advance()? {
                return Ok(None);
            } else if self.find_loss() {
                break;
            }
            let Some(i) = self.current else { return Ok(None) };
            let stream = &self.streams[i];
            let time = stream.time();
            if time < self.latest {
                self.quality.out_of_order += 1;
            }
            self.latest = self.latest.max(time);
            match self.formats.index_of(self.order, stream.data()) {
                Ok(index) => {
                    self.index = index;
                    self.counts[index] += 1;
                    break;
                }
                Err(_) => self.quality.unknown += 1,
            }
        }
        Ok(self.at())
    }

    /// The item at the current position; `None` at the end.
    #[inline]
    fn at(&self) -> Option<Step<'_>> {
        let stream = &self.streams[self.current?];
        let (time, cpu) = (self.clock.nanos(stream.time()), stream.cpu());
        if self.lost > 0 {
            return Some(Step::Lost { time, cpu, count: self.lost });
        }
        let data = stream.data();
        Some(Step::Record(Record {
            time,
            cpu,
            tid: Tid(self.formats.tid(self.order, data)),
            flags: self.formats.flags(self.order, data),
            buffer: stream.buffer(),
            index: self.index,
            event: self.formats.events().get(self.index)?,
            data,
            order: self.order,
        }))
    }

    /// Advances to the next record of any stream.
    #[inline]
    fn advance(&mut self) -> Result<bool, Error> {
        if let Some(i) = self.current {
            if self.streams[i].advance()? {
                let time = self.streams[i].time();
                match self.waiting.peek() {
                    Some(&Reverse(first)) if first < (time, i) => self.waiting.push(Reverse((time, i))),
                    _ => return Ok(true),
                }
            } else {
                self.lost_at_end(i);
                // Stop here: later I/O of other CPUs would seem to have no start or no end.
                if self.streams[i].is_cut() {
                    self.waiting.clear();
                }
            }
        }
        self.current = self.waiting.pop().map(|Reverse((_, i))| i);
        Ok(self.current.is_some())
    }

    /// Whether records were lost before the current one.
    #[inline]
    fn find_loss(&mut self) -> bool {
        let Some(i) = self.current else { return false };
        let stream = &mut self.streams[i];
        self.lost = stream.take_lost();
        if self.lost > 0 {
            self.quality.lose(DevId(0), stream.cpu(), self.clock.nanos(stream.time()), self.lost);
        }
        self.lost > 0
    }

    /// Counts losses after the last record: a page that reports a loss but has no records precedes none.
    fn lost_at_end(&mut self, i: usize) {
        let (stream, clock) = (&mut self.streams[i], self.clock);
        let count = stream.take_lost();
        if count > 0 {
            self.quality.lose(DevId(0), stream.cpu(), clock.nanos(stream.time()), count);
        }
    }

    /// Bytes of the file consumed so far.
    pub fn position(&self) -> u64 {
        self.streams.iter().map(Stream::position).sum()
    }

    /// Total bytes of all CPUs' pages.
    pub fn size(&self) -> u64 {
        self.streams.iter().map(Stream::size).sum()
    }

    /// The layouts of all events.
    pub fn formats(&self) -> &Arc<Formats> {
        &self.formats
    }

    /// Events seen so far, each with its number of records.
    pub fn counts(&self) -> impl Iterator<Item = (&EventFormat, u64)> {
        self.formats.events().iter().zip(self.counts.iter().copied()).filter(|(_, n)| *n > 0)
    }

    /// Counts so far of what was lost, damaged or unknown.
    pub fn quality(&self) -> Quality {
        let mut q = self.quality.clone();
        for (index, what) in self.formats.broken() {
            q.unknown += self.counts[index];
            q.note(what);
        }
        for s in &self.streams {
            q.damaged_bytes += s.damage.bytes;
            q.cut_records += s.damage.cut;
            q.clock_steps += s.damage.clock_steps;
            if let Some(note) = &s.damage.note {
                q.note(note.clone());
            }
        }
        q
    }
}
