//! The streams of all CPUs put in order of time.
//!
//! Each stream is in order by itself, so it is enough to look at the next record of each. A heap holds one
//! entry per stream; the one on top stays there for as long as it is the earliest, so a run of records from one
//! CPU costs two comparisons each. Memory: one buffer per stream, whatever the length.
//!
//! Records of the same nanosecond come in the order of the streams (that is, of the CPUs), as blkparse has it.

use crate::blktrace::Stream;
use crate::error::Error;
use crate::event::Batch;
use crate::quality::Quality;
use crate::source::Source;
use crate::unnamed::Unnamed;
use std::cmp::Reverse;
use std::collections::binary_heap::{BinaryHeap, PeekMut};
use units::Nanos;

/// Per-CPU blktrace streams as one source.
pub struct Merge {
    streams: Vec<Stream>,
    /// The next record's time and stream, earliest on top; ended streams are gone.
    heap: BinaryHeap<Reverse<(Nanos, usize)>>,
    size: Option<u64>,
    notes: Vec<String>,
    unnamed: Unnamed,
}

impl Merge {
    /// `notes` are the caller's remarks on the files.
    pub fn new(streams: Vec<Stream>, size: Option<u64>, notes: Vec<String>) -> Merge {
        let heap =
            streams.iter().enumerate().filter_map(|(i, s)| s.next_time().map(|t| Reverse((t, i)))).collect();
        Merge { streams, heap, size, notes, unnamed: Unnamed::default() }
    }

    fn merge(&mut self, batch: &mut Batch) -> Result<(), Error> {
        while let Some(mut top) = self.heap.peek_mut().filter(|_| !batch.is_full()) {
            let Reverse((time, first)) = &mut *top;
            let stream = &mut self.streams[*first];
            stream.take(batch)?;
            match stream.next_time() {
                Some(next) => *time = next,
                None => drop(PeekMut::pop(top)),
            }
        }
        Ok(())
    }
}

impl Source for Merge {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        batch.clear();
        self.merge(batch)?;
        self.unnamed.hear(&batch.events);
        Ok(!batch.events.is_empty())
    }

    fn position(&self) -> u64 {
        self.streams.iter().map(Stream::offset).sum()
    }

    fn size(&self) -> Option<u64> {
        self.size
    }

    fn quality(&self) -> Quality {
        let mut all = Quality::default();
        for s in &self.streams {
            all.add(s.quality());
        }
        self.notes.iter().cloned().chain(self.unnamed.note()).for_each(|n| all.note(n));
        all
    }
}
