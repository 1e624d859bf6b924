//! The files of one recording: a single one, or those of `perf record --threads`, a folder.
//!
//! ```text
//! perf.data/data       as a single file, but of the records only what is of no buffer: names, mappings
//! perf.data/data.0     records and nothing else, of one thread of perf's and the processors it reads
//! perf.data/data.1     ...
//! ```
//!
//! Source: perf's util/data.c, `perf_data__create_dir`. Whichever file is behind the others is read on, so that what waits for its
//! turn stays small.

use super::head::{self, Head};
use super::records::Records;
use crate::error::Error;
use crate::quality::Quality;
use crate::tracedat::DatFile;
use std::cmp::Reverse;
use std::collections::binary_heap::{BinaryHeap, PeekMut};
use std::path::{Path, PathBuf};

/// How the file with the head is called in a folder.
pub const MAIN: &str = "data";
/// Files of one folder that are read: perf has one for each processor at most.
const MOST: usize = 8192;

/// A walk through the records of all files.
pub struct Files {
    all: Vec<Records>,
    /// Those that are not at their end, by the latest time in them.
    turns: BinaryHeap<Reverse<(u64, usize)>>,
    /// Whose record is current.
    at: usize,
}

/// Opens a file or a folder.
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

/// The others of a folder, by their numbers; none of a single file.
fn beside(main: &Path) -> Vec<PathBuf> {
    if main.file_name().is_none_or(|name| name != MAIN) {
        return vec![];
    }
    let part = |i: usize| Some(main.with_file_name(format!("{MAIN}.{i}"))).filter(|path| path.is_file());
    (0..MOST).map_while(part).collect()
}

impl Files {
    /// Whether there are more than one: then no round is one of all.
    pub fn are_several(&self) -> bool {
        self.all.len() > 1
    }

    /// Goes to the next record; gives its kind.
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

    /// When the current record was made.
    pub fn was_at(&mut self, time: u64) {
        let at = self.at;
        if let Some(mut turn) = self.turns.peek_mut().filter(|turn| turn.0 .1 == at) {
            turn.0 .0 = turn.0 .0.max(time);
        }
    }

    /// What follows the head of the current record.
    pub fn body(&self) -> &[u8] {
        self.all[self.at].body()
    }

    /// Bytes that were walked through.
    pub fn position(&self) -> u64 {
        self.all.iter().map(Records::position).sum()
    }

    /// Bytes in all.
    pub fn size(&self) -> u64 {
        self.all.iter().map(Records::size).sum()
    }

    /// Adds what was stepped over.
    pub fn damage_to(&self, q: &mut Quality) {
        self.all.iter().for_each(|records| records.damage_to(q));
    }
}
