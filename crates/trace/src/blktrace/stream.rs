//! Reads a file (or pipe) of blktrace records step by step.
//!
//! One buffer of fixed size is refilled as it empties, so memory does not depend on the file. Bytes that
//! are not a record are skipped up to the next magic and counted; a record truncated at the end is counted.

use super::record::{decode, peek, Header, Layout, Peek, MAX_RECORD};
use super::sequence::Sequence;
use crate::error::Error;
use crate::event::{Action, Batch, Detail, Event};
use crate::input::Input;
use crate::quality::Quality;
use units::{Cpu, DevId, Nanos};

/// Large enough to make reads cheap, small enough for hundreds of CPUs.
const BUFFER: usize = 256 * 1024;

/// Reads the records of one file in file order.
pub struct Stream {
    input: Input,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    /// File offset of `buffer[start]`.
    offset: u64,
    head: Option<Header>,
    /// The latest time so far, used to merge streams.
    clock: Nanos,
    sequence: Sequence,
    quality: Quality,
}

impl Stream {
    /// Opens a stream. A file that does not begin with a record is an error; an empty file is not
    /// (its CPU saw nothing).
    pub fn open(input: Input) -> Result<Stream, Error> {
        let mut s = Stream {
            input,
            buffer: vec![0; BUFFER],
            start: 0,
            end: 0,
            at_end: false,
            offset: 0,
            head: None,
            clock: Nanos(0),
            sequence: Sequence::default(),
            quality: Quality::default(),
        };
        s.refill()?;
        let begin = &s.buffer[..s.end];
        if !begin.is_empty() {
            match Layout::detect(begin) {
                Some(l) if l.version() == 7 || l.version() == 8 => {}
                Some(l) => {
                    return Err(s.malformed(format!("blktrace version {}; 7 and 8 are known", l.version())))
                }
                None => {
                    return Err(s.malformed("no blktrace record here (the magic 0x656174 is missing)".into()))
                }
            }
        }
        s.advance()?;
        Ok(s)
    }

    /// The sort key of the next record: never less than that of the previous record, even if
    /// the recording CPU's clock stepped back. `None` at the end.
    #[inline]
    pub fn next_time(&self) -> Option<Nanos> {
        self.head.as_ref().map(|h| h.time.max(self.clock))
    }

    /// The next record without its text; `None` at the end.
    pub fn next_event(&self) -> Option<Event> {
        let head = self.head.as_ref()?;
        Some(decode(head, &self.buffer[self.start..self.end], &mut Batch::default()))
    }

    /// Appends the next record to `batch` (after a note about missing records, if any) and advances.
    #[inline]
    pub fn take(&mut self, batch: &mut Batch) -> Result<(), Error> {
        // Copied field by field: the fields were written a moment ago, and a wide load that covers several of them
        // stalls until the earlier stores have reached the cache (once 1/4 of all samples in a profile of reading).
        let Some(Header { layout, time, len }) = self.head else { return Ok(()) };
        let event = decode(&Header { layout, time, len }, &self.buffer[self.start..self.end], batch);
        // Judged before the push: the batch's cache lines were last used by another processor, and reading a just written
        // event waits until they arrive (once 1/5 of these samples).
        self.judge(&event, batch);
        batch.events.push(event);
        self.quality.events += 1;
        self.start += len;
        self.offset += len as u64;
        self.advance()
    }

    /// Checks an event before it is appended to `batch`, and appends a note about missing records first.
    #[inline(always)]
    fn judge(&mut self, event: &Event, batch: &mut Batch) {
        if let Action::Other(_) = event.action {
            self.quality.unknown += 1;
        }
        if event.action.is_note() {
            return;
        }
        self.clock = self.clock.max(event.time);
        let Event { dev, cpu, time, sequence, .. } = *event;
        let between = self.sequence.follow((dev, cpu), sequence, time);
        if between.back > Nanos(0) {
            self.clock_stepped(cpu, between.back);
        }
        if between.missing > 0 {
            self.note_missing(dev, cpu, time, between.missing, batch);
        }
    }

    #[cold]
    fn note_missing(&mut self, dev: DevId, cpu: Cpu, time: Nanos, missing: u64, batch: &mut Batch) {
        self.quality.lose(dev, cpu, time, missing);
        let (action, detail) = (Action::Lost, Detail::Lost(missing));
        batch.events.push(Event { action, detail, time, dev, cpu, ..Event::default() });
    }

    #[cold]
    fn clock_stepped(&mut self, cpu: Cpu, back: Nanos) {
        self.quality.clock_steps += 1;
        self.quality.note(format!(
            "{}: at byte {} the clock of CPU {} steps back by {:.6} s",
            self.input.name(),
            self.offset,
            cpu.0,
            back.seconds()
        ));
    }

    /// Input bytes consumed so far.
    pub fn offset(&self) -> u64 {
        self.input.position()
    }

    /// Counts of damage and losses so far.
    pub fn quality(&self) -> &Quality {
        &self.quality
    }

    /// Moves to the next complete record; at the end, `head` is `None`.
    #[inline]
    fn advance(&mut self) -> Result<(), Error> {
        loop {
            match peek(&self.buffer[self.start..self.end]) {
                Peek::Record(h) => {
                    self.head = Some(h);
                    return Ok(());
                }
                Peek::Short(_) if !self.at_end => self.refill()?,
                // A truncated record; but if records start where its payload should be, its length is wrong.
                Peek::Short(_) if self.finds_record().is_some() => self.skip_garbage()?,
                Peek::Short(_) => {
                    self.end_of_file();
                    return Ok(());
                }
                Peek::Garbage => self.skip_garbage()?,
            }
        }
    }

    #[cold]
    fn end_of_file(&mut self) {
        let rest = self.end - self.start;
        if rest > 0 {
            self.quality.cut_records += 1;
            self.quality.note(format!(
                "{}: the last record, at byte {}, is cut off after {rest} bytes",
                self.input.name(),
                self.offset
            ));
            self.start = self.end;
        }
        self.head = None;
    }

    /// Skips bytes up to the next magic of a supported version.
    #[cold]
    fn skip_garbage(&mut self) -> Result<(), Error> {
        let from = self.offset;
        let mut skipped = 0u64;
        loop {
            let found = self.finds_record();
            let step = found.unwrap_or((self.end - self.start).saturating_sub(3));
            self.start += step;
            self.offset += step as u64;
            skipped += step as u64;
            if found.is_some() {
                break;
            }
            if self.at_end {
                let rest = self.end - self.start;
                self.start = self.end;
                self.offset += rest as u64;
                skipped += rest as u64;
                break;
            }
            self.refill()?;
        }
        self.quality.damaged_bytes += skipped;
        self.quality.note(format!("{}: {skipped} bytes at byte {from} are not a record", self.input.name()));
        Ok(())
    }

    /// Distance from the current byte to the next magic of a supported version in the buffer.
    fn finds_record(&self) -> Option<usize> {
        let window = &self.buffer[self.start..self.end];
        let found = window.windows(4).skip(1).position(|w| matches!(peek(w), Peek::Short(n) if n > 4));
        found.map(|i| i + 1)
    }

    /// Moves the unread rest to the front of the buffer and reads more after it.
    fn refill(&mut self) -> Result<(), Error> {
        const { assert!(BUFFER > 2 * MAX_RECORD) };
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let got = self.input.read(&mut self.buffer[self.end..])?;
        self.end += got;
        self.at_end = got == 0;
        Ok(())
    }

    fn malformed(&self, what: String) -> Error {
        Error::Malformed { path: self.input.path().to_path_buf(), offset: self.offset, what }
    }
}
