//! The files of one recording: a single file, or a folder of `perf record --threads`.
//!
//! ```text
//! perf.data/data       as a single file, but of the records only what is of no buffer: names, mappings
//! perf.data/data.0     records and nothing else, of one thread of perf's and the processors it reads
//! perf.data/data.1     ...
//! ```
//!
//! Source: perf's util/data.c, `perf_data__create_dir`. The file that is furthest behind in time is read next, so that few records
//! wait to be sorted.

use super::head::{self, Head};
use super::records::Records;
use crate::error::Error;
use crate::quality::Quality;
use crate::tracedat::DatFile;
use std::cmp::Reverse;
use std::collections::binary_heap::{BinaryHeap, PeekMut};
use std::path::{Path, PathBuf};

/// Name of the file with the head in a folder.
pub const MAIN: &str = "data";
/// Limit on files of one folder: perf has at most one per processor.
const MOST: usize = 8192;

/// Iterates over the records of all files.
pub struct Files {
    all: Vec<Records>,
    /// Files not at their end, keyed by the latest time read from each.
    turns: BinaryHeap<Reverse<(u64, usize)>>,
    /// Index of the file with the current record.
    at: usize,
}

/// Opens a file or folder; returns the head of the main file and the records of all.
pub fn open(path: &Path) -> Result<(Head, Files), Error> {
    let main = if path.is_dir() { path.join(MAIN) } else { path.to_owned() };
    let (head, first) = head::read(&main)?;
    let mut all = vec![first];
    for other in beside(&main) {
        let mut input = DatFile::open(&other)?;
        input.order = head.order;
        let end = input.size;
        all.push(Records::new(input, 0, end));
    }
    let turns = (0..all.len()).map(|i| Reverse((0, i))).collect();
    Ok((head, Files { all, turns, at: 0 }))
}

/// The other files of a folder, by number; empty for a single file.
fn beside(main: &Path) -> Vec<PathBuf> {
    if main.file_name().is_none_or(|name| name != MAIN) {
        return vec![];
    }
    let part = |i: usize| Some(main.with_file_name(format!("{MAIN}.{i}"))).filter(|path| path.is_file());
    (0..MOST).map_while(part).collect()
}

impl Files {
    /// Whether there are several files: a finished round then covers only one of them.
    pub fn are_several(&self) -> bool {
        self.all.len() > 1
    }

    /// Advances to the next record and returns its kind; `None` at the end.
    pub fn next(&mut self) -> Result<Option<u32>, Error> {
        while let Some(turn) = self.turns.peek_mut() {
            self.at = turn.0 .1;
            if let Some(kind) = self.all[self.at].next()? {
                return Ok(Some(kind));
            }
            PeekMut::pop(turn);
        }
        Ok(None)
    }

    /// Records the time of the current record, which determines the file to read next.
    pub fn was_at(&mut self, time: u64) {
        let at = self.at;
        if let Some(mut turn) = self.turns.peek_mut().filter(|turn| turn.0 .1 == at) {
            turn.0 .0 = turn.0 .0.max(time);
        }
    }

    /// The current record without its header.
    pub fn body(&self) -> &[u8] {
        self.all[self.at].body()
    }

    /// Bytes read so far, over all files.
    pub fn position(&self) -> u64 {
        self.all.iter().map(Records::position).sum()
    }

    /// Total bytes of records.
    pub fn size(&self) -> u64 {
        self.all.iter().map(Records::size).sum()
    }

    /// Adds the counts of skipped bytes to `q`.
    pub fn damage_to(&self, q: &mut Quality) {
        self.all.iter().for_each(|records| records.damage_to(q));
    }
}
