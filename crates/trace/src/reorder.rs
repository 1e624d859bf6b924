//! Sorts one stream in which the CPUs are mixed: a merged file (`blkparse -d`) or a live pipe (`blktrace -o -`).
//!
//! A pipe delivers whole buffers, one CPU's after another's, so an event can come far behind later ones. Each
//! CPU's own events are in order; they wait in a queue per CPU and device, and the earliest of all heads is
//! released once [`WINDOW`] events are waiting. An event that comes even later is delivered late and counted.
//!
//! `blkparse -d` makes the times of events relative to the first event, but not those of notes of names and the wall
//! clock: in its files these are in the future. A note is therefore never sorted behind the latest event read so far, and
//! the wall-clock note is [shifted](crate::moved) like the events.

use crate::blktrace::Stream;
use crate::error::Error;
use crate::event::{Action, Batch, Detail, Event};
use crate::moved::Moved;
use crate::quality::Quality;
use crate::source::Source;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use units::{Cpu, DevId, Nanos};

/// Number of events that wait to be sorted: 6 MB. blktrace's default buffers (4 of 512 KiB per CPU) hold
/// 43,000 events of one CPU.
const WINDOW: usize = 1 << 16;

/// Bytes of text that may wait with them: 128 per event, the kernel's longest message
/// (`BLK_TN_MAX_MSG`).
const WINDOW_TEXT: usize = WINDOW * 128;

/// Limit on queues, one per CPU and device; beyond it, queues are shared.
const MAX_QUEUES: usize = 1 << 14;

struct Waiting {
    /// Sort key: never less than that of the previous event in the same queue.
    time: Nanos,
    event: Event,
    text: Option<Box<[u8]>>,
}

/// A mixed stream, sorted by time.
pub struct Reorder {
    stream: Stream,
    size: Option<u64>,
    notes: Vec<String>,
    queues: Vec<VecDeque<Waiting>>,
    which: FxHashMap<(DevId, Cpu), usize>,
    heads: BinaryHeap<Reverse<(Nanos, usize)>>,
    waiting: usize,
    waiting_text: usize,
    released: Nanos,
    /// Time of the latest event read so far, excluding notes.
    latest: Nanos,
    late: u64,
    moved: Moved,
    scratch: Batch,
}

impl Reorder {
    /// `notes` are the caller's remarks on the file; `size` is the number of input bytes, if known.
    pub fn new(stream: Stream, size: Option<u64>, notes: Vec<String>) -> Reorder {
        Reorder {
            stream,
            size,
            notes,
            queues: Vec::new(),
            which: FxHashMap::default(),
            heads: BinaryHeap::new(),
            waiting: 0,
            waiting_text: 0,
            released: Nanos(0),
            latest: Nanos(0),
            late: 0,
            moved: Moved::default(),
            scratch: Batch::default(),
        }
    }

    fn read_one(&mut self) -> Result<(), Error> {
        self.scratch.clear();
        self.stream.take(&mut self.scratch)?;
        for i in 0..self.scratch.events.len() {
            let event = self.scratch.events[i];
            let text = matches!(event.detail, Detail::Text(_)).then(|| self.scratch.text(&event).into());
            self.enqueue(event, text);
        }
        Ok(())
    }

    fn enqueue(&mut self, event: Event, text: Option<Box<[u8]>>) {
        self.moved.hear(&event);
        let known = self.which.len();
        let key = if known < MAX_QUEUES { (event.dev, event.cpu) } else { (DevId(0), Cpu(event.cpu.0 % 64)) };
        let queues = &mut self.queues;
        let at = *self.which.entry(key).or_insert_with(|| {
            queues.push(VecDeque::new());
            queues.len() - 1
        });
        let queue = &mut self.queues[at];
        let mut time = match event.action {
            Action::TaskName | Action::WallClock => event.time.min(self.latest),
            _ => event.time,
        };
        self.latest = self.latest.max(time);
        match queue.back() {
            Some(last) => time = time.max(last.time),
            None => self.heads.push(Reverse((time, at))),
        }
        self.waiting_text += text.as_ref().map_or(0, |t| t.len());
        queue.push_back(Waiting { time, event, text });
        self.waiting += 1;
    }

    fn release(&mut self, batch: &mut Batch) {
        let Some(Reverse((_, at))) = self.heads.pop() else { return };
        let queue = &mut self.queues[at];
        let Some(Waiting { time, mut event, text }) = queue.pop_front() else { return };
        if let Some(next) = queue.front() {
            self.heads.push(Reverse((next.time, at)));
        }
        self.waiting -= 1;
        if time < self.released && !matches!(event.action, Action::TaskName | Action::WallClock) {
            self.late += 1;
        }
        self.released = self.released.max(time);
        if let Some(text) = text {
            self.waiting_text -= text.len();
            event.detail = batch.store(&text);
        }
        if event.action == Action::WallClock {
            event = self.moved.wall_clock(event);
        }
        batch.events.push(event);
    }
}

impl Source for Reorder {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        batch.clear();
        while !batch.is_full() {
            let room = self.waiting < WINDOW && self.waiting_text < WINDOW_TEXT;
            if room && self.stream.next_time().is_some() {
                self.read_one()?;
            } else if self.waiting > 0 {
                self.release(batch);
            } else {
                break;
            }
        }
        Ok(!batch.events.is_empty())
    }

    fn position(&self) -> u64 {
        self.stream.offset()
    }

    fn size(&self) -> Option<u64> {
        self.size
    }

    fn quality(&self) -> Quality {
        let mut q = self.stream.quality().clone();
        q.out_of_order += self.late;
        for n in &self.notes {
            q.note(n.clone());
        }
        q
    }
}
