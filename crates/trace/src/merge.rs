//! Merges the streams of all CPUs in time order.
//!
//! Each stream is sorted, so it is enough to compare the next record of each. A list has one entry per
//! stream, the earliest last. Records are taken from one stream as long as it stays the earliest, so a run of
//! records from one CPU costs one comparison each. Reinserting a stream moves the entries of the earlier streams, 16
//! bytes each: a few kilobytes for hundreds of CPUs. Memory: one buffer per stream, independent of the length.
//!
//! Records of the same nanosecond come in the order of the streams (that is, of the CPUs), as in blkparse.

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
    /// Time of the next record and index of each stream, the earliest last; exhausted streams are removed.
    next: Vec<(Nanos, usize)>,
    size: Option<u64>,
    notes: Vec<String>,
    files_missing: bool,
    unnamed: Unnamed,
}

impl Merge {
    /// `notes` are the caller's remarks on the files; `files_missing` says that some per-CPU files are absent.
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
