//! The streams of all CPUs put in order of time.
//!
//! Each stream is in order by itself, so it is enough to look at the next record of each. A list has one entry per
//! stream, the earliest last; records are taken from its stream for as long as it stays the earliest, so a run of
//! records from one CPU costs one comparison each. To put a stream back moves the entries of those before it, 16
//! bytes each: of hundreds of CPUs a few kilobytes. Memory: one buffer per stream, whatever the length.
//!
//! Records of the same nanosecond come in the order of the streams (that is, of the CPUs), as blkparse has it.

use crate::blktrace::Stream;
use crate::error::Error;
use crate::event::Batch;
use crate::quality::Quality;
use crate::source::Source;
use crate::unnamed::Unnamed;
use units::Nanos;

/// Per-CPU blktrace streams as one source.
pub struct Merge {
    streams: Vec<Stream>,
    /// The next record's time and stream, the earliest last; ended streams are gone.
    next: Vec<(Nanos, usize)>,
    size: Option<u64>,
    notes: Vec<String>,
    files_missing: bool,
    unnamed: Unnamed,
}

impl Merge {
    /// `notes` are the caller's remarks on the files, of which some may be missing.
    pub fn new(streams: Vec<Stream>, size: Option<u64>, notes: Vec<String>, files_missing: bool) -> Merge {
        let mut next: Vec<_> =
            streams.iter().enumerate().filter_map(|(i, s)| Some((s.next_time()?, i))).collect();
        next.sort_unstable_by(|a, b| b.cmp(a));
        Merge { streams, next, size, notes, files_missing, unnamed: Unnamed::default() }
    }

    fn merge(&mut self, batch: &mut Batch) -> Result<(), Error> {
        while let Some((_, first)) = self.next.pop() {
            let limit = self.next.last().copied();
            let stream = &mut self.streams[first];
            while let Some(time) = stream.next_time() {
                let full = batch.is_full();
                if full || limit.is_some_and(|l| (time, first) > l) {
                    let at = self.next.partition_point(|other| *other > (time, first));
                    self.next.insert(at, (time, first));
                    if full {
                        return Ok(());
                    }
                    break;
                }
                stream.take(batch)?;
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
        let unnamed = self.unnamed.note();
        all.files_missing = self.files_missing || unnamed.is_some();
        self.notes.iter().cloned().chain(unnamed).for_each(|n| all.note(n));
        all
    }
}
