//! How far a trace can be trusted: what was lost, cut, out of order or not understood.
//!
//! Nothing is lost silently: every event that a reader cannot use is counted here under its own name, and
//! `events` is the number that came through.

use std::collections::BTreeMap;
use units::{Cpu, DevId, Nanos};

/// Counts of a whole trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quality {
    /// Events delivered, notes included.
    pub events: u64,
    /// Events known to be missing, per device, CPU and second of the trace's clock.
    pub lost: BTreeMap<LossAt, u64>,
    /// Times at which a CPU's clock went backwards.
    pub clock_steps: u64,
    /// Events delivered later than their time, because the stream was more disordered than the buffer is long.
    pub out_of_order: u64,
    /// Bytes that are no record and were stepped over.
    pub damaged_bytes: u64,
    /// Records cut off at the end of a file.
    pub cut_records: u64,
    /// Records of an action or note that this program does not know.
    pub unknown: u64,
    /// Files of processors are missing: what happened there may be missing, too.
    pub files_missing: bool,
    /// Of a part that ends before its recording does: its end, on the trace's clock.
    pub until: Option<Nanos>,
    /// What the reader found odd, in words, with file and offset.
    pub notes: Vec<String>,
}

/// Where losses are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LossAt {
    /// The device whose events are missing.
    pub dev: DevId,
    /// The CPU that would have recorded them.
    pub cpu: Cpu,
    /// The second at whose events the gap was seen.
    pub second: u64,
}

impl Quality {
    /// How many notes are kept; the rest is only counted.
    const MAX_NOTES: usize = 50;
    /// How many places of loss are told apart before they fall together.
    const MAX_LOSS_PLACES: usize = 100_000;

    /// All events known to be missing.
    pub fn lost_total(&self) -> u64 {
        self.lost.values().sum()
    }

    /// Counts a loss.
    pub fn lose(&mut self, dev: DevId, cpu: Cpu, at: Nanos, count: u64) {
        let mut place = LossAt { dev, cpu, second: at.0 / Nanos::SECOND.0 };
        if self.lost.len() >= Self::MAX_LOSS_PLACES && !self.lost.contains_key(&place) {
            place = LossAt { dev: DevId(0), cpu: Cpu(0), second: 0 };
        }
        *self.lost.entry(place).or_default() += count;
    }

    /// Adds a remark in words.
    pub fn note(&mut self, words: String) {
        if self.notes.len() < Self::MAX_NOTES && !self.notes.contains(&words) {
            self.notes.push(words);
        }
    }

    /// Adds the counts of another part of the same trace.
    pub fn add(&mut self, other: &Quality) {
        self.events += other.events;
        for (place, n) in &other.lost {
            *self.lost.entry(*place).or_default() += n;
        }
        self.clock_steps += other.clock_steps;
        self.out_of_order += other.out_of_order;
        self.damaged_bytes += other.damaged_bytes;
        self.cut_records += other.cut_records;
        self.unknown += other.unknown;
        self.files_missing |= other.files_missing;
        for n in &other.notes {
            self.note(n.clone());
        }
    }
}
