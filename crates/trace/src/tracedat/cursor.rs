//! All records of all CPUs in order of time, one at a time.
//!
//! The record that comes out borrows the page it lies in: nothing is copied and nothing is allocated per record.
//! The stream whose record is out is kept aside together with the time at which another one takes over, so a run
//! of records from one CPU costs one comparison each. Records of the same time come in order of the CPUs.

use super::bytes::Order;
use super::clock::Clock;
use super::file::Region;
use super::format::{EventFormat, Formats, Slot};
use super::stream::Stream;
use crate::error::Error;
use crate::quality::Quality;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use units::{Cpu, DevId, Nanos, Tid};

/// What all current compressed chunks together may unpack to.
const CHUNKS: usize = 512 << 20;

/// Any event, not yet taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// When, in nanoseconds of the trace's clock.
    pub time: Nanos,
    /// On which CPU.
    pub cpu: Cpu,
    /// The thread that ran.
    pub tid: Tid,
    /// `common_flags`: whether it was interrupted.
    pub flags: u8,
    /// The tracing instance, as an index into [`Facts::buffers`](super::Facts::buffers).
    pub buffer: u16,
    /// Which event, as an index into [`Formats::events`].
    pub index: usize,
    /// Its layout.
    pub event: &'a EventFormat,
    /// Its bytes, from the `common_type` field on.
    pub data: &'a [u8],
    /// The byte order of the integers in it.
    pub order: Order,
}

impl<'a> Record<'a> {
    /// An integer field, looked up once with [`EventFormat::slot`].
    #[inline]
    pub fn int(&self, slot: Slot) -> u64 {
        slot.int(self.order, self.data)
    }

    /// An array's bytes.
    #[inline]
    pub fn bytes(&self, slot: Slot) -> &'a [u8] {
        slot.bytes(self.order, self.data)
    }

    /// A text field.
    #[inline]
    pub fn text(&self, slot: Slot) -> &'a [u8] {
        slot.text(self.order, self.data)
    }
}

/// What comes next in a trace.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A record.
    Record(Record<'a>),
    /// Records of this CPU are missing before the next one.
    Lost {
        /// The time of the first record after the gap.
        time: Nanos,
        /// The CPU.
        cpu: Cpu,
        /// How many; 1 where the kernel did not say.
        count: u64,
    },
}

/// A walk through a trace.
#[derive(Debug)]
pub struct Cursor {
    formats: Arc<Formats>,
    order: Order,
    clock: Clock,
    streams: Vec<Stream>,
    /// Time and index of the streams that wait; ended ones are gone.
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
    /// The stream whose record was given out last.
    current: Option<usize>,
    /// Losses of `current` that are told before its record, and whether they were.
    lost: u64,
    /// The event of `current`'s record, as an index into the layouts.
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

    /// Of some CPU nothing is there.
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

    /// What stands at the present place; `None` at the end.
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

    /// Goes to the next record of any stream.
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
                // What other CPUs did later would seem to have no end, or no beginning.
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

    /// A page that reports losses but holds no record precedes none: it is only counted.
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

    /// Bytes of all CPUs' pages.
    pub fn size(&self) -> u64 {
        self.streams.iter().map(Stream::size).sum()
    }

    /// The layouts.
    pub fn formats(&self) -> &Arc<Formats> {
        &self.formats
    }

    /// How often each event was seen so far.
    pub fn counts(&self) -> impl Iterator<Item = (&EventFormat, u64)> {
        self.formats.events().iter().zip(self.counts.iter().copied()).filter(|(_, n)| *n > 0)
    }

    /// What was lost, damaged, or not known so far.
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
